/** Groups and figures against the oracle of the shown table, under random policies that hide rows, cells and targets. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { decodeId } from "../../src/domain/ids.ts"
import type { Group } from "../../src/domain/Page.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { TestServices } from "../support/database.ts"
import { generousPolicy, member, NOW, ROLES } from "./generators.ts"
import { replaceOrganization } from "./load.ts"
import { type Caller, type PolicyJson, type RuleJson, type Views, viewsOf } from "./oracle.ts"
import { everything } from "./queryOracle.ts"
import {
  admit,
  caseText,
  count,
  floorOf,
  holds,
  makePlaces,
  makeTally,
  partOf,
  type Place,
  tallied
} from "./setting.ts"
import { folded, type FoldedGroup, headingsOf, readGroup, request, type Request } from "./shownGroups.ts"
import { filterOf, isTooShort, namesNothing } from "./shownTable.ts"
import { changedUnseen } from "./unseen.ts"
import { makeWorld, READABLE, type TypeName } from "./world.ts"

const SCENARIOS = partOf(105)
const REQUESTS = 40
const SEED = 20261125
const WORLDS = [51, 52]
const UNSEEN = partOf(22)
const UNSEEN_WORLDS = [53, 54]

interface Scenario {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly requests: ReadonlyArray<Request>
  readonly where: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  policy: generousPolicy,
  caller: member,
  requests: fc.array(request, { minLength: REQUESTS, maxLength: REQUESTS }),
  where: fc.nat({ max: 3 })
})

const inputOf = (one: Request) => ({
  entityTypeId: one.question.type,
  filters: [
    ...one.question.asked.map(filterOf),
    ...(one.having === undefined ? [] : [{ columnId: "count", op: one.having.op, value: one.having.value }])
  ],
  selectColumns: headingsOf(one),
  limit: one.limit
})

const ask = (principal: Principal, one: Request, cursorEntityId?: string) =>
  Effect.flatMap(EntityQueryService, (queries) =>
    Effect.result(queries.findEntities({ organizationId: principal.organizationId, ...inputOf(one), cursorEntityId }))
  ).pipe(Effect.provideService(CurrentPrincipal, principal))

const text = (group: FoldedGroup) => JSON.stringify([group.keys, group.count, group.figures])
const keysText = ({ keys }: FoldedGroup) => JSON.stringify(keys)

/** Averages are rounded to four places, half away from zero: the last one may differ from the oracle's. */
const equal = (a: FoldedGroup | undefined, b: FoldedGroup, { figures }: Request): boolean =>
  a !== undefined &&
  keysText(a) === keysText(b) &&
  a.count === b.count &&
  figures.every(({ column, figure }, index) => {
    const [left, right] = [a.figures[index], b.figures[index]]
    if (figure !== "avg" || left === undefined || right === undefined || column.kind === "date")
      return JSON.stringify(left) === JSON.stringify(right)
    const [x, y] = [Number(left.value), Number(right.value)]
    return left.of === right.of && Math.abs(x - y) <= 100 + Math.abs(y) * 1e-12
  })

/** Whether a name of the request shows nothing to the caller: only then may it be unknown. */
const isUnknown = ({ by, figures, question: { asked, type } }: Request, views: Views): boolean =>
  asked.some((one) => namesNothing(one, type, views)) ||
  [...by, ...figures].some(({ column: { end, hops, name } }) => {
    let at = type
    const steps = hops.map((column) => ({ back: false as const, column, to: (at = READABLE[at][column]!.target!) }))
    return namesNothing({ hops: steps, end, column: name }, type, views)
  })

const tally = makeTally()
const features = {
  paths: 0,
  buckets: 0,
  two: 0,
  figures: 0,
  distinct: 0,
  having: 0,
  none: 0,
  pages: 0,
  references: 0,
  lists: 0
}

const runScenario = Effect.fnUntraced(function* (one: Scenario, place: Place) {
  const { organization } = place
  const principal = yield* admit(place, one.policy, one.caller)
  const views = viewsOf(one.policy, one.caller, organization, NOW)
  for (const each of one.requests) {
    const fail = (why: string) => new Error(`${JSON.stringify(inputOf(each))}: ${why}`)
    let page = yield* ask(principal, each)
    if (Result.isFailure(page) && page.failure._tag === "UnknownName") {
      if (!isUnknown(each, views)) throw fail(page.failure.message)
      continue
    }
    if (each.question.asked.some(isTooShort)) {
      if (Result.isSuccess(page)) throw fail("is too short and was answered")
      continue
    }
    const wanted = folded(each, views, organization)
    const unhidden = folded(each, everything(organization), organization)
    const got: Array<Group> = []
    let pages = 0
    for (; ; pages++) {
      if (Result.isFailure(page)) throw fail(`${page.failure._tag}: ${page.failure.message}`)
      const { groups = [], groupsTotal, limited, nextCursorEntityId, total } = page.success
      if (total !== wanted.total) throw fail(`total ${total}, expected ${wanted.total}`)
      if (groupsTotal !== wanted.groups.length) throw fail(`${groupsTotal} groups, expected ${wanted.groups.length}`)
      if (limited !== true && wanted.total !== unhidden.total) throw fail("isn't limited")
      if (groups.length > each.limit) throw fail("a page is too long")
      got.push(...groups)
      if (pages === 1) features.pages += 1
      if (pages > 100) throw fail("pages without end")
      if (nextCursorEntityId === undefined) break
      page = yield* ask(principal, each, nextCursorEntityId)
    }
    const groups = got.filter((group) => group.count > 0).map((group) => readGroup(group, each))
    const byKeys = new Map(groups.map((group) => [keysText(group), group]))
    if (byKeys.size !== groups.length || groups.length !== wanted.groups.length)
      throw fail(`got ${groups.map(text).join(" ")}, expected ${wanted.groups.map(text).join(" ")}`)
    for (const group of wanted.groups) {
      const found = byKeys.get(keysText(group))
      if (!equal(found, group, each))
        throw fail(`got ${found === undefined ? groups.map(text).join(" ") : text(found)}, expected ${text(group)}`)
    }
    const overlap = each.figures[0]?.figure === "sum" && each.by.some(({ column }) => column.kind === "many")
    if (overlap && got.some(({ share }) => share !== undefined)) throw fail("a sum of overlapping groups has a share")
    inPlace(got, pages, each, fail)
    count(tally, wanted.groups.length > 0, JSON.stringify(wanted) !== JSON.stringify(unhidden))
    if ([...each.by, ...each.figures].some(({ column }) => column.hops.length > 0)) features.paths += 1
    if (each.by.some(({ bucket }) => bucket !== undefined)) features.buckets += 1
    if (each.by.length === 2) features.two += 1
    if (each.figures.length > 0) features.figures += 1
    if (each.figures.some(({ figure }) => figure === "distinct")) features.distinct += 1
    if (each.having !== undefined) features.having += 1
    if (each.by.some(({ column }) => column.kind === "one")) features.references += 1
    if (each.by.some(({ column }) => column.kind === "many")) features.lists += 1
    if (wanted.groups.some(({ keys }) => keys.includes(null))) features.none += 1
  }
})

/** Without periods: the first figure downwards, the empty group last. With one: in time on each page. */
const inPlace = (
  got: ReadonlyArray<Group>,
  pages: number,
  { by, figures, having }: Request,
  fail: (why: string) => Error
) => {
  if (by.length !== 1) return
  const [{ bucket }] = by as [Request["by"][number]]
  const named = got.filter(({ keys }) => keys[0]!.value !== undefined || keys[0]!.id !== undefined)
  if (got.some((group, index) => !named.includes(group) && index < got.length - 1))
    throw fail("the empty group isn't last")
  if (bucket !== undefined) {
    if (bucket === "weekday" || pages > 0) return
    const names = named.map(({ keys }) => keys[0]!.value!)
    if (names.join() !== names.toSorted().join()) throw fail("periods out of order")
    return
  }
  const [first] = figures
  const isTime = first !== undefined && first.figure !== "distinct" && /date|timestamp/.test(first.column.kind)
  if (isTime) return
  const upwards = having?.op === "gte" ? -1 : 1
  const lead = ({ count: rows, figures: cells }: Group) =>
    first === undefined ? rows : Number(cells?.[0]?.[0]?.value ?? (first.figure === "distinct" ? 0 : Number.NaN))
  const leads = named.map(lead)
  for (let index = 1; index < leads.length; index++) {
    const [before, now] = [leads[index - 1]!, leads[index]!]
    if (Number.isNaN(before) ? !Number.isNaN(now) : before * upwards < now * upwards)
      throw fail(`order ${leads.join()}`)
  }
}

/** Every byte that a caller hears: the first and the second page, or the error. */
const heard = Effect.fnUntraced(function* (principal: Principal, each: Request) {
  const first = yield* ask(principal, each)
  const next = Result.isSuccess(first) ? first.success.nextCursorEntityId : undefined
  const second = next === undefined ? undefined : yield* ask(principal, each, next)
  return JSON.stringify([first, second].map((one) => (one === undefined || Result.isSuccess(one) ? one : one.failure)))
})

const unseen = { ...makeTally(), kept: 0 }

const changeUnseen = Effect.fnUntraced(function* (one: Scenario & { readonly changes: number }, place: Place) {
  const { owner } = yield* Database
  const principal = yield* admit(place, one.policy, one.caller)
  const { after, kept } = changedUnseen(one, place.organization)
  const before: Array<string> = []
  for (const each of one.requests) before.push(yield* heard(principal, each))
  const change = { organizationId: place.stored.id, from: place.organization, to: after }
  yield* replaceOrganization(owner, [change])
  const now: Array<string> = []
  for (const each of one.requests) now.push(yield* heard(principal, each))
  yield* replaceOrganization(owner, [{ ...change, from: after, to: place.organization }])
  unseen.kept += kept
  const [allBefore, allAfter] = [everything(place.organization), everything(after)]
  for (const [index, each] of one.requests.entries()) {
    const differs = () =>
      JSON.stringify(folded(each, allBefore, place.organization)) !== JSON.stringify(folded(each, allAfter, after))
    count(unseen, before[index]!.includes(`"keys"`), !each.question.asked.some(isTooShort) && differs())
    if (before[index] !== now[index])
      throw new Error(`${JSON.stringify(inputOf(each))}\n  before ${before[index]}\n  after  ${now[index]}`)
  }
})

layer(TestServices, { excludeTestServices: true })("groups and figures", (it) => {
  it.effect("every group and figure is what the oracle adds up in the table that is shown to the caller", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(WORLDS.flatMap(makeWorld))
      yield* holds(
        scenario,
        {
          name: "figures",
          cases: SCENARIOS,
          seed: SEED,
          queue: ({ where }) => where,
          text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
        },
        (one) => runScenario(one, places[one.where]!)
      )
      tallied("figures", 2500, tally)
      console.log(`figures: ${JSON.stringify(features)}`)
      for (const often of Object.values(features)) expect(often).toBeGreaterThanOrEqual(floorOf(40))
    })
  )

  it.effect(
    "a path ends in nothing where its second step does, even if each step's target must have the same value",
    () =>
      Effect.gen(function* () {
        const [place] = yield* makePlaces(
          makeWorld(51)
            .slice(0, 1)
            .map((each) => ({ ...each, slug: "paths" }))
        )
        const rule = (id: string, type: TypeName, columns: RuleJson["columns"], rest: Partial<RuleJson> = {}) =>
          ({ id, effect: "allow", role: "member", action: "read", type, columns, ...rest }) satisfies RuleJson
        const anyOf = [{ name: ["$attr.word"] }, { status: { ne: "bf" } }, { company: null }]
        const policy: PolicyJson = {
          version: 1,
          roles: ROLES,
          rules: [
            rule("shown", "people", "*", { where: { any: anyOf } }),
            rule("contacts", "people", ["company", "phone", "email"], { where: { not: { owner: "bi" } } }),
            rule("others", "people", "*", { effect: "deny", where: { not: { company: { eq: "bf" } } } }),
            rule("companies", "companies", "*"),
            rule("meetings", "meetings", "*"),
            rule("earlier", "meetings", "*", { effect: "deny", where: { start: { lt: "2026-03-01" } } })
          ]
        }
        const principal = yield* admit(place!, policy, {
          me: decodeId("bg")!,
          roles: ["member"],
          attributes: { word: "$me" }
        })
        const input = {
          entityTypeId: "meetings",
          filters: [],
          selectColumns: ["by owner", "by owner.owner.company", "distinct owner", "min end", "min start"],
          limit: 25
        }
        const found = yield* Effect.flatMap(EntityQueryService, (queries) =>
          queries.findEntities({ organizationId: principal.organizationId, ...input })
        ).pipe(Effect.provideService(CurrentPrincipal, principal))
        // Its owner has no owner, and a company.
        expect(found.groups?.find(({ keys }) => keys[0]?.id === "bo")?.keys[1]).toEqual({})
      })
  )

  it.effect("a change of what the shown table doesn't hold changes no byte of any group or figure", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(UNSEEN_WORLDS.flatMap(makeWorld))
      yield* holds(
        fc.record({
          policy: generousPolicy,
          caller: member,
          changes: fc.nat(),
          where: fc.nat({ max: 3 }),
          requests: fc.array(request, { minLength: REQUESTS, maxLength: REQUESTS })
        }),
        {
          name: "figures, unseen",
          cases: UNSEEN,
          seed: SEED + 1,
          queue: ({ where }) => where,
          text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
        },
        (one) => changeUnseen(one, places[one.where]!)
      )
      console.log(
        `figures, unseen: ${unseen.cases} answers, ${unseen.kept} changes, ${unseen.conditional} that another caller would notice`
      )
      expect(unseen.cases).toBeGreaterThanOrEqual(floorOf(800))
      expect(unseen.nonEmpty / unseen.cases).toBeGreaterThanOrEqual(floorOf(0.15))
      expect(unseen.conditional / unseen.cases).toBeGreaterThanOrEqual(floorOf(0.15))
    })
  )
})
