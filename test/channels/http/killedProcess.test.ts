/** A process that answers a named turn is killed: another one answers it, once. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { connect } from "../../../src/channels/http/client.ts"
import { runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { begun, blocksIn, lastIn, postTurn, resumeTurn } from "../../support/eventStream.ts"
import { serveForTest } from "../../support/http.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let env: Record<string, string> = {}
let token = ""

beforeAll(async () => {
  messages = await startMessages()
  env = {
    DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_HTTP_PORT: "0",
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: messages.url
  }
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"],
    ["member", "add", "ada@atlas.example", "--role", "admin", "--create"]
  ]) {
    expect(await runMax(args, env)).toMatchObject({ code: 0 })
  }
  token = (
    await runMax(["token", "create", "ada@atlas.example", "--name", "test", "--scope", "chat"], env)
  ).stdout.trim()
})

afterAll(async () => {
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

it("a turn whose process was killed is answered by another process, once, in the conversation that it continues", async () => {
  const servers = [await serveForTest(env), await serveForTest(env), await serveForTest(env)] as const
  const [killed, follows, retries] = servers
  messages.reset(() => says("Hello there."))
  const { session } = lastIn(await (await postTurn(follows, token, { text: "begin" })).all)
  messages.reset((_, index) =>
    index === 0 ? says("A long story. ".repeat(100), { pace: 300, piece: 6 }) : says("Short.")
  )
  const said = { text: "a story", turn: "killed", conversation: session }
  const first = await postTurn(killed, token, said)
  const follower = await postTurn(follows, token, said)
  await begun(first)
  await begun(follower)
  killed.end("SIGKILL")
  await killed.ended
  const heard = blocksIn(first.text()).length
  const streams = [
    follower,
    await postTurn(retries, token, said),
    await resumeTurn(retries, token, "killed", heard),
    await resumeTurn(follows, token, "killed", heard)
  ]
  for (const stream of streams) {
    expect(lastIn(await stream.all)).toMatchObject({ _tag: "done", text: "Short.", session })
    const kinds = blocksIn(stream.text()).map((block) => /event: (\w+)/.exec(block)![1])
    // What the killed process has sent is retracted.
    expect(kinds.slice(kinds.indexOf("retract"))).toEqual(["retract", "delta", "done"])
    const numbers = blocksIn(stream.text()).map((block) => Number(/id: (\d+)/.exec(block)![1]))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  }
  expect(messages.requests).toHaveLength(2)
  const { turns } = await connect({ url: retries.url, token }).conversations.get(session)
  expect(turns.map(({ answered, asked }) => [asked, answered])).toEqual([
    ["begin", "Hello there."],
    ["a story", "Short."]
  ])
})
