/**
 * In-memory organizations behind the real services: helpers that publish policies, admit callers and run a property for
 * thousands of cases.
 */
import { Array, Cause, Effect, Exit } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import type { Organization as StoredOrganization } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { DerivedColumns } from "../../src/services/catalog/DerivedColumns.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { series } from "../support/long.ts"
import { loadOrganization, makeDealTables, registerDeals } from "./load.ts"
import type { Caller, PolicyJson } from "./oracle.ts"
import { DERIVED, type Organization, TYPE_NAMES } from "./world.ts"

/** Declares the derived columns of the suite. */
export const declareDerived = (organization: StoredOrganization) =>
  Effect.flatMap(DerivedColumns, (columns) =>
    Effect.forEach(
      TYPE_NAMES.flatMap((type) => Object.entries(DERIVED[type]).map(([name, { form }]) => [`${type}.${name}`, form])),
      ([name, form]) => columns.declare(organization, name!, form!),
      { discard: true }
    )
  )

export interface Place {
  readonly organization: Organization
  readonly stored: StoredOrganization
}

/** Creates the organizations, each with its rows and the type `deals`. */
export const makePlaces = Effect.fnUntraced(function* (all: ReadonlyArray<Organization>) {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  yield* makeDealTables(owner)
  const places: Array<Place> = []
  for (const organization of all) {
    const stored = yield* organizations.create(organization)
    yield* registerDeals(owner, stored.id)
    yield* declareDerived(stored)
    yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${stored.id}`
    yield* loadOrganization(owner, organization, stored.id)
    places.push({ organization, stored })
  }
  // As after an import: without statistics, the planner takes every table for one row.
  yield* owner.unsafe("ANALYZE").unprepared
  return places
})

/**
 * Publishes the policy, makes the caller a member and admits it. Writes the membership directly, because `Memberships.add`
 * takes no anchor and requires an identifier that hostile rows may lack.
 */
export const admit = Effect.fnUntraced(function* (place: Place, policy: PolicyJson, caller: Caller) {
  const { owner } = yield* Database
  const policies = yield* Policies
  const identities = yield* IdentityResolver
  const organizationId = place.stored.id
  const anchor = encodeId(caller.me)
  yield* policies.publish(place.stored, JSON.stringify(policy), "test")
  yield* owner`
    INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
    VALUES (${organizationId}, ${anchor}, ${caller.roles}::text[], ${owner.json(caller.attributes)})
    ON CONFLICT (organization_id, anchor_id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes`
  yield* owner`
    INSERT INTO max.identifiers (organization_id, kind, key, anchor_id)
    VALUES (${organizationId}, 'email', ${`member-${anchor}@max.test`}, ${anchor}) ON CONFLICT DO NOTHING`
  yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organizationId}`
  const { principal } = yield* identities.admit(place.stored, { kind: "email", key: `member-${anchor}@max.test` })
  return principal satisfies Principal
})

/** The caller and the rules of a case, in a few lines. */
export const caseText = (caller: Caller, policy: PolicyJson, rest: string): string =>
  [
    `${rest}, as ${JSON.stringify({ ...caller, me: encodeId(caller.me) })}`,
    ...policy.rules.map((rule) => `  ${JSON.stringify(rule)}`)
  ].join("\n")

/** The share of the cases to run: a quarter in `npm test`, four times all in `npm run prove`, less in mutation testing. */
const PART = Number(process.env["MAX_TEST_PART"] ?? series({ short: 0.25, long: 4 }))
/** So few cases that no minimum holds and no counterexample is worth shrinking. */
const isSample = PART < 0.2

export const partOf = (cases: number): number => Math.ceil(cases * PART)

/** A required minimum, of the share of the cases that runs. */
export const floorOf = (times: number): number => (isSample ? 0 : times * Math.min(1, PART))

interface Corpus<A> {
  readonly name: string
  readonly cases: number
  readonly seed: number
  /** Cases with the same number run sequentially, others concurrently. */
  readonly queue: (one: A) => number
  readonly text: (one: A) => string
}

const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** Runs a check for many cases. After a failure, runs them sequentially and shrinks the first counterexample. */
export const holds = Effect.fnUntraced(function* <A, E, R>(
  arbitrary: fc.Arbitrary<A>,
  { cases, name, queue, seed, text }: Corpus<A>,
  check: (one: A) => Effect.Effect<void, E, R>
) {
  const queues = Array.groupBy(fc.sample(arbitrary, { numRuns: cases, seed }), (one) => String(queue(one)))
  const exit = yield* Effect.exit(
    Effect.forEach(Object.values(queues), (some) => Effect.forEach(some, check, { discard: true }), { concurrency: 4 })
  )
  if (Exit.isSuccess(exit)) return
  if (isSample) expect.fail(`${name}, seed ${seed}: ${reasonOf(exit.cause)}`)
  const run = Effect.runPromiseWith(yield* Effect.context<R>())
  const details = yield* Effect.promise(() =>
    fc.check(
      fc.asyncProperty(arbitrary, (one) => run(check(one))),
      { numRuns: cases, seed, interruptAfterTimeLimit: 60_000 }
    )
  )
  expect.fail(
    details.failed && details.counterexample !== null
      ? `${name}, seed ${seed}, after ${details.numRuns} runs and ${details.numShrinks} reductions: ` +
          `${(details.errorInstance as Error).message}\n${text(details.counterexample[0])}`
      : `${name}, seed ${seed}, concurrently only: ${reasonOf(exit.cause)}`
  )
})

/** Reports the cases, and fails if too few had rows to show or conditions to apply. */
export const tallied = (name: string, atLeast: number, { cases, conditional, nonEmpty }: Tally) => {
  const share = (part: number) => `${Math.round((100 * part) / cases)} %`
  console.log(`${name}: ${cases} cases, ${share(nonEmpty)} non-empty, ${share(conditional)} conditional`)
  expect(cases).toBeGreaterThanOrEqual(floorOf(atLeast))
  expect(nonEmpty / cases).toBeGreaterThanOrEqual(floorOf(FLOOR))
  expect(conditional / cases).toBeGreaterThanOrEqual(floorOf(FLOOR))
}

const FLOOR = 0.3

export interface Tally {
  cases: number
  nonEmpty: number
  conditional: number
}

export const makeTally = (): Tally => ({ cases: 0, nonEmpty: 0, conditional: 0 })

export const count = (tally: Tally, nonEmpty: boolean, conditional: boolean) => {
  tally.cases += 1
  if (nonEmpty) tally.nonEmpty += 1
  if (conditional) tally.conditional += 1
}
