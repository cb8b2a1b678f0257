import { layer } from "@effect/vitest"
import Anthropic from "@anthropic-ai/sdk"
import { ai, type AxAIArgs } from "@ax-llm/ax"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, describe, expect, it as test } from "vitest"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { anthropicDefinitions, anthropicTools } from "../../src/tools/anthropic.ts"
import { toolDefinitions } from "../../src/tools/definitions.ts"
import { axFunctions, maxProgram } from "../../src/tools/ax.ts"
import { toolCaller } from "../../src/tools/caller.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { TestServices } from "../support/database.ts"
import { finds, inTurn, resultsIn, says, startMessages } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())

/** Redirects Ax's requests to the scripted server: Ax has no setting for Anthropic's base URL. */
const toScripted: typeof fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input)
  return fetch(new URL(url.pathname, server.url), init)
}

const callerOfAdmin = Effect.gen(function* () {
  const organization = yield* makeOrganization(`p-${Math.random().toString(36).slice(2)}`)
  yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
  const { principal } = yield* asMember(organization, "admin@atlas.example", "admin")
  return yield* toolCaller.pipe(Effect.provideService(CurrentPrincipal, principal))
})

const INVALID_CALLS: ReadonlyArray<readonly [name: string, input: unknown]> = [
  ["findEntities", {}],
  ["findEntities", { entityTypeId: "people", filters: "all" }],
  ["findEntities", { entityTypeId: 5, filters: [] }],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "drop", value: "x" }] }],
  ["findEntities", { entityTypeId: "secrets", filters: [] }],
  ["findEntities", { entityTypeId: "people", filters: [], limit: 1e9 }],
  ["listColumnsForType", { entityTypeId: null }],
  ["listColumnsForType", undefined],
  ["findEntities", "people"],
  ["findEntities", null]
]

layer(ToolHandlers.pipe(Layer.provideMerge(TestServices)), { excludeTestServices: true })(
  "the tools for other libraries",
  (it) => {
    it.effect("answer every invalid call with text and never throw", () =>
      Effect.gen(function* () {
        const call = yield* callerOfAdmin
        const functions = axFunctions(call)
        const tools = anthropicTools(call)
        for (const [name, input] of INVALID_CALLS) {
          const outcome = yield* Effect.promise(() => call(name, input))
          expect(outcome, JSON.stringify([name, input])).toMatchObject({ failed: true, unavailable: false })
          const byAx = yield* Effect.promise(async () =>
            String(await functions.find((one) => one.name === name)!.func!(input as never))
          )
          const byTool = yield* Effect.promise(() => tools.find((one) => one.name === name)!.run(input))
          expect(byTool).toBe(outcome.text)
          // Ax passes an empty object where there is no input.
          if (input !== undefined && input !== null) expect(byAx).toBe(outcome.text)
        }
        expect(yield* Effect.promise(() => call("dropTables", {}))).toMatchObject({ failed: true })
      })
    )

    it.effect("run in the tool loop of Anthropic's SDK", () =>
      Effect.gen(function* () {
        const call = yield* callerOfAdmin
        server.reset(inTurn(finds("people", [["name", "eq", "Ada Lovelace"]]), says("A customer.")))
        const client = new Anthropic({ apiKey: "sk-test", baseURL: server.url, maxRetries: 0 })
        const message = yield* Effect.promise(async () => {
          const stream = client.messages.stream({
            model: "claude-haiku-5-5",
            max_tokens: 256,
            tools: anthropicDefinitions(toolDefinitions),
            messages: [{ role: "user", content: "who is Ada Lovelace?" }]
          })
          return stream.finalMessage()
        })
        const use = message.content.find((block) => block.type === "tool_use")!
        const text = yield* Effect.promise(() =>
          anthropicTools(call)
            .find(({ name }) => name === use.name)!
            .run(use.input)
        )
        expect(text).toContain("Ada Lovelace\tCustomer")
        expect(server.requests[0]!.rejected).toBeUndefined()
      })
    )

    it.effect("run as an Ax program", () =>
      Effect.gen(function* () {
        const call = yield* callerOfAdmin
        server.reset(
          inTurn(finds("people", [["name", "eq", "Ada Lovelace"]]), says("Reply: Ada Lovelace is a customer."))
        )
        const service = ai({
          name: "anthropic",
          apiKey: "sk-test",
          config: { model: "claude-haiku-5-5", stream: false },
          options: { fetch: toScripted }
        } as unknown as AxAIArgs<string>)
        const { reply } = yield* Effect.promise(() =>
          maxProgram(call).forward(service, { question: "who is Ada Lovelace?" }, { stream: true })
        )
        expect(reply).toBe("Ada Lovelace is a customer.")
        expect(resultsIn(server.requests[1]!.body)[0]).toContain("Ada Lovelace\tCustomer")
        expect(server.requests.map(({ rejected }) => rejected)).toEqual([undefined, undefined])
      })
    )
  }
)

describe("max-agent as a library", () => {
  test("loads neither SDK", async () => {
    const library = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist", "lib", "index.js")
    const probe = `
      import { register } from "node:module"
      register("data:text/javascript," + encodeURIComponent("export async function load(url, context, next) { if (/anthropic-ai|ax-llm/.test(url)) throw new Error('loaded ' + url); return next(url, context) }"))
      await import(${JSON.stringify(library)})
      console.log("neither")`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", probe])
    expect(stdout).toBe("neither\n")
  })
})
