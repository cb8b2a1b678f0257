/**
 * `ne`, any of, any value, ranges and paths against the oracle of the shown table: on a real Postgres, under random policies
 * that hide rows, cells and targets.
 */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { TestServices } from "../support/database.ts"
import { generousPolicy, member, NOW } from "./generators.ts"
import { replaceOrganization } from "./load.ts"
import { type Caller, type PolicyJson, type Views, viewsOf } from "./oracle.ts"
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
import { filterOf, found, isTooShort, namesNothing, type Question, question } from "./shownTable.ts"
import { changedUnseen } from "./unseen.ts"
import { makeWorld, type Organization } from "./world.ts"

const SCENARIOS = partOf(95)
const QUESTIONS = 40
const SEED = 20261124
const WORLDS = [41, 42]
const UNSEEN = partOf(22)
const UNSEEN_WORLDS = [43, 44]

interface Scenario {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly questions: ReadonlyArray<Question>
  readonly where: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  policy: generousPolicy,
  caller: member,
  questions: fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS }),
  where: fc.nat({ max: 2 * WORLDS.length - 1 })
})

const ask = (principal: Principal, { asked, limit, type }: Question, cursorEntityId?: string) =>
  Effect.flatMap(EntityQueryService, (queries) =>
    Effect.result(
      queries.findEntities({
        organizationId: principal.organizationId,
        entityTypeId: type,
        filters: asked.map(filterOf),
        limit,
        cursorEntityId
      })
    )
  ).pipe(Effect.provideService(CurrentPrincipal, principal))

const tally = makeTally()
const features = { negated: 0, listed: 0, any: 0, ranges: 0, hops: 0, back: 0, ordered: 0 }

const runScenario = Effect.fnUntraced(function* (one: Scenario, place: Place) {
  const { organization } = place
  const principal = yield* admit(place, one.policy, one.caller)
  const views = viewsOf(one.policy, one.caller, organization, NOW)
  for (const each of one.questions) {
    const about = JSON.stringify([each.type, ...each.asked.map(filterOf)])
    const fail = (why: string) => new Error(`${about}: ${why}`)
    let page = yield* ask(principal, each)
    if (Result.isFailure(page) && page.failure._tag === "UnknownName") {
      if (!each.asked.some((part) => namesNothing(part, each.type, views))) throw fail(page.failure.message)
      continue
    }
    if (each.asked.some(isTooShort)) {
      if (Result.isSuccess(page)) throw fail("is too short and was answered")
      continue
    }
    const wanted = found(each, views, organization).map(({ id }) => encodeId(id))
    const unhidden = found(each, everything(organization), organization).map(({ id }) => encodeId(id))
    const ids: Array<string> = []
    for (;;) {
      if (Result.isFailure(page)) throw fail(`${page.failure._tag}: ${page.failure.message}`)
      const { entities, limited, nextCursorEntityId, total } = page.success
      if (total !== wanted.length) throw fail(`total ${total}, expected ${wanted.length}`)
      if (limited !== true && JSON.stringify(wanted) !== JSON.stringify(unhidden)) throw fail("isn't limited")
      ids.push(...entities.map(({ entityId }) => entityId))
      if (nextCursorEntityId === undefined) break
      page = yield* ask(principal, each, nextCursorEntityId)
    }
    if (JSON.stringify(ids) !== JSON.stringify(wanted)) throw fail(`found ${ids.join()}, expected ${wanted.join()}`)
    count(tally, wanted.length > 0, JSON.stringify(wanted) !== JSON.stringify(unhidden))
    for (const { hops, meanings, op } of each.asked) {
      if (op === "ne") features.negated += 1
      if (meanings.length > 1) features.listed += 1
      if (meanings.some(({ is }) => is === "any")) features.any += 1
      if (meanings.some(({ is }) => is === "range")) features.ranges += 1
      if (hops.length > 0) features.hops += 1
      if (hops.some(({ back }) => back)) features.back += 1
      if (hops.length === 0 && (op === "gte" || op === "lt") && wanted.length > 1) features.ordered += 1
    }
  }
})

/** Every byte that a caller hears to a question: count, first and second page, or the error. */
const heard = Effect.fnUntraced(function* (principal: Principal, each: Question) {
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
  for (const each of one.questions) before.push(yield* heard(principal, each))
  const change = { organizationId: place.stored.id, from: place.organization, to: after }
  yield* replaceOrganization(owner, [change])
  const now: Array<string> = []
  for (const each of one.questions) now.push(yield* heard(principal, each))
  yield* replaceOrganization(owner, [{ ...change, from: after, to: place.organization }])
  unseen.kept += kept
  const [allBefore, allAfter] = [everything(place.organization), everything(after)]
  for (const [index, each] of one.questions.entries()) {
    const matching = (views: Views, organization: Organization) =>
      found(each, views, organization)
        .map(({ id }) => String(id))
        .join()
    const tooShort = each.asked.some(isTooShort)
    count(
      unseen,
      before[index]!.includes("entityId"),
      !tooShort && matching(allBefore, place.organization) !== matching(allAfter, after)
    )
    if (before[index] !== now[index])
      throw new Error(
        `${JSON.stringify([each.type, ...each.asked.map(filterOf)])}\n  before ${before[index]}\n  after  ${now[index]}`
      )
  }
})

layer(TestServices, { excludeTestServices: true })("filters", (it) => {
  it.effect("a change of what the shown table doesn't hold changes no byte of the answer to any filter", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(UNSEEN_WORLDS.flatMap(makeWorld))
      yield* holds(
        fc.record({
          policy: generousPolicy,
          caller: member,
          changes: fc.nat(),
          where: fc.nat({ max: 3 }),
          questions: fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS })
        }),
        {
          name: "filters, unseen",
          cases: UNSEEN,
          seed: SEED + 1,
          queue: ({ where }) => where,
          text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
        },
        (one) => changeUnseen(one, places[one.where]!)
      )
      console.log(
        `filters, unseen: ${unseen.cases} answers, ${unseen.kept} changes, ${unseen.conditional} that another caller would notice`
      )
      expect(unseen.cases).toBeGreaterThanOrEqual(floorOf(800))
      expect(unseen.nonEmpty / unseen.cases).toBeGreaterThanOrEqual(floorOf(0.15))
      expect(unseen.conditional / unseen.cases).toBeGreaterThanOrEqual(floorOf(0.15))
    })
  )

  it.effect("every filter finds what the oracle finds in the table that is shown to the caller", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(WORLDS.flatMap(makeWorld))
      yield* holds(
        scenario,
        {
          name: "filters",
          cases: SCENARIOS,
          seed: SEED,
          queue: ({ where }) => where,
          text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
        },
        (one) => runScenario(one, places[one.where]!)
      )
      tallied("filters", 2000, tally)
      console.log(`filters: ${JSON.stringify(features)}`)
      for (const often of Object.values(features)) expect(often).toBeGreaterThanOrEqual(floorOf(40))
    })
  )
})
