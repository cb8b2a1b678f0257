/**
 * The token cost of a conversation (o200k, of everything that is sent): a lookup and a follow-up, through the real SDK,
 * against a scripted local server and a new embedded database.
 */
import { Effect, Layer, Redacted, Stream } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MaxAgent } from "../src/agents/MaxAgent.ts"
import { anthropicStep } from "../src/agents/providers/AnthropicStep.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { ToolHandlers } from "../src/tools/handlers.ts"
import { addPeople, asMember, makeOrganization } from "../test/support/atlas.ts"
import { contextIn, finds, inTurn, type MessagesServer, says, startMessages } from "../test/support/messages.ts"
import type { Measured } from "./figures.ts"

const ADMIN = "admin@harbor.example"
const MAX_CALLS = 4
const MAX_TOKENS = 4000

export const tokens = (quiet: boolean) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const home = mkdtempSync(join(tmpdir(), "max-bench-data-"))
      chmodSync(home, 0o755)
      return { home, server: await startMessages() }
    }),
    ({ home, server }) =>
      conversation(server, quiet).pipe(
        Effect.provide(
          MaxAgent.layer.pipe(
            Layer.provideMerge(anthropicStep({ key: Redacted.make("none"), model: "scripted", url: server.url })),
            Layer.provideMerge(ToolHandlers),
            Layer.provideMerge(Services),
            Layer.provideMerge(ConfiguredDatabase),
            Layer.provideMerge(
              Env.layerWith({ databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") })
            )
          )
        )
      ),
    ({ home, server }) =>
      Effect.promise(async () => {
        await server.close()
        rmSync(home, { recursive: true, force: true })
      })
  )

const conversation = Effect.fnUntraced(function* (server: MessagesServer, quiet: boolean) {
  const agent = yield* MaxAgent
  const organization = yield* makeOrganization("harbor")
  yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
  yield* asMember(organization, ADMIN, "admin")
  server.script = inTurn(
    finds("people", [["name", "eq", "Ada Lovelace"]], { selectColumns: ["company"] }),
    says("Ada Lovelace is a customer. Shall I look up how to reach her?"),
    (request) => {
      const { focus } = contextIn(request) as { readonly focus: ReadonlyArray<{ readonly id: string }> }
      return finds("people", [["id", "eq", focus[0]!.id]], { selectColumns: ["phone"] })
    },
    says("Ada Lovelace's phone number is +1 512-555-0142.")
  )
  let session: string | undefined
  for (const text of ["who is Ada Lovelace", "and her phone?"]) {
    const events = yield* Stream.runCollect(
      agent.turn({ organization, who: { kind: "email", key: ADMIN }, session, say: { text } })
    )
    const last = [...events].at(-1)
    if (last?._tag !== "done") return yield* Effect.die(new Error("The conversation has no answer"))
    session = last.session
  }
  // Counts the JSON as sent, which is more than the model's input.
  const sent = server.requests.map(({ body }) => ({
    fixed: encode(JSON.stringify([body.system, body.tools])).length,
    said: encode(JSON.stringify(body.messages)).length
  }))
  const total = sent.reduce((sum, { fixed, said }) => sum + fixed + said, 0)
  if (!quiet) {
    console.log(
      `Two questions: ${sent.length} model calls, ${total} tokens in (o200k): ${sent.map(({ fixed, said }) => `${fixed} + ${said}`).join(", ")}`
    )
  }
  return [
    measured("model calls for a lookup and a follow-up, of 4", sent.length / MAX_CALLS),
    measured("input tokens for a lookup and a follow-up, of 4,000", total / MAX_TOKENS)
  ]
})

const measured = (scenario: string, ratio: number): Measured => ({ scenario, ratio, target: 1 })
