/**
 * Processes that are killed at random moments of sending, and a service that counts what it has done. Each change reads first, and its
 * last call takes what an earlier one is answered.
 */
import { layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import type { ServerResponse } from "node:http"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Env } from "../../../src/env.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { changing, forgetLimits, person } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { series } from "../../support/long.ts"
import { fileOf, startService } from "../../support/service.ts"

const repository = join(import.meta.dirname, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "max-outbox-worker-"))
const running = new Set<ChildProcess>()
let service: Awaited<ReturnType<typeof startService>>

/** How many processes are killed. */
const KILLS = series({ short: 6, long: 201 })
const WORKERS = 3
/** Changes of each round, of each action. */
const CALLS = 4
/** The action that reads, and the one that takes what a call is answered. */
const READS = "quantity_of"
const FOLLOWS = "follow_up"

/** The defence that the planted mistake removes: what a dead process may have sent isn't sent again without a key. */
const DEFENCE = "if (abandoned && !isRepeatable(executor))"

const bundle = (outfile: string, isPlanted: boolean) =>
  build({
    entryPoints: [join(repository, "test", "support", "outboxWorker.ts")],
    outfile: join(folder, outfile),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
    plugins: [
      {
        name: "planted",
        setup: ({ onLoad }) => {
          onLoad({ filter: /ChangeOutbox\.ts$/ }, ({ path }) => {
            const source = readFileSync(path, "utf8")
            expect(source).toContain(DEFENCE)
            return { contents: isPlanted ? source.replace(DEFENCE, "if (false)") : source, loader: "ts" }
          })
        }
      }
    ]
  })

beforeAll(async () => {
  service = await startService()
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"))
  // The program reads its version from its own package.
  copyFileSync(join(repository, "package.json"), join(folder, "package.json"))
  await Promise.all([bundle("worker.mjs", false), bundle("planted.mjs", true)])
})
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL")
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

/** Runs workers, kills each at a random moment after the service was first asked, and resolves when all are gone. */
const killed = async (file: string, args: ReadonlyArray<string>, asked: Promise<void>) => {
  const children = Array.from({ length: WORKERS }, () => {
    const child = spawn(process.execPath, [join(folder, file), ...args], { stdio: ["ignore", "pipe", "inherit"] })
    running.add(child)
    return { child, ended: new Promise((resolve) => child.once("close", resolve)) }
  })
  const ready = children.map(
    ({ child, ended }) =>
      new Promise<void>((resolve) => {
        createInterface(child.stdout).once("line", () => resolve())
        void ended.then(() => resolve())
      })
  )
  await Promise.race([asked, Promise.all([...ready, delay(2000)])])
  await Promise.all(
    children.map(async ({ child, ended }) => {
      await delay(Math.random() * 40)
      child.kill("SIGKILL")
      await ended
      running.delete(child)
    })
  )
}

interface Counted {
  readonly slug: string
  /** Whether it takes what the call before it was answered. */
  readonly follows: boolean
  readonly changeId: string
  readonly state: string
  readonly done: number
}

/** Confirms calls of an action with keys and of one without, while processes that send them are killed, until `enough`. */
const tortured = Effect.fnUntraced(function* (
  slug: string,
  file: string,
  names: ReadonlyArray<"keyed" | "unkeyed">,
  enough: (kills: number, doubled: number) => boolean
) {
  const rules = [...names, READS, FOLLOWS].map((name) => ({
    id: name,
    effect: "allow",
    role: "admin",
    action: "invoke",
    name
  }))
  const { organization } = yield* changing(slug, rules)
  const actions = yield* Actions
  const url = `${service.url}/orders/{order}`
  yield* actions.publish(
    organization,
    fileOf(service.url, { url, attempts: 20, result: { Number: "/number" } }, { slug: "keyed" }),
    "test"
  )
  const answers = { result: { Number: "/number" } }
  const read = { method: "GET", url, body: undefined, key: undefined, result: { Quantity: "/quantity" } }
  const reading = {
    slug: READS,
    category: "read",
    fields: [{ slug: "order", name: "Order", kind: "text", needed: true }]
  }
  yield* actions.publish(organization, fileOf(service.url, read, reading), "test")
  const following = { url, attempts: 20 }
  yield* actions.publish(organization, fileOf(service.url, following, { slug: FOLLOWS }), "test")
  const once = { ...answers, url, attempts: 20, key: undefined, once: true }
  yield* actions.publish(organization, fileOf(service.url, once, { slug: "unkeyed" }), "test")
  const buyer = yield* person(organization, `buyer@${slug}.example`, "admin")
  const { owner } = yield* Database
  const { databaseUrl } = yield* Env
  const outbox = yield* ChangeOutbox

  // What the service has done, by order: a key that it knows does nothing again.
  const done = new Map<string, number>()
  const keys = new Set<string>()
  let hear: () => void = () => {}
  const json = (response: ServerResponse, body: object) =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  service.answers(({ headers, method, path }, response) => {
    if (method === "GET") return json(response, { quantity: 1 })
    hear()
    const key = headers["idempotency-key"]
    setTimeout(() => {
      if (typeof key !== "string" || !keys.has(key)) done.set(path, (done.get(path) ?? 0) + 1)
      if (typeof key === "string") keys.add(key)
      setTimeout(() => json(response, { number: `${path.split("/").at(-1)!}-next` }), Math.random() * 15)
    }, Math.random() * 15)
  })

  const orders = new Map<string, { readonly slug: string; readonly order: string }>()
  const confirmOne = Effect.fnUntraced(function* (action: string, order: string) {
    const number = { columnId: "order", value: order }
    const quantity = { columnId: "quantity", value: { step: 0, result: "Quantity" } }
    const { changeId, preview } = yield* buyer.propose({
      steps: [
        { actionId: READS, values: [number] },
        { actionId: action, values: [number, quantity] },
        { actionId: FOLLOWS, values: [{ columnId: "order", value: { step: 1, result: "Number" } }, quantity] }
      ]
    })
    orders.set(changeId, { slug: action, order })
    // The receipt waits for what becomes of the call, and these are sent by others.
    yield* Effect.forkChild(Effect.ignore(buyer.confirm({ changeId, digest: preview.digest! })))
  })
  /** The time of dead processes' leases, and the pause before another attempt, go by. */
  const later = owner`UPDATE max.change_outbox SET next_at = clock_timestamp(), leased_until = NULL WHERE state IN ('queued', 'trying')`
  const counted = Effect.map(
    owner<{ change_id: string; state: string; step: number }>`SELECT change_id, state, step FROM max.change_outbox
      WHERE organization_id = ${organization.id} ORDER BY change_id, step`,
    (rows) =>
      rows.map(({ change_id, state, step }): Counted => {
        const { order, slug: action } = orders.get(change_id)!
        const path = `/orders/${order}${step === 0 ? "" : "-next"}`
        return { slug: action, follows: step > 0, changeId: change_id, state, done: done.get(path) ?? 0 }
      })
  )
  const doubled = Effect.map(counted, (rows) => rows.filter((row) => row.done > 1).length)

  for (let kills = 0; !enough(kills, yield* doubled); kills += WORKERS) {
    yield* forgetLimits(organization)
    for (const name of names)
      for (let at = 0; at < CALLS; at++) yield* confirmOne(name, `${slug}-${name}-${kills}-${at}`)
    yield* Effect.repeat(
      owner<{ n: number }>`SELECT count(*)::int AS n FROM max.change_outbox WHERE organization_id = ${organization.id}`,
      { until: ([row]) => row!.n === orders.size * 2, schedule: Schedule.spaced("20 millis") }
    )
    const asked = new Promise<void>((resolve) => (hear = resolve))
    yield* Effect.promise(() => killed(file, [Redacted.value(databaseUrl!), service.host], asked))
    yield* later
  }
  return { counted, doubled, drain: Effect.andThen(later, Effect.repeat(outbox.deliver, { while: (sent) => sent })) }
})

layer(Configured, { excludeTestServices: true })("a process that is killed while it sends", (it) => {
  it.effect(
    "leaves each confirmed call done exactly once where a key is honored, and elsewhere never twice, and unknown where that isn't known",
    () =>
      Effect.gen(function* () {
        const { counted, drain } = yield* tortured(
          "sending",
          "worker.mjs",
          ["keyed", "unkeyed"],
          (kills) => kills >= KILLS
        )
        yield* drain
        const all = yield* counted
        const calls = all.filter(({ follows }) => !follows)
        expect(calls).toHaveLength((KILLS / WORKERS) * CALLS * 2)
        // What follows is sent once where the call before it is known to be done, and never elsewhere.
        const before = new Map(calls.map(({ changeId, state }) => [changeId, state]))
        const following = all.filter(({ follows }) => follows)
        const isRight = ({ changeId, done, state }: Counted) =>
          before.get(changeId) === "done" ? state === "done" && done === 1 : state === "dead" && done === 0
        expect(following).toHaveLength(calls.length)
        expect(following.filter((one) => !isRight(one))).toEqual([])
        const keyed = calls.filter(({ slug }) => slug === "keyed")
        expect(keyed.filter(({ done, state }) => done !== 1 || state !== "done")).toEqual([])
        const unkeyed = calls.filter(({ slug }) => slug === "unkeyed")
        expect(unkeyed.filter(({ done }) => done > 1)).toEqual([])
        expect(unkeyed.filter(({ done, state }) => !(state === "done" && done === 1) && state !== "unknown")).toEqual(
          []
        )
        expect(unkeyed.some(({ state }) => state === "done")).toBe(true)
      })
  )

  it.effect("shows a blind repetition: with it, calls without a key are done twice", () =>
    Effect.gen(function* () {
      const { doubled, drain } = yield* tortured(
        "blind",
        "planted.mjs",
        ["unkeyed"],
        (kills, found) => found > 0 || kills >= 60
      )
      if ((yield* doubled) === 0) yield* drain
      expect(yield* doubled).toBeGreaterThan(0)
    })
  )
})
