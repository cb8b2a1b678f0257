/**
 * What one organization costs another: lookups alone and beside the requests of a noisy or hostile organization, in turns
 * within one run, over HTTP. The machine also runs Postgres and both load generators, each on a thread of its own.
 */
import { Effect } from "effect"
import { Database } from "../src/database/Database.ts"
import { Credentials } from "../src/services/access/Credentials.ts"
import { Memberships } from "../src/services/members/Memberships.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { load, type Loaded } from "./load.ts"
import { makeNoise, type Noise } from "./noise.ts"
import { quantile } from "./race.ts"
import { serving, UNLIMITED } from "./serving.ts"
import { emailOf, openWorld, type Role, type WorldOrganization } from "./world/load.ts"
import { byPhone, everyone, type Question, QUESTIONS } from "./world/questions.ts"

const HAMMERING: Question = (of, round) =>
  QUESTIONS[["name contains, common", "name contains three", "owner contains"][round % 3]!]!(of, round)
/** Lookups by common names, whose totals are the largest. */
const COMMON_NAMES: Question = (of, round) => ({
  ...QUESTIONS["name, common"]!(of, round),
  limit: 25,
  selectColumns: ["phone", "email", "owner", "company"]
})
const LARGE_PAGES: Question = (of, round) => ({
  ...everyone(of, round),
  limit: 25,
  selectColumns: ["owner", "company"]
})
const COUNTS: Question = (of, round) => ({ ...QUESTIONS["name begins with one"]!(of, round), limit: 0 })
/** Requests in flight of a hostile organization; those without a question have an invalid credential. */
const HOSTILE: ReadonlyArray<readonly [Question | undefined, number]> = [
  [COMMON_NAMES, 18],
  [HAMMERING, 6],
  [LARGE_PAGES, 6],
  [COUNTS, 3],
  [undefined, 3]
]
const ROLES: ReadonlyArray<Role> = ["company", "masked", "everything"]

/** Members who together have all calls of an organization (`MAX_CALLS_PER_PERSON`, `MAX_CALLS_PER_ORGANIZATION`). */
const MEMBERS = 34
const CALLS = 1000
/** Milliseconds between the lookups of the quiet organization, which has the same limits. */
const QUIET_MS = 20

const TURNS = 5
const TURN_SECONDS = 4

export const neighbour = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(
    where,
    Effect.gen(function* () {
      const world = (yield* openWorld(rows)).organizations
      const tokens = { noisy: yield* tokensOf(world.huge, ROLES), quiet: yield* tokensOf(world.middle, ["masked"]) }
      return [
        ...(yield* Effect.scoped(limited(world, tokens, quiet))),
        ...(yield* Effect.scoped(unlimited(world, tokens, quiet)))
      ]
    })
  )

type World = Readonly<Record<"huge" | "middle", WorldOrganization>>
type Tokens = Readonly<Record<"noisy" | "quiet", ReadonlyArray<string>>>

/** The tokens of so many members, who have these roles in turn. */
const tokensOf = Effect.fnUntraced(function* ({ first, organization }: WorldOrganization, roles: ReadonlyArray<Role>) {
  const credentials = yield* Credentials
  const members = yield* Memberships
  return yield* Effect.forEach(
    Array.from({ length: MEMBERS }, (_, index) => index),
    Effect.fnUntraced(function* (index) {
      // The first people have the world's own roles.
      const identifier = emailOf(first + 10 + index)
      const { anchorId } = yield* members.add(organization, { identifier, roles: [roles[index % roles.length]!] })
      return (yield* credentials.createToken(organization, { anchorId, name: "bench", scopes: ["tools"], days: 1 }))
        .secret
    })
  )
})

/** Counts the answers of a noise during each lookup: unlike times, independent of the machine's other load. */
const counter = (answered: () => number) => {
  let before = 0
  let during: Array<number> = []
  return {
    lookups: { onSend: () => void (before = answered()), onAnswer: () => void during.push(answered() - before) },
    take: () => {
      const taken = during
      during = []
      return taken
    }
  }
}
type Counter = ReturnType<typeof counter>

/** What so many requests in flight ask in turn, in the names of these members. */
const noiseOf = (
  of: WorldOrganization,
  tokens: ReadonlyArray<string>,
  question: Question | undefined,
  inFlight: number,
  rest: Pick<Noise, "everyMs"> = {}
): Noise => ({
  ...rest,
  inFlight,
  requests: Array.from({ length: CALLS }, (_, round) => [
    question === undefined ? "max_invalid" : tokens[round % tokens.length]!,
    (question ?? byPhone)(of, round)
  ])
})

/** Compares lookups alone with those beside a noise. Returns the ratio of a quantile. */
const compare = Effect.fnUntraced(function* (
  name: string,
  quiet: boolean,
  port: number,
  noises: ReadonlyArray<Noise>,
  lookupsCounted: (counted: Counter["lookups"]) => (seconds: number) => Effect.Effect<Loaded>,
  before: Effect.Effect<unknown> = Effect.void
) {
  const noise = yield* makeNoise(port, noises)
  const { lookups: counted, take } = counter(noise.answered)
  const lookups = lookupsCounted(counted)
  const alone: Array<number> = []
  const during: Array<number> = []
  const beside: Array<number> = []
  let requests = 0
  for (let turn = 0; turn < TURNS; turn++) {
    yield* before
    alone.push(...(yield* lookups(TURN_SECONDS)).times)
    take()
    // The lookups start after the noise.
    const both = [noise.run(TURN_SECONDS), Effect.delay(lookups(TURN_SECONDS - 1), 300)] as const
    const [answers, { times }] = yield* Effect.all(both, { concurrency: 2 })
    requests += answers
    beside.push(...times)
    during.push(...take())
  }
  if (!quiet) {
    const row = (times: ReadonlyArray<number>) =>
      [0.5, 0.95, 0.99].map((share) => `p${100 * share} ${quantile(times, share).toFixed(2)} ms`).join(", ")
    console.log(`lookups alone: ${row(alone)} (${alone.length})`)
    console.log(`beside ${requests} requests of ${name}: ${row(beside)} (${beside.length})`)
    console.log(`  answers to it during a lookup: p50 ${quantile(during, 0.5)}, p95 ${quantile(during, 0.95)}`)
  }
  return (share: number) => quantile(beside, share) / quantile(alone, share)
}, Effect.scoped)

const turning =
  (tokens: ReadonlyArray<string>) =>
  (round: number): string =>
    tokens[round % tokens.length]!

/** A server with its default limits of calls, which both organizations use up. */
const limited = Effect.fnUntraced(function* ({ huge, middle }: World, tokens: Tokens, quiet: boolean) {
  const { owner } = yield* Database
  const { port } = yield* serving()
  const lookups = (counted?: Counter["lookups"]) => (seconds: number) =>
    load({
      port,
      token: turning(tokens.quiet),
      inFlight: 1,
      everyMs: QUIET_MS,
      seconds,
      asked: (round) => byPhone(middle, round),
      ...counted
    })
  const asking = (question: Question | undefined, inFlight: number, rest?: Pick<Noise, "everyMs">) =>
    noiseOf(huge, tokens.noisy, question, inFlight, rest)
  const forgetCalls = Effect.orDie(owner`DELETE FROM max.calls`)
  yield* forgetCalls
  yield* lookups()(2)
  const steady = yield* compare(
    `a hostile organization that spends its ${CALLS} calls a minute evenly`,
    quiet,
    port,
    HOSTILE.filter(([question]) => question !== undefined).map(([question]) =>
      asking(question, 1, { everyMs: (4 * 60_000) / CALLS })
    ),
    lookups,
    forgetCalls
  )
  const flood = yield* compare(
    `a hostile organization at its limits, 36 in flight`,
    quiet,
    port,
    HOSTILE.map(([question, inFlight]) => asking(question, inFlight)),
    lookups,
    forgetCalls
  )
  return [
    { scenario: "p95 of a lookup beside an organization that spends its calls evenly", ratio: steady(0.95), target: 3 },
    { scenario: "p95 of a lookup beside a hostile organization at its limits", ratio: flood(0.95), target: 3 },
    { scenario: "p50 of the same", ratio: flood(0.5) }
  ] satisfies ReadonlyArray<Measured>
})

/** A server without limits of calls. */
const unlimited = Effect.fnUntraced(function* ({ huge, middle }: World, tokens: Tokens, quiet: boolean) {
  const { port } = yield* serving(UNLIMITED)
  const lookups = (counted?: Counter["lookups"]) => (seconds: number) =>
    load({
      port,
      token: tokens.quiet[0]!,
      inFlight: 1,
      seconds,
      asked: (round) => byPhone(middle, round),
      ...counted
    })
  yield* lookups()(2)
  const searches = yield* compare(
    "another organization's searches, 16 in flight",
    quiet,
    port,
    [noiseOf(huge, tokens.noisy, HAMMERING, 16)],
    lookups
  )
  const hostile = yield* compare(
    "a hostile organization, 36 in flight",
    quiet,
    port,
    HOSTILE.map(([question, inFlight]) => noiseOf(huge, tokens.noisy, question, inFlight)),
    lookups
  )
  return [
    {
      scenario: "p99 of a lookup beside another organization's searches, without limits of calls",
      ratio: searches(0.99),
      target: 3
    },
    { scenario: "p50 of the same", ratio: searches(0.5) },
    {
      scenario: "p95 of a lookup beside a hostile organization, without limits of calls",
      ratio: hostile(0.95),
      target: 3
    },
    { scenario: "p50 of the same, hostile", ratio: hostile(0.5) }
  ] satisfies ReadonlyArray<Measured>
})
