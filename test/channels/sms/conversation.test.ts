/** Conversations by text: bursts, order, choices, keywords, auto-responders, limits, pictures. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { MAX_LENGTH } from "../../../src/channels/sms/shapeReply.ts"
import { publish } from "../../support/agent.ts"
import { contextIn, finds, inTurn, says } from "../../support/messages.ts"
import { until } from "../../support/until.ts"
import { ADA, BOB, type Setting, startSetting, STRANGER } from "./setting.ts"

let s: Setting

beforeAll(async () => {
  s = await startSetting()
  await s.people([
    { name: "Ada Lovelace", phone: ADA, role: "admin" },
    { name: "Bob Byron", phone: BOB, role: "member" },
    { name: "Anton Hansen", status: "Lead", phone: "+15125550150" },
    { name: "Anton Hansen", status: "Customer", phone: "+15125550151" }
  ])
})
afterAll(() => s.stop())
beforeEach(() => s.reset())

/** The person's last message in a request to the model. */
const lastSaid = (index: number) => {
  const { content } = s.model.requests[index]!.body.messages.at(-1)!
  return typeof content === "string" ? content : content.at(-1)!.text
}
const states = async () =>
  (await s.sql<{ state: string }>("SELECT state FROM max.sms_inbox ORDER BY received_at")).map(({ state }) => state)

describe("messages of one sender", () => {
  it("in a burst are merged into one question with one answer", async () => {
    const { most, quiet } = s.timing.merging
    Object.assign(s.timing.merging, { quiet: 3, most: 60 })
    for (const part of ["who is", "Ada", "Lovelace", "?"]) await s.text(ADA, part)
    await s.quiet()
    Object.assign(s.timing.merging, { quiet, most })
    expect(s.heard(ADA)).toHaveLength(1)
    expect(s.model.requests).toHaveLength(1)
    expect(lastSaid(0)).toBe("who is\nAda\nLovelace\n?")
  })

  it("are answered in order, while other senders are answered concurrently", async () => {
    let first: (() => void) | undefined
    const waits = new Promise<void>((resolve) => (first = resolve))
    s.model.script = async (request) => {
      const { content } = request.messages.at(-1)!
      const said = typeof content === "string" ? content : content.at(-1)!.text
      if (said === "slow") await waits
      return says(`Said ${said}.`)
    }
    await s.text(ADA, "slow")
    await until(() => s.model.requests.length > 0)
    await s.text(ADA, "second")
    await s.text(BOB, "other")
    await until(() => s.heard(BOB).length > 0)
    expect(s.heard(ADA)).toEqual([])
    first!()
    await s.quiet()
    expect(s.heard(ADA)).toEqual(["I'm Max, for atlas. Said slow.", "Said second."])
  })

  it("continue the conversation: a bare number selects the choice offered under it", async () => {
    s.model.script = inTurn(
      finds("people", [["name", "eq", "Anton Hansen"]]),
      says("There are two called Anton Hansen. Which one do you mean?"),
      says("That one.")
    )
    const [asked] = await s.ask(ADA, "who is anton hansen?")
    expect(asked).toBe(
      "I'm Max, for atlas. There are two called Anton Hansen. Which one do you mean?\n1. Anton Hansen, Lead\n2. Anton Hansen, Customer\nReply 1 or 2."
    )
    expect(await s.ask(ADA, " 2. ")).toEqual(["That one."])
    expect(lastSaid(2)).toBe("number 2")
    expect(contextIn(s.model.requests[2]!.body)).toMatchObject({ focus: [{ name: "Anton Hansen" }, {}] })
    // The last answer offered no choices, so the number is plain text.
    await s.ask(ADA, "1")
    expect(lastSaid(3)).toBe("1")
  })

  it("with an opt-out keyword stop all texts until an opt-in keyword, and no keyword is answered", async () => {
    for (const word of [
      "stop",
      "STOPALL",
      " Unsubscribe ",
      "cancel",
      "End",
      "QUIT",
      "help",
      "INFO",
      "yes",
      "START",
      "Unstop"
    ]) {
      expect(await s.ask(ADA, word), word).toEqual([])
    }
    expect(await s.ask(ADA, "who is ada?")).toHaveLength(1)
    await s.ask(ADA, "STOP")
    expect(await s.ask(ADA, "who is ada?")).toEqual([])
    expect(await s.ask(ADA, "arrêt", { OptOutType: "STOP" })).toEqual([])
    expect((await states()).slice(-1)).toEqual(["keyword"])
    expect(await s.ask(STRANGER, "stop")).toEqual([])
    expect((await states()).slice(-3)).toEqual(["stopped", "keyword", "keyword"])
    await s.ask(ADA, "START")
    expect(await s.ask(ADA, "stop it, who is ada?")).toHaveLength(1)
    expect(s.model.requests).toHaveLength(2)
  })

  it("repeated with the same answer get no more answers after the third", async () => {
    const answers: Array<ReadonlyArray<string>> = []
    for (let round = 0; round < 6; round++) answers.push(await s.ask(ADA, "I'm out of the office."))
    expect(answers.map(({ length }) => length)).toEqual([1, 1, 1, 0, 0, 0])
    expect(s.model.requests).toHaveLength(3)
    expect(await s.ask(ADA, "who is ada?")).toHaveLength(1)
    // A different answer is not a repetition.
    let n = 0
    s.model.script = () => says(`Number ${(n += 1)}.`)
    for (let round = 0; round < 5; round++) expect(await s.ask(ADA, "another one")).toHaveLength(1)
  })

  it("with only a picture are answered without a model; text in every script reaches the model", async () => {
    expect(await s.ask(ADA, "", { NumMedia: "1", MediaUrl0: "https://api.twilio.com/x" })).toEqual([
      "I'm Max, for atlas. I can't open pictures or files. Please ask me in words."
    ])
    expect(s.model.requests).toHaveLength(0)
    const bodies = ["日本語", "مرحبا", "हिन्दी", "👩‍👩‍👧‍👦", "é e\u0301", "a\u0000b", "\u202eabc", "x".repeat(3999)]
    for (const body of bodies) expect(await s.ask(ADA, body), body.slice(0, 9)).toHaveLength(1)
    expect(s.model.requests).toHaveLength(bodies.length)
    expect(await s.ask(ADA, "x".repeat(10_000))).toEqual([
      "That's more than I can read at once. Please ask in at most 4,000 characters."
    ])
    expect(s.model.requests).toHaveLength(bodies.length)
    expect(await s.ask(ADA, "look", { NumMedia: "2" })).toHaveLength(1)
  })

  it("that take long to answer get one apology first", async () => {
    s.timing.apology = 0.05
    s.model.script = async () => {
      await until(() => s.heard(ADA).length > 0)
      return says("Here it is.")
    }
    expect(await s.ask(ADA, "something hard")).toEqual([
      "I'm Max, for atlas. Sorry, this is taking longer than usual. I'll text you the answer.",
      "I'm Max, for atlas. Here it is."
    ])
    s.timing.apology = 60
  })

  it("get short answers in the GSM-7 alphabet", async () => {
    s.model.script = () => says(`“Ada” — that’s it… • ${"word ".repeat(200)}`)
    const [answer] = await s.ask(ADA, "tell me all")
    expect(answer).toContain(`"Ada" - that's it... - word word`)
    expect(answer!.length).toBeLessThanOrEqual(MAX_LENGTH)
    expect(answer).toMatch(/word\.\.\.$/)
  })

  it("that fail get a notice with the reference of the trace", async () => {
    s.model.script = () => ({ status: 401, error: "authentication_error" })
    const [answer] = await s.ask(ADA, "who is ada?")
    expect(answer).toMatch(/^I'm Max, for atlas\. I can't answer right now\. .* \(ref [0-9A-Z]{4}\)$/)
    expect(await states()).toEqual(["failed"])
  })
})

describe("an answer that was planned under an older epoch", () => {
  it("is not sent; its question is answered again", async () => {
    s.model.script = inTurn(says("The old answer."), says("The new answer."))
    s.carrier.fate = () => ({ accept: false, status: 429, headers: { "retry-after": "1" } })
    await s.text(ADA, "who is ada?")
    await until(() => s.carrier.asked.send > 0)
    await s.run(publish(s.organization, (rules) => [...rules]))
    s.carrier.fate = () => ({})
    await s.quiet()
    expect(s.heard(ADA)).toEqual(["The new answer."])
    expect(s.model.requests).toHaveLength(2)
  })

  it("is answered again as well when a rule of its plan has ended since", async () => {
    s.model.script = inTurn(says("The old answer."), says("The new answer."))
    s.carrier.fate = () => ({ accept: false, status: 429, headers: { "retry-after": "1" } })
    const passing = { id: "passing", effect: "allow", role: "admin", action: "read", type: "people" } as const
    const at = Date.now() + 3000
    await s.run(
      publish(s.organization, (rules) => [...rules, { ...passing, columns: "*", notAfter: new Date(at).toISOString() }])
    )
    await s.text(ADA, "who is ada?")
    await until(() => s.carrier.asked.send > 0 && Date.now() > at)
    s.carrier.fate = () => ({})
    await s.quiet()
    expect(s.heard(ADA)).toEqual(["The new answer."])
    expect(s.model.requests).toHaveLength(2)
  })

  it("is not sent to a person whose membership was suspended", async () => {
    s.carrier.fate = () => ({ accept: false, status: 429, headers: { "retry-after": "1" } })
    await s.text(BOB, "who is ada?")
    await until(() => s.carrier.asked.send > 0)
    await s.sql(
      "UPDATE max.memberships m SET suspended_at = now() FROM max.identifiers i WHERE i.key = $1 AND i.anchor_id = m.anchor_id",
      [BOB]
    )
    await s.sql("UPDATE max.organizations SET epoch = epoch + 1")
    s.carrier.fate = () => ({})
    await s.quiet()
    expect(s.heard(BOB)).toEqual([expect.stringContaining("I can't answer this number")])
    await s.sql("UPDATE max.memberships SET suspended_at = NULL")
    await s.sql("UPDATE max.organizations SET epoch = epoch + 1")
  })
})

describe("limits on text messages", () => {
  let limited: Setting
  beforeAll(async () => {
    limited = await startSetting({ smsPerNumber: 3, smsSegments: 8 })
    await limited.people([{ name: "Ada Lovelace", phone: ADA, role: "admin" }])
  })
  afterAll(() => limited.stop())

  it("bound the turns of a number in an hour, and say so once", async () => {
    const heard: Array<ReadonlyArray<string>> = []
    for (let n = 0; n < 6; n++) heard.push(await limited.ask(ADA, `question ${n}`))
    expect(heard.map(({ length }) => length)).toEqual([1, 1, 1, 1, 0, 0])
    expect(heard[3]).toEqual(["That's a lot of messages in one hour. Please try again later."])
    expect(limited.model.requests).toHaveLength(3)
  })

  it("bound the segments of an organization in a day, of which refusals get half", async () => {
    await limited.reset()
    const strangers = Array.from({ length: 8 }, (_, index) => `+1512555080${index}`)
    for (const stranger of strangers) await limited.text(stranger, "hello")
    await limited.quiet()
    expect(limited.carrier.accepted).toHaveLength(4)
    await limited.sql("UPDATE max.sms_senders SET in_hour = 0")
    for (let n = 0; n < 6; n++) {
      await limited.sql("UPDATE max.sms_senders SET in_hour = 0")
      await limited.ask(ADA, `question ${n}`)
    }
    expect(limited.heard(ADA)).toHaveLength(4)
    const log = await limited.log()
    expect(log.filter(({ error }: any) => error === "day's limit")).toHaveLength(6)
    expect(log.every(({ state, error }: any) => error === undefined || state === "dead")).toBe(true)
  })
})
