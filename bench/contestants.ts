/** HTTP servers that answer the same question, each in its own process, on one benchmark database. */
import { Effect, Layer, Redacted } from "effect"
import { spawn } from "node:child_process"
import { Http } from "../src/channels/http/server.ts"
import { Database } from "../src/database/Database.ts"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import { Env } from "../src/env.ts"
import { Agent, ConfiguredDatabase, Services } from "../src/layers.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import { ToolHandlers } from "../src/tools/handlers.ts"
import { answering, type Assignment } from "./contestants/answering.ts"
import { casl } from "./contestants/casl.ts"
import { postgraphile } from "./contestants/postgraphile.ts"
import { zenstack } from "./contestants/zenstack.ts"
import { asking } from "./store.ts"
import { openWorld, phoneOf } from "./world/load.ts"
import { byPhone, personAt } from "./world/questions.ts"

/** All services on the given database, with rate limits that no benchmark reaches. */
const serving = (url: string, changes: "on" | "off") =>
  Agent.pipe(
    Layer.provideMerge(ToolHandlers),
    Layer.provideMerge(Services),
    Layer.provideMerge(ConfiguredDatabase),
    Layer.provideMerge(
      Env.layerWith({
        databaseUrl: Redacted.make(url),
        lookupTimeout: 5000,
        searchTimeout: 60_000,
        httpPort: 0,
        callsPerPerson: 100_000_000,
        callsPerOrganization: 100_000_000,
        changes,
        logLevel: "error"
      })
    )
  )

const bare = Effect.fnUntraced(function* ({ role, rows, size }: Assignment) {
  const { lookup } = yield* Database
  const of = (yield* openWorld(rows)).organizations[size]
  const { explain } = yield* asking(of, role)
  const statement = yield* explain(byPhone(of, 0))
  const place = statement.parameters.indexOf(phoneOf(personAt(of, 0)))
  return yield* answering(({ filters }) =>
    Effect.runPromise(
      Effect.map(
        lookup.unsafe<Record<string, unknown>>(statement.text, statement.parameters.with(place, filters[0]!.value)),
        (found) => found.map(({ c0, id, name, status, total }) => ({ id: String(id), name, status, total, email: c0 }))
      )
    )
  )
})

const service = Effect.fnUntraced(function* ({ role, rows, size }: Assignment) {
  const queries = yield* EntityQueryService
  const of = (yield* openWorld(rows)).organizations[size]
  const { principal } = yield* asking(of, role)
  const run = Effect.runPromiseWith(yield* Effect.context<EntityQueryService>())
  return yield* answering((asked) =>
    run(
      Effect.provideService(
        queries.findEntities({ ...asked, organizationId: of.organization.id }),
        CurrentPrincipal,
        principal
      )
    )
  )
})

const whole = Effect.gen(function* () {
  const { HttpServer } = yield* Effect.promise(() => import("effect/http"))
  const context = yield* Layer.build(Http)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return Number(HttpServer.formatAddress(address).split(":").at(-1))
})

const CONTESTANTS = {
  bare,
  service,
  whole: () => whole,
  /** The whole of Max with changes switched off. */
  reading: () => whole,
  casl,
  postgraphile,
  zenstack
}
export type ContestantName = keyof typeof CONTESTANTS

/** The process of a contestant: reports its port, reports its CPU time on each message, and serves until it is killed. */
export const contestant = (name: string, assignment: string) => {
  const given = JSON.parse(assignment) as Assignment
  return Effect.scoped(
    Effect.gen(function* () {
      process.on("message", () => {
        const { system, user } = process.cpuUsage()
        process.send?.({ cpu: user + system })
      })
      process.send?.({ port: yield* CONTESTANTS[name as ContestantName](given) })
      return yield* Effect.never
    })
  ).pipe(
    Effect.provide(serving(given.url, name === "reading" ? "off" : "on")),
    Effect.tapCause((cause) => Effect.sync(() => process.send?.({ failed: String(cause) })))
  )
}

export interface Running {
  readonly name: ContestantName
  readonly port: number
  /** CPU time of the process so far, in microseconds. */
  readonly cpu: Effect.Effect<number>
}

interface Message {
  readonly port?: number
  readonly cpu?: number
  readonly failed?: string
}

/** Starts a contestant for the lifetime of the scope. Returns one line with the reason if it can't start. */
export const start = (name: ContestantName, assignment: Assignment) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly end: () => void; readonly running: Running | string }>((resume) => {
        const child = spawn(
          process.execPath,
          [process.env["MAX_BENCH"]!, "contestant", name, JSON.stringify(assignment)],
          { stdio: ["ignore", "ignore", "pipe", "ipc"] }
        )
        const end = () => void child.kill("SIGTERM")
        const cpu = Effect.callback<number>((answer) => {
          child.once("message", (said: Message) => answer(Effect.succeed(said.cpu!)))
          child.send({})
        })
        let said = ""
        child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()))
        child.on("message", ({ failed, port }: Message) => {
          if (failed !== undefined) resume(Effect.succeed({ end, running: failed }))
          if (port !== undefined) resume(Effect.succeed({ end, running: { name, port, cpu } }))
        })
        child.on("close", () => resume(Effect.succeed({ end, running: said.trim() || "it ended" })))
      }),
      ({ end }) => Effect.sync(end)
    ),
    ({ running }) => running
  )
