/**
 * A lookup over HTTP against a bare node:http server with the same prepared statement, and against other ways to the same
 * rows under the same permission, 16 requests in flight. Every contestant is a process of its own; they take turns within
 * one run. "service" calls Max without HTTP, admission and counting, so that what these cost is told from the lookup.
 */
import { Effect } from "effect"
import { Database } from "../src/database/Database.ts"
import { Credentials } from "../src/services/Credentials.ts"
import { type Assignment, type ContestantName, type Running, start } from "./contestants.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { load } from "./load.ts"
import { outside, urlOf } from "./outside.ts"
import { median } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld, type Role, type WorldOrganization } from "./world/load.ts"
import { byPhone } from "./world/questions.ts"

const IN_FLIGHT = 16
const ROUNDS = 8
const SECONDS = 0.7
const ROLE: Role = "company"

/** A token of somebody of an organization. */
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

/** How processes of their own reach the database of this one, as its owner. */
const assignment = Effect.fnUntraced(function* (rows: number, size: Assignment["size"], role: Role) {
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
  // Only of people whom the caller may see is there an answer that all contestants must give.
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
    else if (!quiet) console.log(`${name} wasn't run: ${started.split("\n").slice(0, 2).join(" ")}`)
  }
  const rates = new Map(running.map(({ name }) => [name, [] as Array<number>]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const { name, port } of running) {
      const { rate } = yield* load({
        port,
        token,
        inFlight: IN_FLIGHT,
        seconds: SECONDS,
        asked,
        answered: "@example.com"
      })
      if (round >= 0) rates.get(name)!.push(rate)
    }
  }
  const rateOf = (name: ContestantName) => median(rates.get(name)!)
  if (!quiet) {
    console.log(`${IN_FLIGHT} in flight, requests a second (medians of ${ROUNDS}):`)
    for (const { name } of running) console.log(`  ${name.padEnd(14)} ${rateOf(name).toFixed(0)}`)
  }
  const measured = (scenario: string, ratio: number, target: number): Measured => ({
    scenario,
    ratio,
    target,
    atLeast: true
  })
  const against = (name: ContestantName, said: string) =>
    rates.has(name) ? [measured(`Max over HTTP against ${said}`, rateOf("whole") / rateOf(name), 7)] : []
  return [
    measured(
      "POST /v1/tools/findEntities against node:http with the same statement",
      rateOf("whole") / rateOf("bare"),
      0.85
    ),
    measured("the service behind node:http against the same statement", rateOf("service") / rateOf("bare"), 0.85),
    measured(
      "HTTP, admission and counting against the service behind node:http",
      rateOf("whole") / rateOf("service"),
      0.85
    ),
    ...against("casl", "pg + CASL"),
    ...against("postgraphile", "PostGraphile with row-level security"),
    ...against("zenstack", "ZenStack")
  ] satisfies ReadonlyArray<Measured>
})
