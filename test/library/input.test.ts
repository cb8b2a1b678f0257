import { expect, it, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import * as fc from "fast-check"
import { isJsonObject } from "../../src/domain/json.ts"
import {
  CurrentPrincipal,
  EntityQueryService,
  type LookupError,
  Max,
  type MaxFor,
  OrganizationState,
  Policies,
  Unavailable
} from "../../src/index.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { migratedDatabase } from "../support/database.ts"
import { series } from "../support/long.ts"
import { runOnServer } from "../support/newDatabase.ts"

const settings = { lookupTimeout: 10_000, searchTimeout: 30_000 }

const cyclic: Record<string, unknown> = { entityTypeId: "people", filters: [] }
cyclic["self"] = cyclic
/** Throws when it is read; fast-check prints it by its own text. */
const throwing = Object.defineProperties(
  {},
  {
    entityTypeId: {
      enumerable: true,
      get: () => {
        throw new Error("hostile")
      }
    },
    [fc.toStringMethod]: { value: () => "throwing" }
  }
)
const deep = (levels: number): unknown => (levels === 0 ? [] : { filters: [deep(levels - 1)] })

/** Values that no parameter of any function accepts, or that only some do. */
const hostile = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  "",
  " ",
  "\u0000",
  "\ud800",
  "x".repeat(100_000),
  Symbol("s"),
  () => "people",
  new Date(0),
  new Map([["a", 1]]),
  /x/,
  [],
  [null],
  {},
  Object.create(null) as object,
  { toString: null },
  { __proto__: null, constructor: 1 },
  Redacted.make("x"),
  cyclic,
  throwing,
  deep(500)
] as const

const query = { entityTypeId: "people", filters: [{ columnId: "name", op: "eq", value: "Ada" }], limit: 5 }
const junk = fc.oneof(fc.constantFrom<unknown>(...hostile), fc.anything({ withBigInt: true, withNullPrototype: true }))
/** A query with one or more of its parts replaced. */
const brokenQuery = fc.oneof(
  junk,
  fc.record(
    { entityTypeId: fc.oneof(fc.constant("people"), junk), filters: junk, limit: junk, more: junk },
    { requiredKeys: [] }
  ),
  fc.tuple(fc.constantFrom("columnId", "op", "value", "more"), junk).map(([key, value]) => ({
    ...query,
    filters: [{ ...query.filters[0], [key]: value }]
  })),
  fc
    .tuple(fc.constantFrom("entityTypeId", "filters", "limit", "cursorEntityId", "selectColumns", "more"), junk)
    .map(([key, value]) => ({ ...query, [key]: value }))
)

type Call = (person: MaxFor, one: never, two: never, three: never) => Promise<unknown>
const CALLS: Readonly<Record<string, Call>> = {
  listColumnsForType: (person, one) => person.listColumnsForType(one),
  findEntities: (person, one) => person.findEntities(one),
  callTool: (person, one, two) => person.callTool(one, two),
  "callTool findEntities": (person, one) => person.callTool("findEntities", one),
  ask: (person, one, two) => person.ask(one, two),
  "ask, with options": (person, one, two, three) =>
    person.ask(one, { session: two, [String(Object.keys(Object(three))[0] ?? "onEvent")]: three }),
  propose: (person, one, two) => person.propose(one, two),
  "propose a step": (person, one, two, three) => person.propose([{ actionId: one, entityIds: two, values: three }]),
  preview: (person, one) => person.preview(one),
  confirm: (person, one, two, three) => person.confirm(one, two, three),
  "confirm rows": (person, one) => person.confirm("aaaaaaaa", "0123", { rows: one }),
  reject: (person, one) => person.reject(one),
  withdraw: (person, one) => person.withdraw(one),
  undo: (person, one) => person.undo(one),
  changes: (person, one) => person.changes(one),
  "changes of a list": (person, one, two, three) => person.changes({ list: one, after: two, limit: three }),
  events: (person, one) => person.events(one),
  history: (person, one, two) => person.history(one, two)
}

/** What wrong input may end with: never a defect, and never `Unavailable`. */
const TYPED = ["InvalidInput", "UnknownName", "NotAdmitted", "NotAuthenticated", "NotInScope", "NotAllowed", "Unclear"]

const outcomeOf = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    await call()
    return "InvalidInput"
  } catch (error) {
    return typeof error === "object" && error !== null && "_tag" in error ? error._tag : error
  }
}

/** An organization in a database of its own, with one person and a role that reads and changes people. */
const shop = Effect.gen(function* () {
  const databaseUrl = yield* migratedDatabase
  const slug = yield* Effect.gen(function* () {
    const organization = yield* makeOrganization("wrong")
    yield* addPeople(organization, [{ name: "Ada", email: "ada@shop.example" }])
    const rules = ["read", "update"].map((action) => ({
      id: action,
      effect: "allow",
      role: "rep",
      action,
      type: "people",
      columns: ["name", "email"]
    }))
    const policies = yield* Policies
    yield* policies.publish(
      organization,
      JSON.stringify({ version: 1, roles: { rep: { inherits: [] } }, rules }),
      "test"
    )
    return organization.slug
  }).pipe(Effect.provide(Max.layer({ databaseUrl, settings })))
  return { databaseUrl, slug }
})

layer(Layer.empty, { excludeTestServices: true })("Input of the library", (it) => {
  it.effect("wrong input of every parameter ends with a typed error, never with a defect or an outage", () =>
    Effect.gen(function* () {
      const { databaseUrl, slug } = yield* shop
      yield* Effect.promise(async () => {
        await using max = await Max.open({ databaseUrl, organization: slug, settings })
        const person = max.as(Max.principal({ organization: slug, roles: ["rep"], confirms: true }))
        expect((await person.findEntities(query as never)).total).toBe(1)
        for (const [name, call] of Object.entries(CALLS)) {
          const wrong = name.includes("find") ? brokenQuery : junk
          await fc.assert(
            fc.asyncProperty(wrong, junk, junk, async (one, two, three) => {
              const outcome = await outcomeOf(() => call(person, one as never, two as never, three as never))
              expect(TYPED, `${name}: ${String(outcome)}`).toContain(outcome)
            }),
            { numRuns: series({ short: 40, long: 2000 }), examples: hostile.map((value) => [value, value, value]) }
          )
        }
        for (const value of hostile) {
          expect(await outcomeOf(() => max.as(value as never).listEntityTypes())).toBe("InvalidInput")
          expect(await outcomeOf(async () => Max.principal(value as never))).toBe("InvalidInput")
        }
      })
    })
  )

  it.effect("the query service refuses queries of programs without types as InvalidInput", () =>
    Effect.gen(function* () {
      const { databaseUrl, slug } = yield* shop
      yield* Effect.gen(function* () {
        const queries = yield* EntityQueryService
        const organization = yield* (yield* OrganizationState).organization(slug)
        const principal = yield* Max.admit(organization, Max.principal({ organization: slug, roles: ["rep"] }))
        const context = yield* Effect.context<never>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(brokenQuery, async (wrong) => {
              if (wrong === throwing) return
              const input = isJsonObject(wrong) ? { ...wrong, organizationId: organization.id } : wrong
              for (const use of [queries.findEntities, queries.explain, queries.listColumnsForType]) {
                const exit = await Effect.runPromiseExitWith(context)(
                  Effect.provideService(
                    Effect.suspend(() => use(input as never) as Effect.Effect<unknown, LookupError, CurrentPrincipal>),
                    CurrentPrincipal,
                    principal
                  )
                )
                const tag = Exit.isSuccess(exit)
                  ? "InvalidInput"
                  : exit.cause.reasons.map((one) => (Cause.isFailReason(one) ? one.error._tag : one))[0]
                expect(TYPED).toContain(tag)
              }
            }),
            {
              numRuns: series({ short: 100, long: 5000 }),
              examples: hostile.map((value) => [value])
            }
          )
        )
      }).pipe(Effect.provide(Max.layer({ databaseUrl, settings })))
    })
  )

  it.effect("an outage has a cause, a reference and the caller's stack, none of which JSON shows", () =>
    Effect.gen(function* () {
      const { databaseUrl, slug } = yield* shop
      yield* runOnServer(databaseUrl, "ALTER TABLE data.people RENAME TO elsewhere")
      yield* Effect.promise(async () => {
        await using max = await Max.open({ databaseUrl, organization: slug, settings })
        const person = max.as(Max.principal({ organization: slug, roles: ["rep"] }))
        const lookUpForHost = async () => await person.findEntities(query as never)
        const error: unknown = await lookUpForHost().catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(Unavailable)
        const { cause, reference, stack } = error as Unavailable
        expect(cause).toBe("42P01")
        expect(reference).toMatch(/^[0-9A-Z]{4}$/)
        expect(stack).toContain("lookUpForHost")
        expect(JSON.parse(JSON.stringify(error))).toEqual(JSON.parse(JSON.stringify(Unavailable.error)))
      })
    })
  )

  it.effect("an exception of the host's own listener reaches the host as it was thrown", () =>
    Effect.gen(function* () {
      const { databaseUrl, slug } = yield* shop
      yield* Effect.promise(async () => {
        await using max = await Max.open({ databaseUrl, organization: slug, settings })
        const person = max.as(Max.principal({ organization: slug, roles: ["rep"] }))
        const own = new Error("of the host")
        const onEvent = () => {
          throw own
        }
        expect(await person.ask("Who is Ada?", { onEvent }).catch((thrown: unknown) => thrown)).toBe(own)
      })
    })
  )
})

it("options of the wrong kind are configuration errors", async () => {
  for (const value of hostile) {
    for (const name of [
      "databaseUrl",
      "connection",
      "embedded",
      "environment",
      "traces",
      "settings",
      "organization",
      "actions"
    ]) {
      if (value === undefined || (name === "embedded" && value === " ")) continue
      const options =
        name === "databaseUrl" ? { [name]: value } : { databaseUrl: "postgres://a@127.0.0.1:1/b", [name]: value }
      const outcome = await outcomeOf(() => Max.open(options as never))
      expect(["ConfigurationError", "Unavailable"], `${name}: ${String(outcome)}`).toContain(outcome)
    }
    expect(await outcomeOf(() => Max.open(value as never))).toBe("ConfigurationError")
  }
  for (const wrong of [
    { lookupTimeout: "5" },
    { lookupTimeout: 5 },
    { logLevel: "loud" },
    { anthropicKey: "sk" },
    { prices: {} }
  ]) {
    const error: unknown = await Max.open({
      databaseUrl: "postgres://a@127.0.0.1:1/b",
      settings: wrong as never
    }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      _tag: "ConfigurationError",
      message: expect.stringContaining(Object.keys(wrong)[0]!)
    })
  }
})
