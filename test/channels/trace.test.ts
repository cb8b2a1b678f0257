import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax, spawnMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-trace-"))
let env: Record<string, string> = {}
let elsewhere: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

beforeAll(async () => {
  const [one, two] = await Effect.runPromise(Effect.all([freshDatabase, freshDatabase]).pipe(Scope.provide(scope)))
  const settings = { MAX_LOOKUP_TIMEOUT: "10000", MAX_SEARCH_TIMEOUT: "30000", MAX_TRACE_SHARE: "1" }
  env = { ...settings, DATABASE_URL: one }
  elsewhere = { ...settings, DATABASE_URL: two }
  for (const database of [env, elsewhere]) expect((await runMax(["migrate"], database)).code).toBe(0)
  await max("init", "--org", "atlas", "--country", "US", "--time-zone", "UTC")
  await max("member", "add", "canary@example.com", "--role", "admin", "--create", "--name", "Canary Name")
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const AS = ["--as", "canary@example.com"]
const listed = async (...args: ReadonlyArray<string>) =>
  JSON.parse((await max("trace", "list", "--json", ...args)).stdout) as ReadonlyArray<{
    reference: string
    name: string
    failure: string | null
  }>

describe("max trace", () => {
  it("show prints a command as one trace, from the command to the statement, without a value", async () => {
    expect((await max("find", "people", "email=canary@example.com", ...AS)).code).toBe(0)
    const [found] = await listed("--name", "max find")
    const { stdout } = await max("trace", "show", found!.reference.toLowerCase())
    for (const part of [
      "max find",
      "EntityQueryService.find",
      "OrgEntityStore.find",
      "postgres",
      "max people email:eq"
    ])
      expect(stdout).toContain(part)
    expect(stdout).not.toMatch(/canary/i)
    const json = await max("trace", "show", found!.reference, "--json")
    expect(JSON.parse(json.stdout)[0].spans[0].name).toBe("max find")
    expect(json.stdout).not.toMatch(/canary/i)
  })

  it("top totals the spans, and list finds failed commands", async () => {
    expect((await max("find", "nothing", ...AS)).code).toBe(6)
    expect((await listed("--failed")).map(({ failure, name }) => [name, failure])).toContainEqual([
      "max find",
      "UnknownName"
    ])
    const top = await max("trace", "top")
    expect(top.stdout).toMatch(/^span +count +self ms +share/)
    expect(top.stdout).toContain("postgres")
    expect((await max("trace", "findings", "--since", "1h")).stdout).toMatch(/traces/)
  })

  it("explain shows the plan of a lookup, and measures it with values that are entered", async () => {
    const [found] = await listed("--name", "max find")
    const [good] = (await listed("--name", "max find")).filter(({ failure }) => failure === null)
    const planned = await max("trace", "explain", good!.reference, "--sql")
    expect(planned.stdout).toContain("/* max people email:eq */")
    expect(planned.stdout).toMatch(/Scan by people_\w+ on data\.people/)
    const measured = await max("trace", "explain", good!.reference, "--value", "3=unknown@example.com", "--json")
    expect(JSON.parse(measured.stdout).plan.rows).toBeTypeOf("number")
    expect((await max("trace", "explain", good!.reference, "--value", "99=x")).code).toBe(2)
    expect((await max("trace", "explain", found!.reference, "--statement", "nope")).code).toBe(1)
  })

  it("export and import copy traces to another database unchanged", async () => {
    const out = await max("trace", "export")
    const path = join(folder, "traces.json")
    writeFileSync(path, out.stdout)
    const read = await runMax(["trace", "import", path], elsewhere)
    expect(read).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ traces imported/) })
    const again = await runMax(["trace", "export"], elsewhere)
    const spans = (text: string) =>
      JSON.parse(text).resourceSpans.flatMap(
        (one: { scopeSpans: ReadonlyArray<{ spans: ReadonlyArray<{ spanId: string }> }> }) =>
          one.scopeSpans.flatMap(({ spans: own }) => own)
      ) as ReadonlyArray<{ spanId: string }>
    const before = spans(out.stdout)
    const after = new Map(spans(again.stdout).map((span) => [span.spanId, span]))
    expect(before.length).toBeGreaterThan(10)
    for (const span of before) expect(after.get(span.spanId)).toEqual(span)
    writeFileSync(path, "{")
    expect((await max("trace", "import", path)).code).toBe(1)
    writeFileSync(path, "{}")
    expect((await max("trace", "import", path)).stderr).toContain("isn't OTLP")
  })

  it("tail prints the traces of other processes as they are stored", async () => {
    const child = spawnMax(["trace", "tail", "--name", "max find", "--json"], env)
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    await new Promise((resolve) => child.stderr.once("data", resolve))
    const asking = setInterval(() => void max("find", "people", ...AS), 1500)
    while (!text.includes("\n")) await new Promise((resolve) => setTimeout(resolve, 50))
    clearInterval(asking)
    child.kill("SIGTERM")
    const [code] = await once(child, "exit")
    expect(JSON.parse(text.split("\n")[0]!)).toMatchObject({ name: "max find", reference: expect.any(String) })
    expect(code).toBe(130)
  })

  it("compare prints two traces path by path", async () => {
    const [one, two] = await listed("--name", "max find")
    const { code, stdout } = await max("trace", "compare", one!.reference, two!.reference)
    expect(code).toBe(0)
    expect(stdout).toContain("EntityQueryService.find")
  })

  it("refuses unknown references and invalid filters", async () => {
    expect(await max("trace", "show", "ZZZZ")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("max trace list")
    })
    expect((await max("trace", "list", "--since", "yesterday")).code).toBe(2)
    expect((await max("trace", "list", "--limit", "0")).code).toBe(2)
  })
})
