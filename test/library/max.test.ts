import { describe, expect, it, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope, Tracer } from "effect"
import { randomBytes } from "node:crypto"
import {
  CurrentPrincipal,
  EntityQueryService,
  InvalidInput,
  Max,
  Memberships,
  OrganizationState,
  Policies,
  Vouched
} from "../../src/index.ts"
import { Database } from "../../src/database/Database.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { publish } from "../support/agent.ts"
import { migratedDatabase } from "../support/database.ts"

/** Wide, because timeouts have their own tests. */
const settings = { lookupTimeout: 10_000, searchTimeout: 30_000 }

class Url extends Context.Service<Url, string>()("test/Url") {}

const World = Layer.unwrap(
  Effect.map(migratedDatabase, (databaseUrl) =>
    Layer.merge(Max.layer({ databaseUrl, settings }), Layer.succeed(Url, databaseUrl))
  )
).pipe(Layer.orDie)

/** Reps see only their own customers; managers see all people. */
const RULES = [
  {
    id: "own",
    effect: "allow",
    role: "rep",
    action: "read",
    type: "people",
    columns: ["name", "phone"],
    where: { owner: "$me" }
  },
  { id: "all", effect: "allow", role: "manager", action: "read", type: "people", columns: ["name", "phone", "email"] },
  {
    id: "status",
    effect: "allow",
    role: "desk",
    action: "read",
    type: "people",
    columns: ["name"],
    where: { status: "$attr.desk" }
  }
]

const company = Effect.gen(function* () {
  const organization = yield* makeOrganization(`shop-${randomBytes(4).toString("hex")}`)
  const policies = yield* Policies
  const members = yield* Memberships
  const none = { inherits: [] }
  const roles = { rep: none, manager: none, desk: none }
  yield* policies.publish(organization, JSON.stringify({ version: 1, roles, rules: RULES }), "test")
  const [rosa, ingrid] = yield* addPeople(organization, [
    { name: "Rosa Delgado", email: "rosa@shop.example" },
    { name: "Ingrid Dahl", email: "ingrid@shop.example" }
  ])
  const ids = yield* addPeople(organization, [
    { name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" },
    { name: "Ada Byron", status: "Lead", phone: "+1 512-555-0143" }
  ])
  const { owner } = yield* Database
  yield* owner`UPDATE data.people SET owner_id = (SELECT id FROM data.people WHERE organization_id = ${organization.id} AND email_k = 'rosa@shop.example'), external_id = 'crm:1'
    WHERE organization_id = ${organization.id} AND name = 'Ada Lovelace'`
  yield* owner`UPDATE data.people SET external_id = 'hr:1' WHERE organization_id = ${organization.id} AND email_k = 'rosa@shop.example'`
  yield* members.add(organization, { identifier: "rosa@shop.example", roles: ["rep"] })
  yield* members.add(organization, { identifier: "ingrid@shop.example", roles: ["manager"] })
  return { organization, slug: organization.slug, rosa: rosa!, ingrid: ingrid!, ids, databaseUrl: yield* Url }
})

const allPeople = { entityTypeId: "people", filters: [] }
const names = (page: { readonly entities: ReadonlyArray<{ readonly displayName?: string }> }) =>
  page.entities.map(({ displayName }) => displayName).sort()

/** Opens the promise API while `use` runs. */
const withMax = <A>(
  { databaseUrl, slug }: { readonly databaseUrl: string; readonly slug: string },
  use: (max: Max) => Promise<A>
) =>
  Effect.promise(async () => {
    const max = await Max.open({ databaseUrl, organization: slug, settings })
    try {
      return await use(max)
    } finally {
      await max[Symbol.asyncDispose]()
    }
  })

const tagOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: { readonly _tag?: unknown }) => error._tag
  )

/** Looks up all people as a person that the host asserts. */
const seenBy = (max: Max, slug: string, rest: Omit<Parameters<typeof Max.principal>[0], "organization">) =>
  max.as(Max.principal({ organization: slug, ...rest })).findEntities(allPeople)

layer(World, { excludeTestServices: true })("Max as a library", (it) => {
  it.effect("the promise API answers each person within that person's permissions", () =>
    Effect.gen(function* () {
      const { ids, ...world } = yield* company
      yield* withMax(world, async (max) => {
        const rosa = max.as({ email: "Rosa@Shop.example" })
        const ingrid = max.as({ email: "ingrid@shop.example" })
        expect(names(await rosa.findEntities(allPeople))).toEqual(["Ada Lovelace"])
        expect((await ingrid.findEntities(allPeople)).total).toBe(4)
        expect((await rosa.listEntityTypes()).entityTypes.map(({ id }) => id)).toEqual(["people"])
        expect((await rosa.listColumnsForType({ entityTypeId: "people" })).columns.map(({ id }) => id)).toEqual([
          "name",
          "phone"
        ])
        expect((await rosa.callTool("findEntities", allPeople)).text).toContain("Ada Lovelace")
        expect((await rosa.callTool("dropTable", {})).failed).toBe(true)
        const answer = await rosa.ask("Who is Ada Lovelace?")
        expect(answer.text).toContain("Ada Lovelace")
        expect(answer.references).toEqual([{ type: "people", id: ids[0], name: "Ada Lovelace" }])
        const next = await rosa.ask("What is the phone number?", { session: answer.session })
        expect(next.text).toContain("512-555-0142")
        expect(next.session).toBe(answer.session)
      })
    })
  )

  it.effect("the promise API rejects with typed errors, and requires a person", () =>
    Effect.gen(function* () {
      const world = yield* company
      yield* withMax(world, async (max) => {
        const rosa = max.as({ email: "rosa@shop.example" })
        expect(await tagOf(max.as({ email: "unknown@elsewhere.example" }).findEntities(allPeople))).toBe("NotAdmitted")
        expect(await tagOf(max.as({ email: "unknown@elsewhere.example" }).ask("Who is Ada?"))).toBe("NotAdmitted")
        expect(await tagOf(rosa.findEntities({ entityTypeId: "secrets", filters: [] }))).toBe("UnknownName")
        expect(await tagOf(rosa.findEntities({ ...allPeople, limit: 1000 }))).toBe("InvalidInput")
        const wrong: ReadonlyArray<unknown> = [
          undefined,
          "people",
          { ...allPeople, filters: undefined },
          { ...allPeople, filters: "name" },
          { ...allPeople, filters: [{ columnId: "name", op: "like", value: "a" }] },
          { ...allPeople, filters: [{ columnId: "name", op: "eq", value: 1 }] },
          { ...allPeople, selectColumns: "name" },
          { ...allPeople, offset: 5 }
        ]
        for (const input of wrong)
          expect(await tagOf(rosa.findEntities(input as never)), JSON.stringify(input)).toBe("InvalidInput")
        expect(await tagOf(rosa.listColumnsForType({} as never))).toBe("InvalidInput")
        expect(await rosa.findEntities({ ...allPeople, limit: undefined, selectColumns: undefined })).toEqual(
          await rosa.findEntities(allPeople)
        )
        expect(await tagOf(rosa.ask(" "))).toBe("InvalidInput")
        expect(await tagOf(max.as({ token: "max_nothing" }).findEntities(allPeople))).toBe("NotAuthenticated")
        const bodies = [
          undefined,
          null,
          {},
          "rosa@shop.example",
          [],
          { email: 1 },
          { email: "rosa@shop.example", roles: ["manager"] }
        ]
        for (const body of [...bodies, { principal: {} }, { email: "+15125550142" }, { phone: "rosa@shop.example" }])
          expect(await tagOf(max.as(body as never).findEntities(allPeople)), JSON.stringify(body)).toBe("InvalidInput")
      })
    })
  )

  it.effect("a token admits its member, for its scope and organization only", () =>
    Effect.gen(function* () {
      const world = yield* company
      const other = yield* company
      // Another process creates the tokens.
      const { read, chat } = yield* Effect.gen(function* () {
        const credentials = yield* Credentials
        const make = (scopes: ReadonlyArray<"tools" | "chat">) =>
          credentials.createToken(world.organization, { anchorId: world.rosa, name: "test", scopes, days: 1 })
        return { read: (yield* make(["tools"])).secret, chat: (yield* make(["chat"])).secret }
      })
      yield* withMax(world, async (max) => {
        expect(names(await max.as({ token: read }).findEntities(allPeople))).toEqual(["Ada Lovelace"])
        expect(await tagOf(max.as({ token: chat }).findEntities(allPeople))).toBe("NotInScope")
        expect(await tagOf(max.as({ token: read }).ask("Who is Ada?"))).toBe("NotInScope")
      })
      yield* withMax(other, async (max) => {
        expect(await tagOf(max.as({ token: read }).findEntities(allPeople))).toBe("NotAdmitted")
      })
    })
  )

  it.effect("a suspended member is refused by the next call", () =>
    Effect.gen(function* () {
      const world = yield* company
      const members = yield* Memberships
      yield* Effect.promise(async () => {
        const max = await Max.open({ databaseUrl: world.databaseUrl, organization: world.slug, settings })
        const rosa = max.as({ email: "rosa@shop.example" })
        expect((await rosa.findEntities(allPeople)).total).toBe(1)
        await Effect.runPromise(members.suspend(world.organization, "rosa@shop.example"))
        expect(await tagOf(rosa.findEntities(allPeople))).toBe("NotAdmitted")
        await max.close()
      })
    })
  )

  it.effect("the host may assert roles and attributes without a membership", () =>
    Effect.gen(function* () {
      const world = yield* company
      const { slug } = world
      yield* withMax(world, async (max) => {
        expect((await seenBy(max, slug, { roles: ["manager"] })).total).toBe(4)
        expect(names(await seenBy(max, slug, { roles: ["desk"], attributes: { desk: "Lead" } }))).toEqual(["Ada Byron"])
        // The host's roles count instead of the membership's.
        expect((await seenBy(max, slug, { subject: { email: "rosa@shop.example" }, roles: ["manager"] })).total).toBe(4)
        expect(
          (await max.as(Max.principal({ organization: slug, roles: ["manager"] })).ask("Who is Ada Byron?")).text
        ).toContain("Ada Byron")
      })
    })
  )

  it.effect("the host identifies a person by id, external id, e-mail address or phone number", () =>
    Effect.gen(function* () {
      const world = yield* company
      const { rosa, slug } = world
      yield* withMax(world, async (max) => {
        for (const subject of [{ entityId: rosa }, { externalId: "hr:1" }, { email: "ROSA@shop.example" }])
          expect(names(await seenBy(max, slug, { subject, roles: ["rep"] })), JSON.stringify(subject)).toEqual([
            "Ada Lovelace"
          ])
        expect((await seenBy(max, slug, { subject: { phone: "512-555-0142" }, roles: ["rep"] })).total).toBe(0)
        for (const subject of [
          { entityId: "bbbbbbbb" },
          { entityId: "1" },
          { externalId: "hr:2" },
          { email: "no@shop.example" },
          { phone: "999-555-0100" },
          { email: "no address" }
        ])
          expect(await tagOf(seenBy(max, slug, { subject, roles: ["manager"] })), JSON.stringify(subject)).toBe(
            "NotAdmitted"
          )
      })
    })
  )

  it.effect("an asserted principal without a subject sees no row of $me and continues no conversation", () =>
    Effect.gen(function* () {
      const world = yield* company
      yield* withMax(world, async (max) => {
        expect(await tagOf(seenBy(max, world.slug, { roles: ["rep"] }))).toBe("UnknownName")
        const anonymous = max.as(Max.principal({ organization: world.slug, roles: ["manager"] }))
        const first = await anonymous.ask("Who is Ada Byron?")
        expect((await anonymous.ask("What is the phone number?", { session: first.session })).session).not.toBe(
          first.session
        )
      })
    })
  )

  it.effect("a conversation continues only with the rights that it began with", () =>
    Effect.gen(function* () {
      const world = yield* company
      const subject = { email: "rosa@shop.example" }
      const as = (max: Max, roles: ReadonlyArray<string>) =>
        max.as(Max.principal({ organization: world.slug, subject, roles }))
      yield* withMax(world, async (max) => {
        const { session } = await as(max, ["manager"]).ask("Who is Ada Byron?")
        expect((await as(max, ["manager"]).ask("Who is Ada Byron?", { session })).session).toBe(session)
        expect((await as(max, ["rep"]).ask("Who is Ada Lovelace?", { session })).session).not.toBe(session)
        expect((await max.as(subject).ask("Who is Ada Lovelace?", { session })).session).not.toBe(session)
      })
    })
  )

  it.effect("an asserted role that the policy lacks grants nothing", () =>
    Effect.gen(function* () {
      const world = yield* company
      yield* withMax(world, async (max) => {
        for (const roles of [[], ["admin"], ["Manager"], ["toString"], ["__proto__"], ["*"]])
          expect(await tagOf(seenBy(max, world.slug, { roles })), String(roles)).toBe("UnknownName")
      })
    })
  )

  it.effect("a suspended member is refused, however the host identifies the person", () =>
    Effect.gen(function* () {
      const world = yield* company
      const { organization, rosa, slug } = world
      const members = yield* Memberships
      const { owner } = yield* Database
      const subjects = [
        { entityId: rosa },
        { externalId: "hr:1" },
        { email: "rosa@shop.example" },
        { email: "r.delgado@shop.example" }
      ]
      const max = yield* Effect.promise(() =>
        Max.open({ databaseUrl: world.databaseUrl, organization: slug, settings })
      )
      const held = max.as(Max.principal({ organization: slug, subject: { entityId: rosa }, roles: ["manager"] }))
      expect((yield* Effect.promise(() => held.findEntities(allPeople))).total).toBe(4)
      yield* members.suspend(organization, "rosa@shop.example")
      // The verified address remains bound to her when the data changes.
      yield* owner`UPDATE data.people SET email = 'r.delgado@shop.example', email_k = 'r.delgado@shop.example'
        WHERE organization_id = ${organization.id} AND external_id = 'hr:1'`
      yield* Effect.promise(async () => {
        expect(await tagOf(held.findEntities(allPeople))).toBe("NotAdmitted")
        expect(await tagOf(held.ask("Who is Ada Byron?"))).toBe("NotAdmitted")
        for (const subject of subjects)
          expect(await tagOf(seenBy(max, slug, { subject, roles: ["manager"] })), JSON.stringify(subject)).toBe(
            "NotAdmitted"
          )
        await max.close()
      })
    })
  )

  it.effect("an asserted principal survives a change of policy and gets the current policy", () =>
    Effect.gen(function* () {
      const { organization, rosa, slug } = yield* company
      const queries = yield* EntityQueryService
      const vouched = Max.principal({ organization: slug, subject: { entityId: rosa }, roles: ["manager"] })
      const principal = yield* Max.admit(organization, vouched)
      const find = queries
        .findEntities({ ...allPeople, organizationId: organization.id })
        .pipe(Effect.provideService(CurrentPrincipal, principal))
      expect((yield* find).total).toBe(4)
      yield* publish(organization, (rules) =>
        rules.map((rule) => (rule["id"] === "all" ? { ...rule, where: { status: "Lead" } } : rule))
      )
      expect(names(yield* find)).toEqual(["Ada Byron"])
      yield* publish(organization, (rules) => rules.filter((rule) => rule["id"] !== "all"))
      expect((yield* Effect.flip(find))._tag).toBe("UnknownName")
    })
  )

  it.effect("a sent, copied or foreign assertion is rejected", () =>
    Effect.gen(function* () {
      const world = yield* company
      const other = yield* company
      const queries = yield* EntityQueryService
      const vouched = Max.principal({ organization: world.slug, roles: ["manager"] })
      const principal = yield* Max.admit(world.organization, vouched)
      const fakes: ReadonlyArray<unknown> = [
        JSON.parse(JSON.stringify(vouched)),
        { ...vouched },
        structuredClone(vouched),
        Object.create(Vouched.prototype),
        Object.setPrototypeOf({ ...vouched }, Vouched.prototype)
      ]
      for (const fake of fakes) {
        expect(Vouched.is(fake)).toBe(false)
        expect((yield* Effect.flip(Max.admit(world.organization, fake as never)))._tag).toBe("InvalidInput")
        const stale = { ...principal, vouched: fake as Vouched, epoch: -1n }
        const find = queries.findEntities({ ...allPeople, organizationId: world.organization.id })
        expect((yield* Effect.flip(Effect.provideService(find, CurrentPrincipal, stale)))._tag).toBe("NotAdmitted")
      }
      expect((yield* Effect.flip(Max.admit(other.organization, vouched)))._tag).toBe("NotAdmitted")
      const moved = { ...principal, organizationId: other.organization.id, epoch: -1n }
      const find = queries.findEntities({ ...allPeople, organizationId: other.organization.id })
      expect((yield* Effect.flip(Effect.provideService(find, CurrentPrincipal, moved)))._tag).toBe("NotAdmitted")
    })
  )

  it.effect("two layers of one program use two databases", () =>
    Effect.gen(function* () {
      const world = yield* company
      const scope = yield* Scope.make()
      const elsewhere = yield* migratedDatabase.pipe(Scope.provide(scope))
      class Here extends Context.Service<Here, string>()("test/Here") {}
      class There extends Context.Service<There, string>()("test/There") {}
      const found = <Self>(tag: Context.Key<Self, string>, databaseUrl: string) =>
        Layer.effect(
          tag,
          Effect.gen(function* () {
            const states = yield* OrganizationState
            return yield* Effect.match(states.organization(world.slug), {
              onSuccess: ({ slug }) => slug,
              onFailure: ({ _tag }) => _tag
            })
          })
        ).pipe(Layer.provide(Max.layer({ databaseUrl, settings })))
      const both = Layer.merge(found(Here, world.databaseUrl), found(There, elsewhere))
      const seen = yield* Effect.all([Here, There]).pipe(Effect.provide(both))
      expect(seen).toEqual([world.slug, "OperatorError"])
      yield* Scope.close(scope, Exit.void)
    })
  )

  it.effect("spans go to the host's tracer, and none are stored", () =>
    Effect.gen(function* () {
      const world = yield* company
      const { owner } = yield* Database
      const spans: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          spans.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const principal = yield* Max.admit(world.organization, { email: "rosa@shop.example" })
      const queries = yield* EntityQueryService
      yield* queries
        .findEntities({ ...allPeople, organizationId: world.organization.id })
        .pipe(Effect.provideService(CurrentPrincipal, principal), Effect.provideService(Tracer.Tracer, tracer))
      expect(spans).toContain("EntityQueryService.find")
      const [row] = yield* owner<{ n: number }>`SELECT count(*)::int AS n FROM max.traces`
      expect(row!.n).toBe(0)
    })
  )
})

describe("the location of the data", () => {
  it("is required: Max reads no environment and starts no database by default", async () => {
    const before = process.env["DATABASE_URL"]
    process.env["DATABASE_URL"] = "postgres://unknown@127.0.0.1:1/none"
    try {
      expect(await tagOf(Max.open({ organization: "atlas" }))).toBe("ConfigurationError")
      expect(await tagOf(Max.open({ databaseUrl: "mysql://x", organization: "atlas" }))).toBe("ConfigurationError")
      expect(await tagOf(Max.open({ databaseUrl: "postgres://a@127.0.0.1:1/b", embedded: "x" }))).toBe(
        "ConfigurationError"
      )
      // With `environment` it is read: nothing listens at this address.
      expect(await tagOf(Max.open({ environment: true, organization: "atlas" }))).toBe("Unavailable")
    } finally {
      if (before === undefined) delete process.env["DATABASE_URL"]
      else process.env["DATABASE_URL"] = before
    }
  })
})

describe("an option or setting", () => {
  it("that doesn't exist is refused by name", async () => {
    const opened = (options: object) => Max.open({ embedded: "/nowhere", ...options }).catch((error: unknown) => error)
    expect(await opened({ settings: { lookupTimeouts: 5 } })).toMatchObject({
      _tag: "ConfigurationError",
      message: 'There is no setting "lookupTimeouts". Did you mean lookupTimeout?'
    })
    expect(await opened({ databaseURL: "postgres://a@127.0.0.1:1/b" })).toMatchObject({
      _tag: "ConfigurationError",
      message: 'There is no option "databaseURL". Did you mean databaseUrl?'
    })
  })
})

describe("Max.principal", () => {
  it("throws InvalidInput for an invalid assertion", () => {
    const good = { organization: "atlas", roles: ["rep"] }
    const bad: ReadonlyArray<unknown> = [
      undefined,
      {},
      { ...good, organization: "" },
      { ...good, roles: "rep" },
      { ...good, roles: [1] },
      { ...good, subject: {} },
      { ...good, subject: null },
      { ...good, subject: { email: "a@b.example", entityId: "x" } },
      { ...good, subject: { name: "Ada" } },
      { ...good, attributes: { region: ["EU"] } },
      { ...good, attributes: [] },
      { ...good, attributes: { n: Number.NaN } },
      { ...good, admin: true }
    ]
    for (const given of bad) expect(() => Max.principal(given as never), JSON.stringify(given)).toThrow(InvalidInput)
    const roles = ["rep"]
    const made = Max.principal({ ...good, roles })
    roles.push("manager")
    expect(made.roles).toEqual(["rep"])
    expect(Object.isFrozen(made) && Object.isFrozen(made.roles) && Object.isFrozen(made.attributes)).toBe(true)
  })
})
