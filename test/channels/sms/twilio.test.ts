/** Twilio's requests and responses, over real HTTP: each response's outcome, and what its webhooks mean. */
import { Effect, Redacted } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { makeTwilio } from "../../../src/channels/sms/twilio.ts"
import { twilioSignature } from "../../../src/channels/sms/twilioSignature.ts"
import { ACCOUNT, OURS, PUBLIC_URL, TOKEN } from "../../support/carrier.ts"
import { startService } from "../../support/service.ts"

const THEIRS = "+18015550101"
const SID = "SM0123456789"
const account = { account: ACCOUNT, secret: Redacted.make(TOKEN) }
const text = { from: OURS, to: THEIRS, body: "Ada is in." }

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())
beforeEach(() => service.answers())

const provider = (timeout = 20_000, url = service.url) => makeTwilio({ url, timeout })
const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  service.answers((_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  })
const send = (timeout?: number, url?: string) => Effect.runPromise(provider(timeout, url).send(text, account))
const later = (error: string, seconds: number) => ({ _tag: "Later", error, seconds })
const unknown = (error: string) => ({ _tag: "Unknown", error, seconds: 5 })

describe("a text to Twilio", () => {
  it("is posted as a form to the account's messages, with its credentials", async () => {
    answer(201, { sid: SID })
    expect(await send()).toEqual({ _tag: "Accepted", providerId: SID })
    const reportTo = `${PUBLIC_URL}/report`
    await Effect.runPromise(provider().send({ ...text, reportTo }, account))
    const [first, second] = service.asked
    expect([first!.method, first!.path]).toEqual(["POST", `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`])
    expect(first!.headers).toMatchObject({
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
      authorization: `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString("base64")}`
    })
    const form = { To: THEIRS, From: OURS, Body: text.body }
    expect(Object.fromEntries(new URLSearchParams(first!.body))).toEqual(form)
    expect(Object.fromEntries(new URLSearchParams(second!.body))).toEqual({ ...form, StatusCallback: reportTo })
  })

  it.each([
    [200, { sid: "aZ" }, { _tag: "Accepted", providerId: "aZ" }],
    [201, { sid: "9".repeat(64) }, { _tag: "Accepted", providerId: "9".repeat(64) }],
    [201, { sid: "9".repeat(65) }, unknown("truncated response")],
    [201, { sid: "a" }, unknown("truncated response")],
    [201, { sid: "-SM" }, unknown("truncated response")],
    [201, { sid: "SM-" }, unknown("truncated response")],
    [201, `{"sid":"SM01`, unknown("truncated response")],
    [201, {}, unknown("truncated response")],
    [202, { sid: SID }, unknown("HTTP 202")],
    [304, "", unknown("HTTP 304")],
    [400, { code: 21_211 }, { _tag: "Refused", error: "21211" }],
    [400, { code: 21_211.9 }, { _tag: "Refused", error: "21211" }],
    [404, { code: "+18015550101" }, { _tag: "Refused", error: "HTTP 404" }],
    [499, "", { _tag: "Refused", error: "HTTP 499" }],
    [401, { code: 20_003 }, later("20003", 60)],
    [402, "", later("HTTP 402", 60)],
    [403, "", later("HTTP 403", 60)],
    [500, "", unknown("HTTP 500")],
    [503, { code: 20_503 }, unknown("20503")]
  ])(
    "is accepted, refused, sent again later or searched for, as the response says: %s",
    async (status, body, outcome) => {
      answer(status, body)
      expect(await send(), JSON.stringify([status, body])).toEqual(outcome)
    }
  )

  it.each([
    [undefined, 2],
    ["30", 30],
    ["0", 1],
    ["9999", 900],
    ["12345", 2],
    ["x30", 2],
    ["30x", 2]
  ])("waits as long as a response 429 says, within bounds: %s", async (after, seconds) => {
    answer(429, { code: 20_429 }, after === undefined ? {} : { "retry-after": after })
    expect(await send(), after).toEqual(later("20429", seconds))
  })

  it("is searched for if the connection broke, a redirect came or no response", async () => {
    service.answers((_, response) => void response.destroy())
    expect(await send()).toEqual(unknown("lost"))
    service.answers((asked, response) => {
      if (asked.path === "/elsewhere") return void response.end(JSON.stringify({ sid: SID }))
      response.writeHead(303, { location: "/elsewhere" }).end()
    })
    expect(await send()).toEqual(unknown("lost"))
    expect(service.asked).toHaveLength(1)
    service.answers(() => {})
    expect(await send(50)).toEqual(unknown("lost"))
  })

  it("is searched for in time after no response, also if garbage is collected while it waits", async () => {
    setFlagsFromString("--expose-gc")
    const collecting = setInterval(runInNewContext("gc") as () => void, 20)
    service.answers(() => {})
    try {
      expect(await Promise.race([send(300), sleep(30_000, "still waits")])).toEqual(unknown("lost"))
    } finally {
      clearInterval(collecting)
    }
  })

  it("is sent again soon if nothing listens at the address", async () => {
    const closed = await startService()
    await closed.stop()
    expect(await send(20_000, closed.url)).toEqual(later("unreached", 2))
  })

  it.each([
    ["ECONNREFUSED", later("unreached", 2)],
    ["ENOTFOUND", later("unreached", 2)],
    ["EAI_AGAIN", later("unreached", 2)],
    ["EHOSTUNREACH", later("unreached", 2)],
    ["UND_ERR_CONNECT_TIMEOUT", later("unreached", 2)],
    ["ECONNRESET", unknown("lost")],
    [undefined, unknown("lost")]
  ])("is sent again only after an error that certainly came before the request: %s", async (code, outcome) => {
    // The network's errors, which a test can't cause on every machine.
    const { fetch } = globalThis
    const cause = code === undefined ? undefined : { code }
    globalThis.fetch = () => Promise.reject(new TypeError("fetch failed", { cause }))
    try {
      expect(await send(), code).toEqual(outcome)
    } finally {
      globalThis.fetch = fetch
    }
  })

  it("is lost if the failure isn't an error", async () => {
    const { fetch } = globalThis
    globalThis.fetch = () => Promise.reject("no error")
    try {
      expect(await send()).toEqual(unknown("lost"))
    } finally {
      globalThis.fetch = fetch
    }
  })
})

describe("Twilio's list of texts", () => {
  const CREATED = "Mon, 16 Mar 2026 12:00:00 +0000"
  const find = (body: string, since = new Date(Date.parse(CREATED) + 60_000)) =>
    Effect.runPromise(provider().find({ ...text, body }, since, account))
  const listed = (body: string, sid = SID, date_created: string | null = CREATED) => ({ sid, body, date_created })

  it("is asked for the texts between two numbers", async () => {
    answer(200, { messages: [] })
    expect(await find("Ada is in.")).toEqual([])
    const { body, headers, method, path } = service.asked[0]!
    expect([method, body]).toEqual(["GET", ""])
    expect(path.split("?")[0]).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Messages.json`)
    expect(Object.fromEntries(new URLSearchParams(path.split("?")[1]))).toEqual({
      To: THEIRS,
      From: OURS,
      PageSize: "100"
    })
    expect(headers["content-type"]).toBeUndefined()
  })

  it("contains a text with the same words, or behind a trial account's prefix", async () => {
    answer(200, {
      messages: [
        listed("Ada is in.", "SM1"),
        listed("Sent from your Twilio trial account - Ada is in.", "SM2"),
        listed("Grace Ada is in. Not", "SM3"),
        listed("xAda is in.", "SM4"),
        listed("Ada is out.", "SM5")
      ]
    })
    expect(await find("Ada is in.")).toEqual(["SM1", "SM2"])
  })

  it("contains a text whose code is unknown here", async () => {
    answer(200, { messages: [listed("Done? Reply OK 4821 within 5 min, or NO 4821.")] })
    expect(await find("Done? Reply OK #### within 5 min, or NO ####.")).toEqual([SID])
  })

  it("contains a text since a time, with a minute's difference between the clocks, or without a time", async () => {
    answer(200, { messages: [listed("Hi", "SM1"), listed("Hi", "SM2", null)] })
    expect(await find("Hi")).toEqual(["SM1", "SM2"])
    expect(await find("Hi", new Date(Date.parse(CREATED) + 61_000))).toEqual(["SM2"])
    expect(await find("Hi", new Date(Date.parse(CREATED) - 61_000))).toEqual(["SM1", "SM2"])
  })

  it("is unknown if the request fails or the response isn't a list", async () => {
    answer(500, { messages: [listed("Hi")] })
    expect(await find("Hi")).toBeUndefined()
    answer(200, { messages: [{ sid: SID }] })
    expect(await find("Hi")).toBeUndefined()
    service.answers((_, response) => void response.destroy())
    expect(await find("Hi")).toBeUndefined()
  })
})

describe("a webhook of Twilio", () => {
  const { name, parse, status, verify } = makeTwilio({ url: "http://127.0.0.1:1", timeout: 1 })
  const message = { MessageSid: SID, From: THEIRS, To: OURS, Body: "who is Ada?" }
  const parsed = (more: Readonly<Record<string, string>>) => parse(new URLSearchParams({ ...message, ...more }))

  it("is verified by its signature and the number's account", () => {
    const request = (AccountSid: string, token = TOKEN) => {
      const params = new URLSearchParams({ ...message, AccountSid })
      return { params, signature: twilioSignature(token, PUBLIC_URL, params), url: PUBLIC_URL }
    }
    expect(verify(request(ACCOUNT), account)).toBe(true)
    expect(verify(request(ACCOUNT.replace("0", "1")), account)).toBe(false)
    expect(verify(request(ACCOUNT, "another token"), account)).toBe(false)
    expect(name).toBe("twilio")
  })

  it("is a message with its sender, recipient and body", () => {
    const found = parsed({})
    expect(found).toEqual({
      provider: "twilio",
      id: SID,
      from: THEIRS,
      to: OURS,
      body: "who is Ada?",
      media: 0,
      receivedAt: found!.receivedAt
    })
    expect(found!.receivedAt).toBeInstanceOf(Date)
    expect(parsed({ MessageSid: "aZ" })!.id).toBe("aZ")
    expect(parsed({ MessageSid: "9".repeat(64) })!.id).toBe("9".repeat(64))
  })

  it.each([
    { MessageSid: "" },
    { MessageSid: "a" },
    { MessageSid: "9".repeat(65) },
    { MessageSid: "-SM" },
    { MessageSid: "SM-" },
    { From: "" },
    { From: "8015550101" },
    { To: "ATLAS" },
    { From: OURS }
  ])("is no message without an id and two different numbers: %s", (wrong) => {
    expect(parsed(wrong as Record<string, string>), JSON.stringify(wrong)).toBeUndefined()
  })

  it("is no message without the parameters", () => {
    for (const missing of ["MessageSid", "From", "To"]) {
      const params = new URLSearchParams(message)
      params.delete(missing)
      expect(parse(params), missing).toBeUndefined()
    }
  })

  it("is a message with the standard opt-out word, without NUL and within 20,000 characters", () => {
    expect(parsed({ OptOutType: "STOP" })!.body).toBe("STOP")
    expect(parsed({ Body: "a\u0000b\u0000c" })!.body).toBe("abc")
    expect(parsed({ Body: "x".repeat(20_001) })!.body).toBe("x".repeat(20_000))
    const { Body: _, ...rest } = message
    expect(parse(new URLSearchParams(rest))!.body).toBe("")
  })

  it.each([
    ["2", 2],
    ["100", 100],
    ["101", 100],
    ["0", 0],
    ["-1", 0],
    ["1.5", 0],
    ["many", 0]
  ])("is a message with up to 100 attachments: %s", (NumMedia, media) => {
    expect(parsed({ NumMedia })!.media, NumMedia).toBe(media)
  })

  const reported = (MessageStatus: string, more: Readonly<Record<string, string>> = {}) =>
    status(new URLSearchParams({ MessageSid: SID, MessageStatus, ...more }))

  it.each([
    ["accepted", "accepted"],
    ["scheduled", "accepted"],
    ["queued", "accepted"],
    ["sending", "accepted"],
    ["sent", "sent"],
    ["delivered", "delivered"],
    ["read", "delivered"],
    ["undelivered", "undelivered"],
    ["failed", "undelivered"],
    ["canceled", "undelivered"]
  ])("is a report of a text's state: %s", (word, state) => {
    expect(reported(word), word).toEqual({ providerId: SID, state })
  })

  it("is no report with another state or without an id", () => {
    for (const word of ["", "constructor", "SENT"]) expect(reported(word), word).toBeUndefined()
    for (const MessageSid of ["", "a", "SM-", "-SM"]) expect(reported("sent", { MessageSid })).toBeUndefined()
    expect(status(new URLSearchParams({ MessageSid: SID }))).toBeUndefined()
    expect(status(new URLSearchParams({ MessageStatus: "sent" }))).toBeUndefined()
  })

  it.each(["1", "30007", "123456"])("is a report with a numeric error code: %s", (ErrorCode) => {
    expect(reported("failed", { ErrorCode })).toEqual({ providerId: SID, state: "undelivered", error: ErrorCode })
  })

  it.each(["", "1234567", "x30007", "30007x", "+1801555"])(
    "is a report without any other error text: %s",
    (ErrorCode) => {
      const found = reported("failed", { ErrorCode })
      expect(found).toEqual({ providerId: SID, state: "undelivered" })
      expect(found).not.toHaveProperty("error")
    }
  )
})
