/**
 * A lookup over HTTP compared with a bare node:http server that runs the same prepared statement, and with other libraries
 * for the same rows under the same permission, at 16 requests in flight. Every contestant is a separate process; they
 * alternate within one run. "service" calls Max without HTTP, admission and rate limits, which separates their cost from
 * the lookup's. The CPU per request is shown beside the rate, because it is stable on a busy machine and the rate isn't.
 */
import { Effect } from "effect"
import { Database } from "../src/database/Database.ts"
import { Credentials } from "../src/services/access/Credentials.ts"
import { type ContestantName, type Running, start } from "./contestants.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import type { Assignment } from "./contestants/answering.ts"
import { load } from "./load.ts"
import { outside, urlOf } from "./outside.ts"
import { median } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld, type Role, type WorldOrganization } from "./world/load.ts"
import { byPhone } from "./world/questions.ts"

const IN_FLIGHT = 16
const ROUNDS = 8
const SECONDS = 0.7
/** Requests, or seconds, until a contestant's code is compiled. */
const WARM_UP = { requests: 10_000, seconds: 8 }
const ROLE: Role = "company"

/** A contestant's result in a round: requests per second, and microseconds of its process's CPU per request. */
interface Round {
  readonly rate: number
  readonly cpu: number
}

/** Creates a token for a member of an organization. */
export const tokenOf = Effect.fnUntraced(function* (of: WorldOrganization, role: Role) {
  const credentials = yield* Credentials
  const { principal } = yield* asking(of, role)
  const { secret } = yield* credentials.createToken(of.organization, {
    anchorId: principal.anchorEntityId,
    name: "bench",
    scopes: ["tools"],
    days: 1
  })
  return secret
})

/** How a contestant's process reaches this process's database, as its owner. */
export const assignment = Effect.fnUntraced(function* (rows: number, size: Assignment["size"], role: Role) {
  const { owner } = yield* Database
  return { rows, size, role, url: urlOf(outside(owner)) } satisfies Assignment
})

export const http = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(scenario(rows, quiet)))

const scenario = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const of = (yield* openWorld(rows)).organizations.huge
  const token = yield* tokenOf(of, ROLE)
  const given = yield* assignment(rows, "huge", ROLE)
  const { find } = yield* asking(of, ROLE)
  // Only for people that the caller may see must all contestants give the same answer.
  const visible: Array<number> = []
  for (let round = 0; visible.length < 40 && round < 20_000; round++)
    if ((yield* find(byPhone(of, round))).total > 0) visible.push(round)
  const asked = (round: number) => byPhone(of, visible[round % visible.length]!)
  const running: Array<Running> = []
  for (const name of [
    "bare",
    "service",
    "whole",
    "casl",
    "postgraphile",
    "zenstack"
  ] as ReadonlyArray<ContestantName>) {
    const started = yield* start(name, given)
    if (typeof started !== "string") running.push(started)
    else if (!quiet) console.log(`${name} was skipped: ${started.split("\n").slice(0, 2).join(" ")}`)
  }
  const rounds = new Map(running.map(({ name }) => [name, [] as Array<Round>]))
  for (let round = -1; round < ROUNDS; round++) {
    // A different contestant starts each round, because the caches favor some positions.
    const turn = (round + 1) % running.length
    for (const { cpu, name, port } of [...running.slice(turn), ...running.slice(0, turn)]) {
      const before = yield* cpu
      const { rate, times } = yield* load({
        port,
        token,
        inFlight: IN_FLIGHT,
        ...(round < 0 ? WARM_UP : { seconds: SECONDS }),
        asked,
        answered: "@example.com"
      })
      const used = (yield* cpu) - before
      if (round >= 0) rounds.get(name)!.push({ rate, cpu: used / times.length })
    }
  }
  const medianOf = (name: ContestantName, of: keyof Round) => median(rounds.get(name)!.map((round) => round[of]))
  /** Compared round by round, because the machine's other load changes between rounds. */
  const against = (name: ContestantName, other: ContestantName) =>
    median(rounds.get(name)!.map(({ rate }, round) => rate / rounds.get(other)![round]!.rate))
  if (!quiet) {
    console.log(
      `${IN_FLIGHT} in flight (medians of ${ROUNDS}): requests per second, CPU of the server's process per request`
    )
    for (const { name } of running) {
      console.log(
        `  ${name.padEnd(14)} ${medianOf(name, "rate").toFixed(0).padStart(6)} ${medianOf(name, "cpu").toFixed(0).padStart(6)} µs`
      )
    }
  }
  const measured = (scenario: string, ratio: number, target: number): Measured => ({
    scenario,
    ratio,
    target,
    atLeast: true
  })
  const ifRun = (name: ContestantName, said: string) =>
    rounds.has(name) ? [measured(`Max over HTTP against ${said}`, against("whole", name), 7)] : []
  return [
    measured("POST /v1/tools/findEntities against node:http with the same statement", against("whole", "bare"), 0.85),
    measured("the service behind node:http against the same statement", against("service", "bare"), 0.85),
    measured("HTTP, admission and counting against the service behind node:http", against("whole", "service"), 0.85),
    ...ifRun("casl", "pg + CASL"),
    ...ifRun("postgraphile", "PostGraphile with row-level security"),
    ...ifRun("zenstack", "ZenStack")
  ] satisfies ReadonlyArray<Measured>
})
