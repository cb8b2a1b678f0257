/** Answers are shown only under the rights that they were made from: the roles of the caller's token, and rules in force. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { connect, type TurnEvent } from "../../../src/channels/http/client.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Database } from "../../../src/database/Database.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { publish } from "../../support/agent.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, startServer, type TestServer } from "../../support/http.ts"
import { finds, type MessagesServer, type Reply, says, startMessages } from "../../support/messages.ts"
import { startProvider } from "../../support/provider.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let server: TestServer
let provider: Awaited<ReturnType<typeof startProvider>>
let organization: Organization

beforeAll(async () => {
  messages = await startMessages()
  provider = await startProvider()
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url
  })
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
      const providers = yield* IdentityProviders
      yield* providers.add(organization, { issuer: provider.issuer, audience: "max", roleClaim: "groups" })
      const members = yield* Memberships
      yield* members.add(organization, { identifier: "lena@atlas.example", roles: ["member"], create: {} })
    })
  )
})

afterAll(async () => {
  await server.stop()
  await provider.stop()
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const PHONE = "(512) 555-0142"
const answer: Reply = says(`Ada Lovelace's number is ${PHONE}.`)

/** The model looks Ada up and answers with her number, in every turn. */
beforeEach(() =>
  messages.reset(({ messages: said }) =>
    JSON.stringify(said.at(-1)).includes("tool_result")
      ? answer
      : finds("people", [["name", "eq", "Ada Lovelace"]], { selectColumns: ["phone"] })
  )
)

/** A client with a new token of the same person, with these roles. */
const withRoles = async (...groups: ReadonlyArray<string>) => {
  const person = { sub: "lena", email: "lena@atlas.example", email_verified: true }
  const token = await provider.sign({ ...person, groups, jti: String(Math.random()) })
  return { ...connect({ url: server.url, token }), token }
}
type Client = Awaited<ReturnType<typeof withRoles>>

const say = async (client: Client, request: Parameters<Client["chat"]>[0]) => {
  let last: TurnEvent | undefined
  for await (const event of client.chat(request)) last = event
  if (last?._tag !== "done") throw new Error(`ended with ${JSON.stringify(last)}`)
  return last
}
const answers = async (client: Client, session: string) => (await client.conversations.get(session)).turns
const heldBy = async ({ token }: Client): Promise<ReadonlyArray<string>> => {
  const { json } = await ask(server.url, "/v1/chat", { headers: { authorization: `Bearer ${token}` } })
  return json.turns.map(({ turn }: { turn: string }) => turn)
}
const resumed = async (client: Client, turn: string) => {
  const all: Array<TurnEvent> = []
  for await (const event of client.resume(turn)) all.push(event)
  return JSON.stringify(all)
}

/** Gives Lena's role a rule that ends at a moment, asks under it, and calls `use` before and after. */
const askUnderRule = async (suffix: string) => {
  // On a slow machine the rule may end before the answer. Then a later moment is chosen.
  for (let delay = 2000; ; delay *= 3) {
    const at = Date.now() + delay
    await server.run(
      publish(organization, (rules) => [
        ...rules.filter(({ id }) => id !== "passing"),
        {
          id: "passing",
          effect: "allow",
          role: "member",
          action: "read",
          type: "people",
          columns: ["name", "phone"],
          notAfter: new Date(at).toISOString()
        }
      ])
    )
    const client = await withRoles("member")
    try {
      const { session } = await say(client, { text: "ada's phone?", turn: `${suffix}-${delay}` })
      const before = await answers(client, session)
      if (Date.now() < at)
        return { before, client, session, turn: `${suffix}-${delay}`, ended: sleep(at - Date.now() + 20) }
    } catch (error) {
      if (Date.now() < at) throw error
    }
  }
}

describe("an answer given with a role of the token", () => {
  it("is shown under another token of the same person with the same roles, in any order", async () => {
    const { session } = await say(await withRoles("admin", "member"), { text: "ada's phone?", turn: "same" })
    const again = await withRoles("member", "admin")
    expect((await answers(again, session))[0]).toMatchObject({
      answered: expect.stringContaining(PHONE),
      references: [{ name: "Ada Lovelace", cells: [{ value: "+1 512-555-0142" }] }]
    })
    expect(await heldBy(again)).toEqual(["same"])
    expect(await resumed(again, "same")).toContain(PHONE)
  })

  it("is not shown without that role: neither in the conversation, nor as a held turn, nor to the model", async () => {
    const boss = await withRoles("admin")
    const { session } = await say(boss, { text: "ada's phone?", turn: "boss" })
    expect(JSON.stringify(await answers(boss, session))).toContain(PHONE)
    for (const groups of [["member"], []]) {
      const lesser = await withRoles(...groups)
      const [shown] = await answers(lesser, session)
      expect(shown).toMatchObject({ asked: "ada's phone?" })
      expect(Object.keys(shown!)).not.toEqual(expect.arrayContaining(["answered"]))
      expect(JSON.stringify(shown)).not.toMatch(/555|Lovelace/)
      expect(await heldBy(lesser)).toEqual([])
      await expect(resumed(lesser, "boss")).rejects.toMatchObject({ _tag: "NotFound" })
      await expect(lesser.stop("boss")).rejects.toMatchObject({ _tag: "NotFound" })
    }
    messages.reset(() => says("Hello there."))
    await say(await withRoles("member"), { text: "hello", conversation: session })
    expect(JSON.stringify(messages.requests)).not.toMatch(/555-0142|number is/)
    // The role is back: so is its answer, and only its answer.
    expect((await answers(await withRoles("admin"), session)).map(({ answered }) => answered !== undefined)).toEqual([
      true,
      false
    ])
  })
})

describe("a held answer of an earlier epoch", () => {
  it("is neither listed nor resumed nor stopped, and its name is free", async () => {
    const boss = await withRoles("admin")
    await say(boss, { text: "ada's phone?", turn: "epoch" })
    expect(await heldBy(boss)).toContain("epoch")
    await server.run(Effect.flatMap(Database, ({ owner }) => owner`UPDATE max.organizations SET epoch = epoch + 1`))
    expect(await heldBy(boss)).toEqual([])
    await expect(resumed(boss, "epoch")).rejects.toMatchObject({ _tag: "NotFound" })
    await expect(boss.stop("epoch")).rejects.toMatchObject({ _tag: "NotFound" })
    await say(boss, { text: "another question", turn: "epoch" })
    expect(await heldBy(boss)).toEqual(["epoch"])
  })
})

describe("an answer given under a rule with an end", () => {
  it("is shown until the rule ends and never after", async () => {
    const { before, client, ended, session, turn } = await askUnderRule("ends")
    expect(JSON.stringify(before)).toContain(PHONE)
    await ended
    const [shown] = await answers(client, session)
    expect(shown).toMatchObject({ asked: "ada's phone?" })
    expect(JSON.stringify(shown)).not.toMatch(/555|Lovelace/)
    expect(await heldBy(client)).toEqual([])
    await expect(resumed(client, turn)).rejects.toMatchObject({ _tag: "NotFound" })
    messages.reset(() => says("Hello there."))
    await say(client, { text: "hello", conversation: session })
    expect(JSON.stringify(messages.requests)).not.toMatch(/555-0142|number is/)
  })

  it("that an earlier version stored without a basis is shown to operators only", async () => {
    const boss = await withRoles("admin")
    const { session } = await say(boss, { text: "ada's phone?" })
    await server.run(
      Effect.flatMap(Database, ({ owner }) => owner`UPDATE max.turns SET basis = NULL, expires_at = NULL`)
    )
    expect(JSON.stringify(await answers(boss, session))).not.toMatch(/555|Lovelace/)
  })
})
