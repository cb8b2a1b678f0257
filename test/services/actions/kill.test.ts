/** Processes that are killed at random moments of sending, and a service that counts what it has done. */
import { layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
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
import { changing, forgetLimits, person, valuesOf } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { series } from "../../support/long.ts"
import { fileOf, startService } from "../../support/service.ts"

const repository = join(import.meta.dirname, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "max-outbox-worker-"))
const running = new Set<ChildProcess>()
let service: Awaited<ReturnType<typeof startService>>

/** How many processes are killed. */
const KILLS = series({ short: 6, long: 201 })
const WORKERS = 3
/** Calls of each round, of each action. */
const CALLS = 4

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

const settings = () => ({ hosts: [service.host], secretOf: () => Effect.fail({ message: "no secrets" }) })
const Configured = Layer.unwrap(
  Effect.sync(() => Layer.merge(Actions.layer(settings()), ChangeOutbox.layer(settings())))
).pipe(Layer.provideMerge(TestServices))

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
  const rules = names.map((name) => ({ id: name, effect: "allow", role: "admin", action: "invoke", name }))
  const { organization } = yield* changing(slug, rules)
  const actions = yield* Actions
  const url = `${service.url}/orders/{order}`
  yield* actions.publish(organization, fileOf(service.url, { url, attempts: 20 }, { slug: "keyed" }), "test")
  const once = { url, attempts: 20, key: undefined, once: true }
  yield* actions.publish(organization, fileOf(service.url, once, { slug: "unkeyed" }), "test")
  const buyer = yield* person(organization, `buyer@${slug}.example`, "admin")
  const { owner } = yield* Database
  const { databaseUrl } = yield* Env
  const outbox = yield* ChangeOutbox

  // What the service has done, by order: a key that it knows does nothing again.
  const done = new Map<string, number>()
  const keys = new Set<string>()
  let hear: () => void = () => {}
  service.answers(({ headers, path }, response) => {
    hear()
    const key = headers["idempotency-key"]
    setTimeout(() => {
      if (typeof key !== "string" || !keys.has(key)) done.set(path, (done.get(path) ?? 0) + 1)
      if (typeof key === "string") keys.add(key)
      setTimeout(() => response.setHeader("content-type", "application/json").end("{}"), Math.random() * 15)
    }, Math.random() * 15)
  })

  const orders = new Map<string, { readonly slug: string; readonly order: string }>()
  const confirmOne = Effect.fnUntraced(function* (action: string, order: string) {
    const values = valuesOf({ order, quantity: "1" })
    const { changeId, preview } = yield* buyer.propose({ steps: [{ actionId: action, values }] })
    orders.set(changeId, { slug: action, order })
    // The receipt waits for what becomes of the call, and these are sent by others.
    yield* Effect.forkChild(Effect.ignore(buyer.confirm({ changeId, digest: preview.digest! })))
  })
  /** The time of dead processes' leases, and the pause before another attempt, go by. */
  const later = owner`UPDATE max.change_outbox SET next_at = clock_timestamp(), leased_until = NULL WHERE state IN ('queued', 'trying')`
  const counted = Effect.map(
    owner<{ change_id: string; state: string }>`SELECT change_id, state FROM max.change_outbox
      WHERE organization_id = ${organization.id}`,
    (rows) =>
      rows.map(({ change_id, state }): Counted => {
        const { order, slug: action } = orders.get(change_id)!
        return { slug: action, changeId: change_id, state, done: done.get(`/orders/${order}`) ?? 0 }
      })
  )
  const doubled = Effect.map(counted, (rows) => rows.filter((row) => row.done > 1).length)

  for (let kills = 0; !enough(kills, yield* doubled); kills += WORKERS) {
    yield* forgetLimits(organization)
    for (const name of names)
      for (let at = 0; at < CALLS; at++) yield* confirmOne(name, `${slug}-${name}-${kills}-${at}`)
    yield* Effect.repeat(
      owner<{ n: number }>`SELECT count(*)::int AS n FROM max.change_outbox WHERE organization_id = ${organization.id}`,
      { until: ([row]) => row!.n === orders.size, schedule: Schedule.spaced("20 millis") }
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
        const calls = yield* counted
        expect(calls).toHaveLength((KILLS / WORKERS) * CALLS * 2)
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
