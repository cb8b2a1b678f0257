/** The exit codes of docs/errors.md, each produced by a command. */
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { EXIT_CODES } from "../../src/channels/cli/exitCodes.ts"
import { runMax, serveMax, spawnMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-exit-"))
let env: Record<string, string> = {}
let ada = ""
const code = async (...args: ReadonlyArray<string>) => (await runMax(args, env)).code
const codeWith = async (more: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  (await runMax(args, { ...env, ...more })).code

beforeAll(async () => {
  const databaseUrl = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: databaseUrl, MAX_LOOKUP_TIMEOUT: "10000", MAX_AS: "admin@atlas.example" }
  const people = join(folder, "people.jsonl")
  writeFileSync(people, ["Ada", "Bob", "Cy"].map((name, id) => JSON.stringify({ id: `${id}`, name })).join("\n"))
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    ["import", people, "--type", "people"],
    ["member", "add", "admin@atlas.example", "--role", "admin", "--create"]
  ])
    expect(await code(...args), args.join(" ")).toBe(0)
  ada = JSON.parse((await runMax(["find", "people", "name=Ada", "--json"], env)).stdout).entities[0].entityId
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

/** The exit code of a process that gets a signal after its first output. */
const signaled = async (signal: NodeJS.Signals, ...args: ReadonlyArray<string>) => {
  const child = spawnMax(args, env)
  await once(child.stderr, "data")
  child.kill(signal)
  return (await once(child, "exit"))[0] as number
}

const closedPort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, "close")
  return port
}

/** One command per line of the table, and per way to get there where one code has several. */
const PRODUCED: Readonly<Record<number, ReadonlyArray<() => Promise<number | null>>>> = {
  0: [
    () => code("--version"),
    () => code("find", "people", "--help"),
    async () => {
      const server = await serveMax({ ...env, MAX_HTTP_PORT: "0" })
      server.end("SIGTERM")
      return server.ended
    }
  ],
  1: [() => code("restore", join(folder, "none.dump")), () => code("trace", "show", "AAAAAAAA")],
  2: [() => code("find", "people", "--bogus"), () => code("find", "people", "--limit", "many"), () => code("nonsense")],
  3: [() => codeWith({ MAX_HTTP_PORT: "many" }, "serve"), () => codeWith({ MAX_HTTP_PROT: "1" }, "types")],
  4: [() => codeWith({ MAX_AS: "unknown@else.example" }, "types")],
  6: [() => code("find", "spaceships"), () => code("find", "people", "colour=red")],
  7: [async () => codeWith({ DATABASE_URL: `postgres://max@127.0.0.1:${await closedPort()}/max` }, "types")],
  8: [
    async () => {
      const { stderr } = await runMax(["change", "people.update", ada, "phone=512-555-0142"], env)
      const [, id, digest] = /max change confirm ([a-z]+) ([0-9a-f]{64})/.exec(stderr)!
      expect(await code("change", "reject", id!)).toBe(0)
      return code("change", "confirm", id!, digest!)
    }
  ],
  9: [
    async () => {
      const found = JSON.parse((await runMax(["find", "people", "--json"], env)).stdout)
      const [first, second] = ["Bob", "Cy"].map(
        (name) => found.entities.find(({ displayName }: { displayName: string }) => displayName === name).entityId
      )
      const limited = (id: string) => codeWith({ MAX_DESTRUCTIVE_PER_HOUR: "1" }, "change", "people.delete", id)
      expect(await limited(first)).toBe(0)
      return limited(second)
    }
  ],
  130: [() => signaled("SIGINT", "trace", "tail"), () => signaled("SIGTERM", "trace", "tail")]
}

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
const listed = [...page.matchAll(/^\| (\d+) +\|/gm)]
  .map(([, number]) => Number(number))
  .filter((number) => number < 200)

it("are listed in docs/errors.md, all of them and no other", () => {
  expect(listed).toEqual([...new Set([0, ...Object.values(EXIT_CODES), 130])].sort((a, b) => a - b))
  expect(Object.keys(PRODUCED).map(Number)).toEqual(listed)
})

for (const number of listed)
  it(`${number} is what a command of that outcome ends with`, async () => {
    for (const produce of PRODUCED[number]!) expect(await produce(), String(produce)).toBe(number)
  })
