/** Embedded servers for tests: folders, statements, and other processes that share a server. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import { buildSync } from "esbuild"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, expect } from "vitest"
import { settle } from "../../src/database/embedded/folders.ts"
import { type EmbeddedServerOptions, type EmbeddedSource, start } from "../../src/database/embedded/EmbeddedServer.ts"

export const root = process.geteuid?.() === 0
const repository = resolve(import.meta.dirname, "../..")
/** Short, because socket paths are, and outside of any home, so that a server under another user can enter. */
export const temp = mkdtempSync("/tmp/max-es-")
chmodSync(temp, 0o755)

/** Processes to end and folders outside of `temp` to remove after the file's tests. */
export const children = new Set<ChildProcess>()
export const redirected = new Set<string>()
let folders = 0

/** Call once in each test file: afterwards, ends every process and removes every file of its tests, failed ones too. */
export const cleanUpAfterwards = () =>
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    for (const name of readdirSync(temp)) cleanUp(join(temp, name))
    for (const folder of redirected) {
      cleanUp(dirname(folder), [basename(folder)])
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
    rmSync(temp, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })

/** A new folder in `temp`. */
export const freshFolder = (): string => {
  const folder = join(temp, String(++folders))
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

export const fresh = (): EmbeddedServerOptions => {
  const folder = freshFolder()
  return { dataDir: join(folder, "data"), stateDir: join(folder, "state") }
}

/** Ends the servers of the data folders in a folder. */
const cleanUp = (folder: string, names = statSync(folder).isDirectory() ? readdirSync(folder) : []) => {
  for (const name of names) {
    const pid = postmasterPid(join(folder, name))
    if (pid !== undefined && commandOf(pid).includes(folder)) process.kill(pid, "SIGKILL")
  }
  const installations = join(folder, "state", "embedded")
  for (const id of existsSync(installations) ? readdirSync(installations) : []) {
    for (const path of [`/run/max-${id.slice(0, 8)}`, `/tmp/max-${process.geteuid?.()}-${id.slice(0, 8)}`]) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

export const clusterOf = (dataDir: string) => join(dataDir, "pg")

/** The content of a server's pid file; undefined while there is none. */
export const pidFileOf = (dataDir: string): string | undefined => {
  try {
    return readFileSync(join(clusterOf(dataDir), "postmaster.pid"), "utf8")
  } catch {
    return undefined
  }
}

export const postmasterPid = (dataDir: string): number | undefined => {
  const text = pidFileOf(dataDir)
  return text === undefined || text === "" ? undefined : Number(text.split("\n")[0])
}

export const livePid = (dataDir: string): number => {
  const pid = postmasterPid(dataDir)
  if (pid === undefined) throw new Error(`no server runs in ${dataDir}`)
  return pid
}

export const commandOf = (pid: number): string => {
  try {
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    })
  } catch {
    return ""
  }
}

export const uidOf = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8" }))

/** The TCP sockets of a process, from /proc; empty on systems without it. */
export const tcpSocketsOf = (pid: number): ReadonlyArray<string> => {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return []
  const tables = ["tcp", "tcp6"].map((name) => `/proc/net/${name}`).filter((path) => existsSync(path))
  const tcp = tables.map((path) => readFileSync(path, "utf8")).join("\n")
  return readdirSync(folder)
    .map((name) => /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1])
    .filter((inode) => inode !== undefined && tcp.includes(` ${inode} `))
    .map(String)
}

export const homeOf = (stateDir: string): string => {
  const id = readdirSync(join(stateDir, "embedded")).find((name) => /^[0-9a-f]{32}$/.test(name))
  return join(stateDir, "embedded", id ?? "none")
}

export const query = ({ connect }: EmbeddedSource, sql: string, overrides: Partial<PgConnection.Config> = {}) =>
  Effect.scoped(
    Effect.flatMap(PgConnection.make({ ...connect, ...overrides }), (pg) =>
      Effect.map(pg.query(sql), ({ rows }) => rows)
    )
  )

export const placeOf = (options: EmbeddedServerOptions) => Effect.runPromise(settle(options))

/** Starts or joins a server, runs `use`, and leaves. */
export const during = <A>(
  options: EmbeddedServerOptions,
  use: (source: EmbeddedSource) => Effect.Effect<A, unknown> | Promise<A> | A
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const result = use(yield* start(options))
        if (Effect.isEffect(result)) return yield* result
        return yield* Effect.promise(async () => result)
      })
    )
  )

export const createAndLeave = (options: EmbeddedServerOptions) => during(options, () => undefined)

/** The one-line message of a failed start. */
export const refusalOf = async (options: EmbeddedServerOptions): Promise<string> => {
  const error = await Effect.runPromise(Effect.flip(Effect.scoped(start(options))))
  expect(error._tag).toBe("EmbeddedServerError")
  expect(error.message).not.toContain("\n")
  return error.message
}

export const until = async (condition: () => boolean, millis = 60_000) => {
  const deadline = Date.now() + millis
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`the condition did not hold within ${millis} ms`)
    await delay(10)
  }
}

export const isRunning = (dataDir: string): boolean => {
  const pid = postmasterPid(dataDir)
  return pid !== undefined && commandOf(pid).includes(clusterOf(dataDir))
}

const peerSource = `
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Scope } from "effect"
import { createInterface } from "node:readline"
import { start } from "./src/database/embedded/EmbeddedServer.ts"
const [dataDir, stateDir] = process.argv.slice(2)
const write = (value) => console.log(JSON.stringify(value))
const scope = Effect.runSync(Scope.make())
const begun = performance.now()
const exit = await Effect.runPromiseExit(Scope.provide(scope)(start({ dataDir, stateDir })))
if (Exit.isFailure(exit)) {
  write({ failed: exit.cause.reasons[0].error?.message ?? String(exit.cause) })
  process.exit(1)
}
const { connect } = exit.value
write({ started: performance.now() - begun, socketDir: connect.host })
for await (const line of createInterface(process.stdin)) {
  if (line === "leave") break
  const rows = await Effect.runPromiseExit(Effect.scoped(Effect.flatMap(
    PgConnection.make(connect),
    (pg) => pg.query(line)
  )))
  write(Exit.isSuccess(rows) ? { rows: rows.value.rows } : { failed: String(rows.cause) })
}
const leaving = performance.now()
await Effect.runPromise(Scope.close(scope, Exit.void))
write({ left: performance.now() - leaving })
process.stdin.destroy()
`

/** Builds the program of a peer once per test file. */
const buildPeer = () => {
  if (existsSync(join(temp, "peer"))) return
  mkdirSync(join(temp, "peer"))
  symlinkSync(join(repository, "node_modules"), join(temp, "peer", "node_modules"))
  buildSync({
    stdin: { contents: peerSource, resolveDir: repository, loader: "ts" },
    outfile: join(temp, "peer", "peer.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning"
  })
}

interface Answer {
  readonly started?: number
  readonly left?: number
  readonly failed?: string
  readonly rows?: ReadonlyArray<Record<string, unknown>>
}

/** A separate process that holds a lease and runs the statements sent to it. */
export class Peer {
  readonly child: ChildProcess
  private readonly lines: AsyncIterator<string>

  constructor(options: EmbeddedServerOptions, wrap: ReadonlyArray<string> = []) {
    buildPeer()
    const [command = "", ...args] = [
      ...wrap,
      process.execPath,
      join(temp, "peer", "peer.mjs"),
      options.dataDir,
      options.stateDir
    ]
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
    children.add(this.child)
    this.child.once("exit", () => children.delete(this.child))
    const output = this.child.stdout
    if (output === null) throw new Error("the peer has no output")
    this.lines = createInterface(output)[Symbol.asyncIterator]()
  }

  async answer(): Promise<Answer> {
    const next = await this.lines.next()
    return next.done ? { failed: "ended" } : JSON.parse(next.value)
  }

  async started(): Promise<number> {
    const answer = await this.answer()
    if (answer.started === undefined) throw new Error(answer.failed)
    return answer.started
  }

  ask(sql: string): Promise<Answer> {
    this.child.stdin?.write(`${sql}\n`)
    return this.answer()
  }

  async leave(): Promise<number> {
    const { left, failed } = await this.ask("leave")
    if (left === undefined) throw new Error(failed)
    if (this.child.exitCode === null) await once(this.child, "exit")
    return left
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await once(this.child, "exit")
  }
}
