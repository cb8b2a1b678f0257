/** Requests to change in a conversation over HTTP: what each scope of a token permits. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import type { Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { addPeople } from "../../support/atlas.ts"
import { cellOf, changing } from "../../support/changes.ts"
import { migratedDatabase } from "../../support/database.ts"
import { lastIn, postTurn } from "../../support/eventStream.ts"
import { startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { calls, finds, inTurn, resultsIn, says, startMessages } from "../../support/messages.ts"

const scope = Scope.makeUnsafe()
let databaseUrl: string
let server: TestServer
let atlas: Organization
let ada: string

beforeAll(async () => {
  databaseUrl = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(databaseUrl, { provider: "basic" })
  atlas = (await server.run(changing("atlas"))).organization
  const [id] = await server.run(
    addPeople(atlas, [
      { name: "Ada Lovelace", status: "Lead" },
      { name: "Grace Hopper", status: "Won" }
    ])
  )
  ada = String(decodeId(id!))
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const tokenOf = async (email: string, scopes: ReadonlyArray<TokenScope>) =>
  (await server.run(memberWithToken(atlas, email, ["admin"], scopes))).token
const say = async (token: string, text: string, session?: string, at: TestServer = server) =>
  lastIn(await (await postTurn(at, token, { text, ...(session === undefined ? {} : { conversation: session }) })).all)

describe("a request to change in a conversation over HTTP", () => {
  it("is declined for a token that only chats", async () => {
    const chats = await tokenOf("chats@atlas.example", ["chat"])
    const answer = await say(chats, "set Ada Lovelace's status to Won")
    expect(answer).not.toHaveProperty("drafts")
    expect(answer.text).not.toContain("waits for your confirmation")
  })

  it("becomes a draft for a token that proposes, whose typed yes decides nothing", async () => {
    const proposes = await tokenOf("proposes@atlas.example", ["chat", "changes"])
    const answer = await say(proposes, "set Ada Lovelace's status to Won")
    expect(answer.drafts).toMatchObject([{ state: "open", level: "once", rows: 1 }])
    await say(proposes, "yes", answer.session)
    expect(await server.run(cellOf(atlas, ada, "status"))).toBe("Lead")
  })

  it("is applied by the typed yes of a token that confirms", async () => {
    const decides = await tokenOf("decides@atlas.example", ["chat", "changes", "confirm"])
    const answer = await say(decides, "set Ada Lovelace's status to Won")
    const done = await say(decides, "yes", answer.session)
    expect(done.text).toBe("Done: 1 person changed.")
    expect(await server.run(cellOf(atlas, ada, "status"))).toBe("Won")
  })

  it("that basic mode declines is answered whole: what it quotes claims no deed", async () => {
    const proposes = await tokenOf("unclear@atlas.example", ["chat", "changes"])
    for (const [text, reply] of [
      ["set Ada Updated's status to Won", "I couldn't find “Ada Updated”. Check the spelling."],
      [
        "set Ada Lovelace's status to Moved",
        "“Moved” isn't a status that I can see on any of the people. Use quotation marks if you mean it."
      ],
      ["make make high high priority priority", "or “cancel my next meeting with Ada Lovelace”."]
    ] as const)
      expect([text, (await say(proposes, text)).text]).toEqual([text, expect.stringContaining(reply)])
  })

  it("with two parts is one change, and none if a part of it is refused", async () => {
    const proposes = await tokenOf("parts@atlas.example", ["chat", "changes"])
    const both = await say(
      proposes,
      "set the phone of Grace Hopper to 512-555-0143 and set the phone of Ada Lovelace to 512-555-0142"
    )
    expect(both.drafts).toMatchObject([{ state: "open", rows: 2 }])
    const refused = await say(proposes, "mark Grace Hopper as won and delete Ada Lovelace")
    expect(refused.text).toContain("I can't draft all of that, so I haven't drafted anything. Nothing would change")
    expect(refused).not.toHaveProperty("drafts")
  })

  it("is drafted by a model as well", async () => {
    const messages = await startMessages(
      inTurn(
        finds("people", [["name", "eq", "Grace Hopper"]]),
        (request) =>
          calls([
            "requestAction",
            {
              actionId: "people.update",
              entityIds: [/\t(\w+)$/.exec(resultsIn(request)[0]!)![1]],
              values: ["status=Lost"]
            }
          ]),
        says("Her status would be Lost.")
      )
    )
    onTestFinished(() => messages.close())
    const at = await startServerForTest(databaseUrl, {
      provider: "anthropic",
      anthropicKey: Redacted.make("sk-test"),
      anthropicUrl: messages.url
    })
    const proposes = await tokenOf("asks@atlas.example", ["chat", "changes", "confirm"])
    const answer = await say(proposes, "set Grace Hopper's status to Lost", undefined, at)
    expect(answer.drafts).toMatchObject([{ state: "open", level: "once", rows: 1 }])
  })
})
