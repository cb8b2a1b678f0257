/** Webhook signatures, over real HTTP, checked against Twilio's own helper. */
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import twilio from "twilio"
import { SmsTiming } from "../../../src/channels/sms/Line.ts"
import { isSigned, twilioSignature } from "../../../src/channels/sms/twilioSignature.ts"
import { Database } from "../../../src/database/Database.ts"
import { SmsSettings } from "../../../src/services/texting/SmsSettings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import {
  ACCOUNT,
  formOf,
  MESSAGES,
  messageFrom,
  OURS,
  type Params,
  post,
  PUBLIC_URL,
  TOKEN
} from "../../support/carrier.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, startServer, type TestServer } from "../../support/http.ts"

const scope = Scope.makeUnsafe()
let server: TestServer

/** Messages stay in the inbox: these tests are about what it admits. */
const NO_PROCESSING = Layer.succeed(SmsTiming, {
  merging: { quiet: 9e6, most: 9e6 },
  apology: 20,
  lease: 30,
  poll: 60,
  sending: 1
})

beforeAll(async () => {
  process.env["SMS_TEST_TOKEN"] = TOKEN
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, { publicUrl: PUBLIC_URL }, NO_PROCESSING)
  await server.run(
    Effect.gen(function* () {
      const settings = yield* SmsSettings
      const organization = yield* makeOrganization("atlas")
      const number = { provider: "twilio", account: ACCOUNT, secret: "env:SMS_TEST_TOKEN" }
      yield* settings.addNumber(organization, { ...number, phone: OURS })
    })
  )
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const stored = () =>
  server.run(
    Effect.gen(function* () {
      const { app } = yield* Database
      return yield* app<{
        id: string
        body: string
        phone: string
      }>`SELECT message_id AS id, body, phone FROM max.sms_inbox`
    })
  )

/** The same numbers in every run. */
const random = (() => {
  let state = 42
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
})()
const pick = <A>(from: ReadonlyArray<A>): A => from[random(from.length)]!

const TEXTS = [
  "who is Ada?",
  "",
  " ",
  "a+b=c&d%20;'\"<>",
  "日本語のテキスト",
  "العربية",
  "हिन्दी",
  "👩‍👩‍👧‍👦 🇨🇭",
  "é e\u0301 ß İ ı",
  "line\r\nbreak\ttab",
  "\u202eright to left",
  "x".repeat(1600),
  "zero\u0000byte",
  "+15125550147",
  "😀".repeat(300)
]
const NAMES = ["FromCity", "ToState", "SmsStatus", "ApiVersion", "ü-Name", "a", "Z z", "NumSegments", "MediaUrl0"]

const randomParams = (): Params => {
  const params: Record<string, string | ReadonlyArray<string>> = {
    ...messageFrom(`+1512${String(5550000 + random(9999)).padStart(7, "0")}`, pick(TEXTS) + random(1000))
  }
  for (let more = random(6); more > 0; more--) {
    params[pick(NAMES)] = random(5) === 0 ? [pick(TEXTS), pick(TEXTS), "same", "same"] : pick(TEXTS)
  }
  return params
}

const QUERIES = ["", "?x=1", "?bodySHA256=abc", "?a=%C3%A9&b=+", "?q=it's"]

describe("a webhook", () => {
  it("is accepted with the signature of Twilio's helper, for 1,000 random requests", async () => {
    const ids = new Set<string>()
    for (let round = 0; round < 50; round++) {
      const requests = Array.from({ length: 20 }, () => ({ params: randomParams(), path: MESSAGES + pick(QUERIES) }))
      const answers = await Promise.all(requests.map(({ params, path }) => post(server, params, { path })))
      for (const [index, { params, path }] of requests.entries()) {
        const { status, text } = answers[index]!
        expect([status, text], formOf(params)).toEqual([200, "<Response/>"])
        ids.add(String(params["MessageSid"]))
        const url = PUBLIC_URL + path
        expect(twilioSignature(TOKEN, url, new URLSearchParams(formOf(params)))).toBe(
          twilio.getExpectedTwilioSignature(TOKEN, url, params as Record<string, string>)
        )
      }
    }
    const rows = await stored()
    expect(new Set(rows.map(({ id }) => id))).toEqual(ids)
    expect(rows.every(({ phone }) => /^\+1512\d{7}$/.test(phone))).toBe(true)
  })

  it("is refused if any part of it was changed", async () => {
    const before = (await stored()).length
    let tried = 0
    for (let round = 0; round < 20; round++) {
      const params = randomParams()
      const signature = twilio.getExpectedTwilioSignature(
        TOKEN,
        PUBLIC_URL + MESSAGES,
        params as Record<string, string>
      )
      const refuse = async (changed: Params, how: string, options: Parameters<typeof post>[2] = {}) => {
        tried += 1
        const answer = await post(server, changed, { signature, ...options })
        expect([answer.status, answer.json?.type], how).toEqual([403, "urn:max:problem:not-signed"])
        const url = PUBLIC_URL + (options.path ?? MESSAGES)
        const helper = twilio.validateRequest(
          TOKEN,
          options.signature ?? signature,
          url,
          changed as Record<string, string>
        )
        expect(helper && changed["AccountSid"] === ACCOUNT && changed["To"] === OURS, how).toBe(false)
      }
      const changes: Array<Promise<void>> = []
      for (const name of Object.keys(params)) {
        const { [name]: value, ...rest } = params
        const text = typeof value === "string" ? value : value!.join("")
        changes.push(
          refuse({ ...rest, [name]: `${text}x` }, `${name} longer`),
          refuse({ ...rest, [`x${name}`]: text }, `${name} renamed`)
        )
        if (text !== "") {
          changes.push(
            refuse({ ...rest, [name]: "" }, `${name} emptied`),
            refuse({ ...rest, [name]: text.slice(0, -1) }, `${name} shorter`),
            refuse(rest, `${name} left out`)
          )
          if (text !== text.toUpperCase())
            changes.push(refuse({ ...rest, [name]: text.toUpperCase() }, `${name} in capitals`))
        }
      }
      changes.push(
        refuse({ ...params, Added: "1" }, "one added"),
        refuse({ ...params, To: "+15125550101" }, "another number"),
        refuse(params, "no signature", { signature: "" }),
        refuse(params, "half a signature", { signature: signature.slice(0, 14) }),
        refuse(params, "a letter of the signature", {
          signature: `${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`
        }),
        refuse(params, "another path", { path: `${MESSAGES}?x=2`, signature }),
        refuse(params, "another token", {
          signature: twilio.getExpectedTwilioSignature("other", PUBLIC_URL + MESSAGES, params as Record<string, string>)
        }),
        refuse(params, "for http", {
          signature: twilio.getExpectedTwilioSignature(
            TOKEN,
            `http://max.example.com${MESSAGES}`,
            params as Record<string, string>
          )
        })
      )
      await Promise.all(changes)
    }
    expect(tried).toBeGreaterThan(500)
    expect((await stored()).length).toBe(before)
  })

  it("is refused if it is signed for another account, or for none", async () => {
    const before = (await stored()).length
    const { AccountSid: own, ...withoutAccount } = messageFrom("+15125550188", "who is ada?")
    const other = { ...withoutAccount, AccountSid: `${own as string}x` }
    for (const params of [other, withoutAccount, { ...withoutAccount, AccountSid: "" }]) {
      const answer = await post(server, params)
      expect([answer.status, answer.json?.type]).toEqual([403, "urn:max:problem:not-signed"])
    }
    expect((await stored()).length).toBe(before)
    expect((await post(server, { ...withoutAccount, AccountSid: own! })).status).toBe(200)
    expect((await stored()).length).toBe(before + 1)
  })

  it("may be signed with or without the default port, and with no other port", () => {
    const params = new URLSearchParams({ From: "+15125550147", Body: "who?" })
    for (const [configured, signedFor, taken] of [
      ["https://max.example.com", "https://max.example.com", true],
      ["https://max.example.com", "https://max.example.com:443", true],
      ["https://max.example.com:443", "https://max.example.com", true],
      ["https://max.example.com:8443", "https://max.example.com:8443", true],
      ["https://max.example.com:8443", "https://max.example.com", true],
      ["http://max.example.com", "http://max.example.com:80", true],
      ["https://[::1]:8443", "https://[::1]:8443", true],
      ["https://max.example.com", "https://max.example.com:8443", false],
      ["https://max.example.com", "http://max.example.com", false],
      ["https://max.example.com", "https://max.example.com:80", false],
      ["https://max.example.com", "https://other.example.com", false]
    ] as const) {
      const helper = twilio.getExpectedTwilioSignature(TOKEN, `${signedFor}/v1?x=1`, Object.fromEntries(params))
      expect(isSigned(TOKEN, helper, `${configured}/v1?x=1`, params), `${configured} ${signedFor}`).toBe(taken)
      expect(twilio.validateRequest(TOKEN, helper, `${configured}/v1?x=1`, Object.fromEntries(params))).toBe(taken)
    }
    expect(isSigned("", twilioSignature("", "https://a/", params), "https://a/", params)).toBe(false)
  })

  it("is verified against the configured URL, whatever its Host and forwarding headers claim", async () => {
    const params = messageFrom("+15125550147", "hello")
    for (const headers of [
      { "x-forwarded-proto": "http", "x-forwarded-host": "evil.example", "x-forwarded-port": "81" },
      { host: "localhost:7700" },
      { "x-original-url": "/v1/other" }
    ] as ReadonlyArray<Record<string, string>>) {
      expect((await post(server, params, { headers })).status).toBe(200)
    }
    const forged = messageFrom("+15125550147", "hello")
    const signature = twilio.getExpectedTwilioSignature(
      TOKEN,
      `https://evil.example${MESSAGES}`,
      forged as Record<string, string>
    )
    const headers = { "x-forwarded-host": "evil.example" }
    expect((await post(server, forged, { signature, headers })).status).toBe(403)
    expect((await post(server, forged, { headers: { host: "evil.example" } })).status).toBe(421)
    expect((await post(server, forged, { headers: { origin: "https://evil.example" } })).status).toBe(403)
  })

  it("takes a form only, and no other path takes a form", async () => {
    const params = messageFrom("+15125550147", "hello")
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", ""]) {
      expect((await post(server, params, { headers: { "content-type": type } })).status).toBe(415)
    }
    const coded = { "content-encoding": "gzip" }
    expect((await post(server, params, { headers: coded })).status).toBe(415)
    expect((await post(server, params, { path: "/v1/tools/findEntities" })).status).toBe(415)
    expect((await ask(server.url, MESSAGES)).status).toBe(405)
    const large = messageFrom("+15125550147", "x".repeat(70_000))
    expect((await post(server, large)).status).toBe(413)
    expect((await post(server, messageFrom("+15125550147", "x".repeat(10_000)))).status).toBe(200)
    // What isn't UTF-8 was never signed as what it is read as.
    expect((await post(server, params, { body: formOf(params).replace("hello", "%ff%fe") })).status).toBe(403)
  })

  it("is acknowledged and dropped if it has no number to answer", async () => {
    const before = (await stored()).length
    for (const to of ["", "+1\u0000", "12345"]) {
      expect((await post(server, messageFrom("+15125550147", "hello", { To: to }))).status).toBe(403)
    }
    for (const from of ["12345", "Max", "", "whatsapp:+15125550147", "+1512555014x7", "anonymous", OURS]) {
      expect((await post(server, messageFrom(from, "hello"))).status, from).toBe(200)
    }
    expect((await stored()).length).toBe(before)
  })

  it("is refused while MAX_PUBLIC_URL is not set", async () => {
    const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
    const other = await startServer(url, { allowedHosts: ["max.example.com"] }, NO_PROCESSING)
    await other.run(
      Effect.gen(function* () {
        const settings = yield* SmsSettings
        const number = { provider: "twilio", account: ACCOUNT, phone: OURS, secret: "env:SMS_TEST_TOKEN" }
        yield* settings.addNumber(yield* makeOrganization("atlas"), number)
      })
    )
    expect((await post(other, messageFrom("+15125550147", "hello"))).status).toBe(403)
    await other.stop()
  })
})
