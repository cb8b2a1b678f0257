/** Delivery of texts: exactly once and in order through every failure of a carrier; delivery reports; what is recorded. */
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { SmsOutbox } from "../../../src/services/texting/SmsOutbox.ts"
import { ACCOUNT, type Fate, messageFrom, OURS, post } from "../../support/carrier.ts"
import { says } from "../../support/messages.ts"
import { until } from "../../support/until.ts"
import { watched } from "../../support/watched.ts"
import { ADA, BOB, type Setting, startSetting, STRANGER } from "./setting.ts"

let s: Setting
const seen = watched()

beforeAll(async () => {
  s = await startSetting({}, { sending: 0.3 }, seen.layer)
  await s.people([
    { name: "Ada Lovelace", phone: ADA, role: "admin" },
    { name: "Bob Byron", phone: BOB, role: "member" }
  ])
})
afterAll(() => s.stop())
beforeEach(() => s.reset())

interface TextRow {
  readonly text_id: string
  readonly state: string
  readonly error: string | null
  readonly attempts: number
  readonly provider_id: string | null
}
const texts = () =>
  s.sql<TextRow>("SELECT text_id, state, error, attempts, provider_id FROM max.sms_outbox ORDER BY created_at")

/** Skips every pause until a condition holds. */
const skipPausesUntil = (condition: () => boolean | Promise<boolean>) =>
  until(async () => {
    await s.sql("UPDATE max.sms_outbox SET next_at = next_at - interval '1 hour' WHERE state IN ('queued', 'trying')")
    await s.sql("UPDATE max.sms_senders SET due_at = now() WHERE lease IS NULL AND due_at IS NOT NULL")
    return condition()
  })

/** Skips every pause until nothing waits in the inbox or the outbox. */
const drain = () =>
  skipPausesUntil(async () => {
    const [left] = await s.sql<{ n: number }>(
      `SELECT (SELECT count(*) FROM max.sms_outbox WHERE state IN ('queued', 'trying'))::int
        + (SELECT count(*) FROM max.sms_inbox WHERE state = 'waiting')::int AS n`
    )
    return left!.n === 0
  }).catch(async (error: unknown) => {
    console.log(
      await s.sql("SELECT state, attempts, next_at FROM max.sms_outbox WHERE state IN ('queued', 'trying')"),
      await s.sql("SELECT state FROM max.sms_inbox WHERE state = 'waiting'"),
      await s.sql("SELECT lease, leased_until, due_at, stopped_at FROM max.sms_senders"),
      s.carrier.asked
    )
    throw error
  })

/** Scripts the carrier's responses to the first texts, in order; it accepts the rest. */
const fates = (...list: ReadonlyArray<Fate>) => {
  let n = 0
  s.carrier.fate = () => list[n++] ?? {}
}

describe("an inbound message", () => {
  it("delivered fifty times concurrently is answered once", async () => {
    const params = messageFrom(ADA, "who is ada?")
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(s, params)))
    expect(answers.every(({ status, text }) => status === 200 && text === "<Response/>")).toBe(true)
    await s.quiet()
    // One more redelivery, after the answer.
    expect((await post(s, params)).status).toBe(200)
    await s.quiet()
    expect(s.model.requests).toHaveLength(1)
    expect(s.heard(ADA)).toEqual(["I'm Max, for atlas. Hello there."])
    expect(await s.sql("SELECT 1 FROM max.turns")).toHaveLength(1)
  })

  it("is acknowledged while a long turn is running", async () => {
    let end: (() => void) | undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    s.model.script = async () => {
      await ended
      return says("At last.")
    }
    await s.text(ADA, "something hard")
    await until(() => s.model.requests.length > 0)
    const took: Array<number> = []
    const deadline = performance.now() + 1000 * Number(process.env["SMS_TURN_SECONDS"] ?? 0)
    for (let n = 0; n < 100 || performance.now() < deadline; n++) {
      const started = performance.now()
      await s.text(n % 2 === 0 ? ADA : STRANGER, `message ${n}`)
      took.push(performance.now() - started)
    }
    expect(s.heard(ADA)).toEqual([])
    took.sort((a, b) => a - b)
    const at = (share: number) => `${took[Math.floor(took.length * share)]!.toFixed(1)} ms`
    console.log(`${took.length} webhooks during a turn: p50 ${at(0.5)}, p95 ${at(0.95)}`)
    end!()
    await s.quiet()
    expect(s.heard(ADA)[0]).toBe("I'm Max, for atlas. At last.")
  })
})

describe("an outbound text", () => {
  const WRONG: Readonly<Record<string, Fate>> = {
    "429": { accept: false, status: 429, headers: { "retry-after": "1" } },
    "500, not accepted": { accept: false, status: 500 },
    "500, accepted": { accept: true, status: 500 },
    "no response, not accepted": { accept: false, ends: "never" },
    "no response, accepted": { accept: true, ends: "never" },
    "a truncated response": { accept: true, ends: "half" },
    "a broken connection, not accepted": { accept: false, ends: "broken" },
    "a broken connection, accepted": { accept: true, ends: "broken" }
  }

  it.each(Object.keys(WRONG))("arrives exactly once after %s", async (name) => {
    fates(WRONG[name]!, WRONG[name]!)
    await s.text(ADA, "first")
    await until(() => s.carrier.asked.send > 0)
    await s.text(ADA, "second")
    await drain()
    const answers = ["I'm Max, for atlas. Hello there.", "Hello there."]
    expect(s.heard(ADA)).toEqual(answers)
    const rows = await texts()
    expect(rows.map(({ state }) => state)).toEqual(["accepted", "accepted"])
    expect(rows.map(({ provider_id: id }) => id)).toEqual(s.carrier.accepted.map(({ sid }) => sid))
  })

  it("refused permanently is dead, and does not block the next text", async () => {
    fates({ status: 400, code: 21610 })
    await s.text(ADA, "first")
    await s.quiet()
    expect(await s.ask(ADA, "second")).toEqual(["Hello there."])
    expect(await texts()).toMatchObject([
      { state: "dead", error: "21610", attempts: 1 },
      { state: "accepted", error: null, attempts: 1 }
    ])
  })

  it("is abandoned after eight attempts, or after an hour", async () => {
    s.carrier.fate = () => ({ accept: false, status: 503 })
    await s.text(ADA, "first")
    await drain()
    expect(await texts()).toMatchObject([{ state: "dead", error: "20500", attempts: 8 }])
    expect(s.carrier.asked).toEqual({ send: 8, list: 8 })
    await s.reset()
    s.carrier.fate = () => ({ accept: false, status: 429 })
    await s.text(BOB, "first")
    await until(() => s.carrier.asked.send > 0)
    await s.sql("UPDATE max.sms_outbox SET created_at = created_at - interval '2 hours'")
    await drain()
    expect((await texts()).map(({ state }) => state)).toEqual(["dead"])
  })

  it("is not sent again while the carrier cannot say whether it accepted it", async () => {
    s.carrier.listing = 503
    fates({ accept: true, ends: "broken" })
    await s.text(ADA, "first")
    await skipPausesUntil(() => s.carrier.asked.list >= 4)
    expect(s.carrier.asked.send).toBe(1)
    s.carrier.listing = 200
    await drain()
    expect(s.heard(ADA)).toHaveLength(1)
  })

  it("is retried until the carrier accepts the account again", async () => {
    const account = ACCOUNT
    await s.sql("UPDATE max.sms_numbers SET account = 'ACother'")
    const params = messageFrom(ADA, "hello", { AccountSid: "ACother" })
    expect((await post(s, params)).status).toBe(200)
    const rejectedTwice = async () => {
      const [text] = await texts()
      return text !== undefined && text.attempts >= 2 && text.state === "queued" && text.error === "20003"
    }
    await skipPausesUntil(rejectedTwice)
    await s.sql("UPDATE max.sms_numbers SET account = $1", [account])
    await drain()
    expect(s.heard(ADA)).toHaveLength(1)
  })
})

describe("the delivery state of a text", () => {
  const report = (id: string, state: string, more: Record<string, string> = {}) =>
    post(
      s,
      {
        MessageSid: s.carrier.accepted[0]!.sid,
        MessageStatus: state,
        AccountSid: ACCOUNT,
        From: OURS,
        To: ADA,
        ...more
      },
      { path: `/v1/sms/twilio/status/${id}` }
    )

  it("only advances, in whatever order reports arrive", async () => {
    await s.ask(ADA, "hello")
    const [{ text_id: id }] = (await texts()) as [TextRow]
    expect(s.carrier.accepted[0]!.callback).toBe(`https://max.example.com/v1/sms/twilio/status/${id}`)
    const after: Array<string> = []
    for (const state of ["sent", "queued", "sending", "constructor", "delivered", "sent", "failed", "queued"]) {
      expect((await report(id, state)).status, state).toBe(200)
      after.push((await texts())[0]!.state)
    }
    expect(after).toEqual(["sent", "sent", "sent", "sent", "delivered", "delivered", "delivered", "delivered"])
    expect((await s.log())[0]).toMatchObject({
      direction: "out",
      state: "delivered",
      person: { name: "Ada Lovelace" },
      number: "…0142",
      segments: 1
    })
  })

  it("stores the carrier's error code, and ignores reports for other texts and forged ones", async () => {
    await s.ask(ADA, "hello")
    const [{ text_id: id }] = (await texts()) as [TextRow]
    expect((await report(id, "delivered", { MessageSid: `SM${"9".repeat(32)}` })).status).toBe(200)
    expect((await report("unknown", "delivered")).status).toBe(200)
    expect((await texts())[0]!.state).toBe("accepted")
    await report(id, "undelivered", { ErrorCode: "30003", ErrorMessage: `Unreachable ${ADA}` })
    expect(await texts()).toMatchObject([{ state: "undelivered", error: "30003" }])
    const forged = { MessageSid: "SM1", MessageStatus: "delivered", AccountSid: ACCOUNT, From: OURS, To: ADA }
    expect((await post(s, forged, { path: `/v1/sms/twilio/status/${id}`, signature: "x" })).status).toBe(403)
  })

  it("advances when a report is the only evidence that the carrier accepted the text", async () => {
    s.carrier.listing = 503
    fates({ accept: true, ends: "broken" })
    await s.text(ADA, "hello")
    await until(() => s.carrier.asked.send > 0)
    const [{ text_id: id }] = (await texts()) as [TextRow]
    expect((await report(id, "delivered")).status).toBe(200)
    await drain()
    expect(await texts()).toMatchObject([{ state: "delivered", attempts: 1, provider_id: s.carrier.accepted[0]!.sid }])
  })
})

describe("the record of a conversation by text", () => {
  it("contains no phone number and no message text, in spans and logs alike, whatever fails", async () => {
    const canary = "qzcanaryqz"
    s.model.script = () => says(`You said ${canary}.`)
    fates({ accept: true, ends: "half" }, { status: 400, code: 21211 }, { accept: false, status: 429 })
    await s.text(ADA, `${canary} one`)
    await until(() => s.carrier.asked.send > 0)
    await s.text(ADA, `${canary} two`)
    await s.text(STRANGER, canary)
    await s.text(BOB, "", { NumMedia: "1" })
    await s.text(BOB, "STOP")
    await post(s, messageFrom(ADA, canary), { signature: "forged" })
    await drain()
    const recorded = seen.recorded()
    expect(recorded).toContain("sms turn")
    expect(recorded).toContain("POST /v1/sms/twilio")
    for (const number of [ADA, BOB, STRANGER, OURS]) {
      for (const form of [number, number.slice(1), number.slice(2), encodeURIComponent(number)]) {
        expect(recorded.includes(form), form).toBe(false)
      }
    }
    expect(recorded).not.toContain(canary)
    const log = JSON.stringify(await s.log())
    expect(log).not.toContain(canary)
    expect(log).not.toContain(ADA.slice(2))
    expect(JSON.stringify(await s.log(true))).toContain(canary)
  })

  it("loses its bodies after the retention period and its rows a year later", async () => {
    await s.ask(ADA, "hello")
    await s.sql("UPDATE max.sms_inbox SET received_at = received_at - interval '40 days'")
    await s.sql("UPDATE max.sms_outbox SET created_at = created_at - interval '40 days'")
    const prune = (days: number) => s.run(Effect.flatMap(SmsOutbox, (outbox) => outbox.prune(days)))
    await prune(41)
    expect((await s.log(true)).every(({ body }: any) => body !== "")).toBe(true)
    await prune(39)
    expect((await s.log(true)).map(({ body, state }: any) => [state, body])).toEqual([
      ["accepted", ""],
      ["answered", ""]
    ])
    await s.sql("UPDATE max.sms_inbox SET received_at = received_at - interval '370 days'")
    await s.sql("UPDATE max.sms_outbox SET created_at = created_at - interval '370 days'")
    await prune(39)
    expect(await s.log()).toEqual([])
  })

  it("loses its bodies after the organization's own days, if these are fewer", async () => {
    await s.ask(ADA, "hello")
    await s.sql("UPDATE max.sms_inbox SET received_at = received_at - interval '8 days'")
    await s.sql("UPDATE max.sms_outbox SET created_at = created_at - interval '8 days'")
    const bodies = async () => {
      await s.run(Effect.flatMap(SmsOutbox, (outbox) => outbox.prune(30)))
      return (await s.log(true)).filter(({ body }: any) => body !== "").length
    }
    expect(await bodies()).toBe(2)
    await s.sql("UPDATE max.organizations SET conversation_days = 7")
    expect(await bodies()).toBe(0)
    await s.sql("UPDATE max.organizations SET conversation_days = NULL")
  })
})

describe("a failure outside of a turn", () => {
  it("is logged at WARN with the reference of its trace", async () => {
    const before = seen.lines.length
    await s.sql("ALTER TABLE max.sms_outbox RENAME TO sms_outbox_away")
    try {
      await s.text(ADA, "hello")
      await until(() => seen.lines.slice(before).some((line) => line.includes("Text messages are held back")))
    } finally {
      await s.sql("ALTER TABLE max.sms_outbox_away RENAME TO sms_outbox")
    }
    const line = seen.lines.slice(before).find((one) => one.includes("Text messages are held back"))
    expect(line).toMatch(/level=WARN .*\bref=[0-9A-Z]{4}\b/)
    await s.reset()
  })
})
