/**
 * A lookup over HTTP against a bare node:http server with the same prepared statement, 16 requests in flight. Every
 * contestant is a process of its own; they take turns within one run. Between the two stands a node:http server that
 * calls the service directly, so that what HTTP, admission and counting cost is told from what the lookup costs.
 */
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Http } from "../src/channels/http/server.ts"
import { Database } from "../src/database/Database.ts"
import { nextId } from "../src/domain/ids.ts"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import { Env } from "../src/env.ts"
import { Agent, Services } from "../src/layers.ts"
import { Credentials } from "../src/services/Credentials.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../src/services/IdentityResolver.ts"
import { Memberships } from "../src/services/Memberships.ts"
import { Organizations } from "../src/services/Organizations.ts"
import { OrganizationState } from "../src/services/OrganizationState.ts"
import { ToolHandlers } from "../src/tools/handlers.ts"
import type { Measured } from "./figures.ts"

const IN_FLIGHT = 16
const ROUNDS = 15
const ROUND_MS = 700

const settings = (dataDir: string, stateDir: string) =>
  Agent.pipe(
    Layer.provideMerge(ToolHandlers),
    Layer.provideMerge(Services),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(
      Env.layerWith({
        databaseUrl: undefined,
        dataDir,
        stateDir,
        lookupTimeout: 5000,
        httpPort: 0,
        callsPerPerson: 1_000_000,
        callsPerOrganization: 100_000_000,
        logLevel: "error"
      })
    )
  )

const EMAIL = (index: number) => `p${index}@example.com`

const query = (email: string) => ({
  entityTypeId: "people",
  selectColumns: ["phone"],
  filters: [{ columnId: "email", op: "eq" as const, value: email }]
})

const admitted = Effect.gen(function* () {
  const states = yield* OrganizationState
  const identities = yield* IdentityResolver
  const organization = yield* states.organization("bench")
  const { principal } = yield* identities.admit(organization, { kind: "email", key: EMAIL(1) })
  return { organizationId: organization.id, principal }
})

const listen = (listener: RequestListener) =>
  Effect.callback<number>((resume) => {
    const server = createServer(listener).listen(0, "127.0.0.1", () => {
      resume(Effect.succeed((server.address() as AddressInfo).port))
    })
  })

/** A server that answers each body with what an effect makes of it. */
const answering = <E, R>(answer: (body: ReturnType<typeof query>) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const run = Effect.runPromiseWith(yield* Effect.context<R>())
    return yield* listen((request, response) => {
      let text = ""
      request.on("data", (chunk: Buffer) => (text += chunk.toString()))
      request.on("end", () => {
        void run(answer(JSON.parse(text))).then((value) => {
          const body = JSON.stringify(value)
          response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
          response.end(body)
        })
      })
    })
  })

const bare = Effect.gen(function* () {
  const { lookup } = yield* Database
  const queries = yield* EntityQueryService
  const { organizationId, principal } = yield* admitted
  const probe = EMAIL(3)
  const statement = yield* queries
    .explain({ ...query(probe), organizationId })
    .pipe(Effect.provideService(CurrentPrincipal, principal))
  const place = statement.parameters.indexOf(probe)
  return yield* answering(({ filters }) =>
    Effect.map(
      lookup.unsafe<Record<string, unknown>>(statement.text, statement.parameters.with(place, filters[0]!.value)),
      (rows) => rows.map(({ c0, id, name, status, total }) => ({ id: String(id), name, status, total, phone: c0 }))
    )
  )
})

const service = Effect.gen(function* () {
  const queries = yield* EntityQueryService
  const { organizationId, principal } = yield* admitted
  return yield* answering((input) =>
    Effect.provideService(queries.findEntities({ ...input, organizationId }), CurrentPrincipal, principal)
  )
})

const whole = Effect.gen(function* () {
  const { HttpServer } = yield* Effect.promise(() => import("effect/http"))
  const context = yield* Layer.build(Http)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return Number(HttpServer.formatAddress(address).split(":").at(-1))
})

const CONTESTANTS = { bare, service, whole }

const cpuOf = ({ system, user }: NodeJS.CpuUsage): number => system + user

interface Running {
  readonly port: number
  /** Microseconds of CPU that the process has used so far. */
  readonly cpu: Effect.Effect<number>
  readonly end: () => void
}

/** A contestant's process: says its port, then its CPU whenever it is asked, and serves until it is ended. */
export const contestant = (name: string, dataDir: string, stateDir: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const port = yield* CONTESTANTS[name as keyof typeof CONTESTANTS]
      process.on("message", () => process.send?.(cpuOf(process.cpuUsage())))
      process.send?.(port)
      return yield* Effect.never
    })
  ).pipe(Effect.provide(settings(dataDir, stateDir)))

const startContestant = (name: string, dataDir: string, stateDir: string) =>
  Effect.acquireRelease(
    Effect.callback<Running>((resume) => {
      const child = spawn(process.execPath, [process.env["MAX_BENCH"]!, "contestant", name, dataDir, stateDir], {
        stdio: ["ignore", "inherit", "inherit", "ipc"]
      })
      const cpu = Effect.callback<number>((resume) => {
        child.once("message", (used) => resume(Effect.succeed(Number(used))))
        child.send("cpu")
      })
      child.once("message", (port) =>
        resume(Effect.succeed({ port: Number(port), cpu, end: () => child.kill("SIGTERM") }))
      )
    }),
    ({ end }) => Effect.sync(end)
  )

/** Requests answered in a round; anything but 200 ends the run. */
const load = (port: number, token: string, rows: number) =>
  Effect.callback<number>((resume) => {
    let answered = 0
    let open = IN_FLIGHT
    const until = performance.now() + ROUND_MS
    for (let index = 0; index < IN_FLIGHT; index++) {
      let round = index * 7919
      const socket = connect(port, "127.0.0.1")
      const send = () => {
        const body = JSON.stringify(query(EMAIL(3 * ((round++ * 7919) % Math.floor(rows / 3)) + 3)))
        socket.write(
          `POST /v1/tools/findEntities HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        )
      }
      let text = ""
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1")
        const end = text.indexOf("\r\n\r\n")
        if (end < 0 || text.length < end + 4 + Number(/content-length: (\d+)/i.exec(text)![1])) return
        if (!text.startsWith("HTTP/1.1 200") || !text.includes("Person ")) throw new Error(text)
        text = ""
        answered += 1
        if (performance.now() < until) return send()
        socket.destroy()
        if (--open === 0) resume(Effect.succeed(answered))
      })
      socket.on("connect", send)
    }
  })

const median = (numbers: ReadonlyArray<number>): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!

const scenario = Effect.fnUntraced(function* (rows: number, quiet: boolean, dataDir: string, stateDir: string) {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  const members = yield* Memberships
  const credentials = yield* Credentials
  const organization = yield* organizations.create({ slug: "bench", country: "US", timeZone: "UTC" })
  const first = nextId()
  yield* owner.unsafe(
    `INSERT INTO data.people (organization_id, id, name, name_k, status, status_k, email, email_k, owner_id)
     SELECT $1::bigint, $2::bigint + n, 'Person ' || n, 'person ' || n, 'lead', 'lead', 'p' || n || '@example.com', 'p' || n || '@example.com',
       CASE WHEN n % 3 = 0 THEN $2::bigint + 1 END
     FROM generate_series(1, $3::int) n`,
    [organization.id, first, rows]
  )
  yield* owner.unsafe("ANALYZE data.people").unprepared
  const { anchorId } = yield* members.add(organization, { identifier: EMAIL(1), roles: ["member"] })
  const { secret } = yield* credentials.createToken(organization, {
    anchorId,
    name: "bench",
    scopes: ["tools"],
    days: 1
  })
  const names = Object.keys(CONTESTANTS)
  const running = yield* Effect.forEach(names, (name) => startContestant(name, dataDir, stateDir))
  const answered = names.map((): Array<number> => [])
  const used = names.map((): Array<number> => [])
  for (let round = -2; round < ROUNDS; round++) {
    for (const [index, { cpu, port }] of running.entries()) {
      const before = yield* cpu
      const count = yield* load(port, secret, rows)
      const after = yield* cpu
      if (round < 0) continue
      answered[index]!.push(count)
      used[index]!.push((after - before) / count)
    }
  }
  const [byHand, byService, byHttp] = answered.map((counts) => (median(counts) * 1000) / ROUND_MS)
  if (!quiet) {
    const cpu = used.map((all) => `${median(all).toFixed(0)} µs`)
    console.log(
      `${IN_FLIGHT} in flight, requests a second (CPU of the server's process a request): bare ${byHand!.toFixed(0)} (${cpu[0]}), ` +
        `the service behind bare node:http ${byService!.toFixed(0)} (${cpu[1]}), Max ${byHttp!.toFixed(0)} (${cpu[2]}) (medians)`
    )
  }
  const measured = (name: string, ratio: number, target: number): Measured => ({
    scenario: name,
    ratio,
    target,
    atLeast: true
  })
  return [
    measured("POST /v1/tools/findEntities against node:http with the same statement", byHttp! / byHand!, 0.85),
    measured("the service behind node:http against the same statement", byService! / byHand!, 0.85),
    measured("HTTP, admission and counting against the service behind node:http", byHttp! / byService!, 0.85)
  ]
})

export const http = (rows: number, quiet: boolean) => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-data-"))
  chmodSync(home, 0o755)
  const [dataDir, stateDir] = [join(home, "data"), join(home, "state")]
  return Effect.scoped(scenario(rows, quiet, dataDir, stateDir)).pipe(
    Effect.provide(settings(dataDir, stateDir)),
    Effect.ensuring(Effect.sync(() => rmSync(home, { recursive: true, force: true })))
  )
}
