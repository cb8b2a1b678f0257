import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"
import { finds, inTurn, resultsIn, says, startMessages } from "../support/messages.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-chat-"))
const server = await startMessages()
let env: Record<string, string> = {}
const max = (args: ReadonlyArray<string>, input?: string, more: Record<string, string> = {}) =>
  runMax(args, { ...env, ...more }, input)

const usage = { input_tokens: 1000, output_tokens: 100 }
const lookup = () =>
  inTurn(
    finds("people", [["name", "ilike", "ada"]]),
    says("I found Ada Lovelace and Ada Byron. Which one do you mean?", { usage }),
    finds("people", [["name", "eq", "Ada Byron"]], { selectColumns: ["phone"] }),
    (request) =>
      says(
        `Ada Byron's number is ${resultsIn(request)[0]!
          .split("\t")
          .find((cell) => cell.startsWith("+1"))!}.`,
        { usage }
      )
  )

beforeAll(async () => {
  const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "10000",
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: server.url,
    MAX_AS: "admin@atlas.example"
  }
  const people = join(folder, "people.csv")
  writeFileSync(
    people,
    "id,name,status,phone\n1,Ada Lovelace,Customer,+1 512-555-0142\n2,Ada Byron,Lead,+1 512-555-0143\n"
  )
  for (const args of [
    ["migrate"],
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    ["import", people, "--type", "people"],
    ["member", "add", "admin@atlas.example", "--role", "admin", "--create"]
  ]) {
    expect(await max(args), args.join(" ")).toMatchObject({ code: 0 })
  }
})

afterAll(async () => {
  await server.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("max ask", () => {
  it("prints the answer, or with --json one document with the references and the usage", async () => {
    server.reset(lookup())
    expect(await max(["ask", "who", "is", "Ada?"])).toMatchObject({
      code: 0,
      stdout:
        "I found Ada Lovelace and Ada Byron. Which one do you mean?\n  1  Ada Lovelace (Customer)\n  2  Ada Byron (Lead)\n",
      stderr: ""
    })
    server.reset(lookup())
    const { code, stdout } = await max(["ask", "who is Ada?", "--json"])
    const answered = JSON.parse(stdout) as Record<string, unknown>
    expect(code).toBe(0)
    expect(answered).toMatchObject({
      answer: "I found Ada Lovelace and Ada Byron. Which one do you mean?",
      references: [
        { type: "people", name: "Ada Lovelace" },
        { type: "people", name: "Ada Byron" }
      ],
      choices: [{ name: "Ada Lovelace" }, { name: "Ada Byron" }],
      usage: { model: "claude-haiku-5-5", steps: 2, inputTokens: 1010, outputTokens: 105 }
    })
  })

  it("exits with the error's code and one sentence if there is no answer", async () => {
    server.reset(() => ({ status: 401, error: "authentication_error" }))
    const failed = await max(["ask", "hello"])
    expect(failed).toMatchObject({ code: 7, stdout: "" })
    expect(failed.stderr).toMatch(/^I can't answer right now\. An administrator must check my setup\. \(ref \w{4}\)\n$/)
    expect(await max(["ask", " "])).toMatchObject({ code: 2, stdout: "" })
    expect(await max(["ask", "hello", "--as", "unknown@else.example"])).toMatchObject({ code: 4, stdout: "" })
    expect(await max(["ask", "hello"], undefined, { MAX_DAY_TURNS: "0" })).toMatchObject({ code: 1, stdout: "" })
    expect(await max(["ask", "hello"], undefined, { MAX_PROVIDER: "openai" })).toMatchObject({ code: 3, stdout: "" })
    expect(await max(["ask", "hello"], undefined, { MAX_PRICES: "cheap" })).toMatchObject({ code: 3, stdout: "" })
  })
})

describe("max eval", () => {
  it("compares the references of answers with the expected ones, and reports the token cost", async () => {
    const cases = join(folder, "ask.cases.jsonl")
    const lines = [
      { ask: "who is Ada Byron?", expect: ["2"] },
      { ask: "who is Ada?", expect: ["1", "2"] },
      { ask: "who is Ada?", expect: ["1"] },
      { ask: "who is Zed?", expect: [] }
    ]
    writeFileSync(cases, lines.map((line) => JSON.stringify(line)).join("\n"))
    server.reset(
      inTurn(
        finds("people", [["name", "eq", "Ada Byron"]]),
        says("Ada Byron is a lead.", { usage }),
        ...[1, 2].flatMap(() => [finds("people", []), says("I found Ada Lovelace and Ada Byron.", { usage })]),
        finds("people", [["name", "eq", "Zed"]]),
        says("I found no person by that name.", { usage })
      )
    )
    const ran = await max(["eval", cases, "--json", "--min", "0.75"])
    expect(ran.code).toBe(0)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      kinds: { ask: { passed: 3, of: 4, tokens: { input: 1010, output: 105 } } },
      failures: [{ place: `${cases}:3`, expected: ["1"] }]
    })
  })
})

describe("max chat", () => {
  it("answers line by line through a pipe, resolves a choice by its number, and continues with --continue", async () => {
    server.reset(lookup())
    const talked = await max(["chat"], "who is Ada?\n\n2\n")
    expect(talked).toMatchObject({ code: 0, stderr: "" })
    expect(talked.stdout).toBe(
      "I found Ada Lovelace and Ada Byron. Which one do you mean?\n  1  Ada Lovelace (Customer)\n  2  Ada Byron (Lead)\nAda Byron's number is +1 512-555-0143.\n"
    )
    expect(server.requests[2]!.raw).toContain('"number 2"')
    server.reset(() => says("As I said."))
    expect(await max(["chat", "--continue"], "what was it?\n")).toMatchObject({ code: 0, stdout: "As I said.\n" })
    expect(server.requests[0]!.raw).toContain("Which one do you mean?")
  })

  it("prints the failure of a turn and continues", async () => {
    server.reset(inTurn({ status: 400, error: "invalid_request_error" }, says("Hello.")))
    const talked = await max(["chat"], "hello\nhello?\n")
    expect(talked.code).toBe(0)
    expect(talked.stdout).toMatch(/^I can't answer right now\. .*\nHello\.\n$/)
  })

  it("never prints retracted text or terminal control sequences", async () => {
    server.reset(inTurn(says("Her address is made@up.example."), says("I don't \u001b[2Jknow.\u202e Sorry.")))
    const talked = await max(["chat"], "her address?\n")
    expect(talked.stdout).toBe("I don't [2Jknow. Sorry.\n")
  })
})

describe("max sessions and max usage", () => {
  it("list, show and delete stored conversations", async () => {
    const list = JSON.parse((await max(["sessions", "list", "--json"])).stdout) as ReadonlyArray<{
      id: string
      turns: number
    }>
    expect(list.length).toBeGreaterThan(3)
    const { id } = list.find(({ turns }) => turns === 3)!
    const shown = await max(["sessions", "show", id])
    expect(shown.stdout).toContain("› number 2\nAda Byron's number is +1 512-555-0143.\n")
    expect(await max(["sessions", "delete", id])).toMatchObject({ code: 0 })
    expect(await max(["sessions", "show", id])).toMatchObject({ code: 1, stdout: "" })
    expect((await max(["sessions", "list"])).stdout).not.toContain(id)
  })

  it("report turns, tokens and dollars, optionally by person", async () => {
    const prices = { MAX_PRICES: "claude-haiku-5-5=1/5" }
    const rows = JSON.parse((await max(["usage", "--json"], undefined, prices)).stdout) as ReadonlyArray<
      Record<string, number>
    >
    const { dollars, inputTokens, outputTokens, turns } = rows[0]!
    expect(turns).toBeGreaterThan(5)
    expect(dollars).toBeCloseTo((inputTokens! + 5 * outputTokens!) / 1_000_000, 10)
    const table = await max(["usage", "--since", "7d", "--by", "person"])
    expect(table.stdout).toMatch(/Admin +claude-haiku-5-5 +\d+ +\d+ +\d+ +\d+ +\d+ +\d+ +unknown/)
    const byDay = await max(["usage", "--days", "7", "--by", "day", "--json"])
    expect(JSON.parse(byDay.stdout)[0]).toMatchObject({
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      turns,
      answered: expect.any(Number),
      declined: expect.any(Number),
      failed: expect.any(Number)
    })
    for (const wrong of [
      ["--days", "0"],
      ["--days", "10000"],
      ["--days", "7", "--since", "7d"],
      ["--by", "hour"]
    ])
      expect(await max(["usage", ...wrong]), wrong.join(" ")).toMatchObject({ code: 2 })
    expect(await max(["usage", "--since", "yesterday"])).toMatchObject({ code: 2 })
  })
})
