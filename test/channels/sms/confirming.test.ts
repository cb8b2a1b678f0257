/** Changes by text, over real HTTP: the code goes to the member's phone, and only that phone's answer counts. */
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { SmsCodes } from "../../../src/services/texting/SmsCodes.ts"
import { SmsSettings } from "../../../src/services/texting/SmsSettings.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { publish } from "../../support/changes.ts"
import { ACCOUNT, messageFrom, OURS, post } from "../../support/carrier.ts"
import { calls, finds, inTurn, says, type Reply } from "../../support/messages.ts"
import { watched } from "../../support/watched.ts"
import { ADA, BOB, type Setting, startSetting } from "./setting.ts"

const OTHER_LINE = "+15125550101"
const EVE = "+15125550144"

const seen = watched()
let s: Setting
let ids: ReadonlyArray<string> = []

beforeAll(async () => {
  s = await startSetting({}, {}, seen.layer)
  await s.run(
    publish(s.organization, [], {
      confirm: [{ action: "update", type: "people", columns: ["email"], by: "second", approvers: ["manager"] }]
    })
  )
  ids = await s.people([
    { name: "Ada Lovelace", phone: ADA, role: "admin" },
    { name: "Bob Byron", phone: BOB, role: "admin" },
    { name: "Eve Moneypenny", phone: EVE },
    { name: "Taylor Jackson" }
  ])
  await s.settings((settings) =>
    settings.addNumber(s.organization, {
      phone: OTHER_LINE,
      provider: "twilio",
      account: ACCOUNT,
      secret: "env:SMS_TEST_TOKEN"
    })
  )
})
afterAll(() => s.stop())
beforeEach(async () => {
  await s.reset()
  for (const table of ["sms_codes", "change_events", "changes", "calls"]) await s.sql(`DELETE FROM max.${table}`)
  await s.sql("UPDATE data.people SET status = 'Lost', status_k = 'lost' WHERE name = 'Taylor Jackson'")
  await s.settings((settings) => settings.set(s.organization, { changes: true }))
})

const request = (actionId: string, values: ReadonlyArray<string>): Reply =>
  calls(["requestAction", { actionId, entityIds: [ids[3]!], ...(values.length === 0 ? {} : { values }) }])

/** The model looks Taylor up and drafts; then it says what it likes. */
const drafting = (actionId = "people.update", ...values: ReadonlyArray<string>) =>
  s.model.reset(
    inTurn(
      finds("people", [["name", "eq", "Taylor Jackson"]]),
      request(actionId, values.length === 0 && actionId === "people.update" ? ["status=Qualified"] : values),
      says("This was agreed with your manager.")
    )
  )

const TEXT =
  /^(?:I'm Max, for atlas\. )?Taylor Jackson: Status Lost -> Qualified\? Reply OK (\d{4}) within [45] min, or NO \1\.$/

/** Asks for the change as a person, and returns the code of the text. */
const askFor = async (from = ADA, more = {}): Promise<string> => {
  drafting()
  const [text] = await s.ask(from, "set the status of Taylor Jackson to Qualified", more)
  expect(text).toMatch(TEXT)
  return TEXT.exec(text!)![1]!
}

const statusOf = async () =>
  (await s.sql<{ status: string }>("SELECT status FROM data.people WHERE name = 'Taylor Jackson'"))[0]!.status
const stateOf = async () =>
  (await s.sql<{ state: string }>("SELECT state FROM max.changes ORDER BY created_at DESC LIMIT 1"))[0]?.state
const other = (code: string, by = 1) => String((Number(code) + by) % 10_000).padStart(4, "0")
const WRONG = "This isn't the code of a change that waits for you. Nothing was changed."
const LOCKED = "Too many wrong codes: this number confirms no change for an hour. Nothing was changed."

describe("a change by text", () => {
  it("is sent whole, in code's words, and applied by OK and its code, once", async () => {
    const code = await askFor()
    expect(await statusOf()).toBe("Lost")
    const requests = s.model.requests.length
    expect(await s.ask(ADA, `ok ${code}`)).toEqual(["Done: 1 person changed."])
    expect(await statusOf()).toBe("Qualified")
    await s.sql("UPDATE data.people SET status = 'Lost', status_k = 'lost' WHERE name = 'Taylor Jackson'")
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["Done: 1 person changed."])
    expect(await statusOf()).toBe("Lost")
    expect(s.model.requests.length).toBe(requests)
  })

  it("is rejected by NO and its code", async () => {
    const code = await askFor()
    expect(await s.ask(ADA, `No ${code}.`)).toEqual(["All right: nothing was changed."])
    expect(await stateOf()).toBe("rejected")
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["All right: nothing was changed."])
    expect(await statusOf()).toBe("Lost")
  })

  it("is neither proposed nor confirmed until an operator switches it on", async () => {
    const code = await askFor()
    await s.settings((settings) => settings.set(s.organization, { changes: false }))
    s.model.reset(() => says("Hello there."))
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["Hello there."])
    expect(await statusOf()).toBe("Lost")
    expect(s.model.requests.at(-1)!.body.tools!.map(({ name }) => name)).not.toContain("requestAction")
    await s.sql("DELETE FROM max.sms_settings")
    expect((await s.settings((settings) => settings.channel(s.organization.id))).changes).toBe(false)
  })

  it("has a link instead of a code where it needs a second yes, another person or more than one text", async () => {
    const link =
      /^Nothing has changed yet\. Look at this change and confirm it here: https:\/\/max\.example\.com\/inbox\/\w+$/
    for (const [words, action, ...values] of [
      ["delete Taylor Jackson", "people.delete"],
      ["set the email of Taylor Jackson to t@atlas.com", "people.update", "email=t@atlas.com"],
      [
        `set the status of Taylor Jackson to ${"very ".repeat(40)}good`,
        "people.update",
        `status=${"very ".repeat(40)}good`
      ]
    ] as const) {
      drafting(action, ...values)
      const [text] = await s.ask(ADA, words)
      expect(text).toMatch(link)
    }
    expect(await s.sql("SELECT 1 FROM max.sms_codes")).toEqual([])
  })

  it("quotes a value that could be read as Max's own words", async () => {
    const hostile = "Lost? Reply NO 1234 to apply"
    await s.sql("UPDATE data.people SET status = $1, status_k = lower($1) WHERE name = 'Taylor Jackson'", [hostile])
    drafting()
    const [text] = await s.ask(ADA, "set the status of Taylor Jackson to Qualified")
    expect(text).toMatch(
      /Status "Lost\? Reply NO 1234 to apply" -> Qualified\? Reply OK (\d{4}) within 5 min, or NO \1\.$/
    )
  })

  it("expires with its draft", async () => {
    const code = await askFor()
    await s.sql("UPDATE max.changes SET expires_at = clock_timestamp() - interval '1 second'")
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["Nothing was changed: it is expired."])
    expect(await statusOf()).toBe("Lost")
  })

  it("is confirmed by the code that was sent when the carrier's answer was lost", async () => {
    s.carrier.fate = () => ({ accept: true, ends: "broken" })
    drafting()
    await s.text(ADA, "set the status of Taylor Jackson to Qualified")
    await s.quiet()
    const texts = s.heard(ADA)
    expect(texts).toHaveLength(1)
    s.carrier.fate = () => ({})
    expect(await s.ask(ADA, `OK ${TEXT.exec(texts[0]!)![1]!}`)).toEqual(["Done: 1 person changed."])
  })
})

describe("an approver", () => {
  const proposed = async () => {
    drafting("people.update", "email=t@atlas.com")
    const [text] = await s.ask(ADA, "set the email of Taylor Jackson to t@atlas.com")
    const id = text!.split("/").at(-1)!
    await s.sql("UPDATE max.changes SET state = 'waiting', yes_at = clock_timestamp() WHERE change_id = $1", [id])
    return id
  }
  beforeEach(() =>
    s.sql("UPDATE max.memberships SET roles = '{admin,manager}' WHERE anchor_id IN ($1, $2)", [ids[0], ids[1]])
  )
  const told = () => s.heard(BOB).filter((text) => text.includes("waits for your approval"))

  it("is told by text of a change that waits, once, with nothing but the link, after an operator switched it on", async () => {
    s.model.reset(() => says("Hello there."))
    await s.ask(BOB, "hello")
    const before = await proposed()
    await new Promise((resolve) => setTimeout(resolve, 20 * s.timing.poll * 1000))
    expect(told()).toEqual([])
    await s.settings((settings) => settings.set(s.organization, { tellsApprovers: true }))
    await expect.poll(told).toHaveLength(1)
    expect(told()).toEqual([`A change waits for your approval: https://max.example.com/inbox/${before}`])
    await s.sql("UPDATE max.changes SET key = 'x'")
    const after = await proposed()
    await expect.poll(told).toHaveLength(2)
    expect(told()[1]).toContain(after)
    // The proposer isn't asked to approve, and no text comes twice.
    expect(s.heard(ADA).join()).not.toContain("waits for your approval")
    await s.settings((settings) => settings.set(s.organization, { tellsApprovers: false }))
  })

  it("who has sent STOP is told nothing", async () => {
    await s.settings((settings) => settings.set(s.organization, { tellsApprovers: true }))
    s.model.reset(() => says("Hello there."))
    await s.ask(BOB, "hello")
    await s.ask(BOB, "STOP")
    await proposed()
    await new Promise((resolve) => setTimeout(resolve, 20 * s.timing.poll * 1000))
    expect(told()).toEqual([])
    await s.settings((settings) => settings.set(s.organization, { tellsApprovers: false }))
  })
})

describe("a code", () => {
  it("that is guessed locks the number for an hour at the third try, for a right code as for a wrong one", async () => {
    const code = await askFor()
    expect(await s.ask(ADA, `OK ${other(code)}`)).toEqual([WRONG])
    expect(await s.ask(ADA, `NO ${other(code, 2)}`)).toEqual([WRONG])
    expect(await s.ask(ADA, `OK ${other(code, 3)}`)).toEqual([LOCKED])
    expect(await s.ask(ADA, `OK ${code}`)).toEqual([LOCKED])
    expect(await statusOf()).toBe("Lost")
    drafting()
    expect((await s.ask(ADA, "set the status of Taylor Jackson to Qualified"))[0]).toContain("https://")
    await s.sql("UPDATE max.sms_codes SET tried_at = tried_at - interval '61 minutes'")
    expect(await s.ask(ADA, `OK ${await askFor()}`)).toEqual(["Done: 1 person changed."])
  })

  it("that is guessed many times at once is judged three times", async () => {
    const code = await askFor()
    const key = { organizationId: s.organization.id, line: OURS, phone: ADA }
    const check = (guess: string) => Effect.flatMap(SmsCodes, (codes) => codes.check(key, ids[0]!, guess))
    const guesses = Array.from({ length: 20 }, (_, by) => other(code, by + 1))
    // As many as have a connection wait for the number's row: they are judged at once.
    const checking = s.run(
      Effect.flatMap(Database, ({ owner }) =>
        owner.withTransaction(
          Effect.gen(function* () {
            yield* owner`SELECT 1 FROM max.sms_codes FOR UPDATE`
            const fiber = yield* Effect.forkDetach(Effect.forEach(guesses, check, { concurrency: "unbounded" }))
            const waits = owner`SELECT pg_stat_clear_snapshot(), pid FROM pg_stat_activity
              WHERE datname = current_database() AND application_name = 'max app' AND wait_event_type = 'Lock'`
            yield* Effect.repeat(waits, { until: (rows) => rows.length > 1 })
            return fiber
          })
        )
      )
    )
    const checked = await s.run(
      Effect.flatMap(
        Effect.promise(() => checking),
        Fiber.join
      )
    )
    expect(checked.filter(({ _tag }) => _tag === "Wrong")).toHaveLength(2)
    expect((await s.run(check(code)))._tag).toBe("Locked")
  })

  it("from another number is a wrong code", async () => {
    const code = await askFor()
    expect(await s.ask(BOB, `OK ${code}`)).toEqual([expect.stringContaining(WRONG)])
    expect(await statusOf()).toBe("Lost")
  })

  it("from another line is a wrong code", async () => {
    const code = await askFor()
    expect(await s.ask(ADA, `OK ${code}`, { To: OTHER_LINE })).toEqual([expect.stringContaining(WRONG)])
    expect(await statusOf()).toBe("Lost")
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["Done: 1 person changed."])
  })

  it("from another organization's line, where the phone is a member's, too, is a wrong code, and neither organization tells of the other", async () => {
    const THEIR_LINE = "+15125550102"
    const theirs = await s.run(
      Effect.gen(function* () {
        const organization = yield* makeOrganization("borealis")
        yield* publish(organization)
        const [, riley] = yield* addPeople(organization, [
          { name: "Zoe Boreal", phone: ADA, status: "qzborealisqz" },
          { name: "Riley Boreal", status: "qzborealisqz" }
        ])
        const members = yield* Memberships
        yield* members.add(organization, { identifier: ADA, roles: ["admin"] })
        const settings = yield* SmsSettings
        const number = { provider: "twilio", account: ACCOUNT, secret: "env:SMS_TEST_TOKEN" }
        yield* settings.addNumber(organization, { ...number, phone: THEIR_LINE })
        yield* settings.set(organization, { changes: true })
        return { organization, riley: riley! }
      })
    )
    const code = await askFor()
    expect(await s.ask(ADA, `OK ${code}`, { To: THEIR_LINE })).toEqual([expect.stringContaining(WRONG)])
    expect(await s.ask(ADA, `NO ${code}`, { To: THEIR_LINE })).toEqual([expect.stringContaining(WRONG)])
    // There, the same words find neither the person nor the row by its id.
    drafting()
    const told = await s.ask(ADA, "set the status of Taylor Jackson to Qualified", { To: THEIR_LINE })
    expect(told.join("\n")).not.toMatch(/Lost|Reply OK/)
    const there = JSON.stringify(s.model.requests)
    expect(there).toContain("Zoe Boreal")
    expect(there).not.toContain("Lost")
    expect(await s.sql("SELECT 1 FROM max.changes WHERE organization_id = $1", [theirs.organization.id])).toEqual([])
    // A change there is confirmed there only.
    s.model.reset(
      inTurn(
        finds("people", [["name", "eq", "Riley Boreal"]]),
        calls([
          "requestAction",
          { actionId: "people.update", entityIds: [theirs.riley], values: ["status=Qualified"] }
        ]),
        says("So.")
      )
    )
    const [draft] = await s.ask(ADA, "set the status of Riley Boreal to Qualified", { To: THEIR_LINE })
    const their = /Reply OK (\d{4})/.exec(draft!)![1]!
    expect(their === code || (await s.ask(ADA, `OK ${their}`))[0]!.includes(WRONG)).toBe(true)
    expect(await s.ask(ADA, `OK ${their}`, { To: THEIR_LINE })).toEqual(["Done: 1 person changed."])
    expect(await statusOf()).toBe("Lost")
    expect(await s.ask(ADA, `OK ${code}`)).toEqual(["Done: 1 person changed."])
    const ours = await s.log(true)
    expect(JSON.stringify(ours)).not.toContain("qzborealisqz")
    await s.settings((settings) => settings.set(theirs.organization, { changes: false }))
  })

  it("of a sender that is forged, without the carrier's signature, is not read", async () => {
    const code = await askFor()
    const answer = await post(s, messageFrom(ADA, `OK ${code}`), { signature: "forged" })
    expect(answer.status).toBe(403)
    await s.quiet()
    expect(await statusOf()).toBe("Lost")
  })

  it("of a number that has another person by now is a wrong code", async () => {
    const code = await askFor()
    await s.sql("UPDATE max.sms_codes SET anchor_id = $1", [ids[1]])
    expect(await s.ask(ADA, `OK ${code}`)).toEqual([WRONG])
    expect(await statusOf()).toBe("Lost")
  })

  it("from a dormant number confirms nothing", async () => {
    const code = await askFor()
    await s.sql("UPDATE max.sms_senders SET heard_at = heard_at - interval '181 days'")
    expect((await s.ask(ADA, `OK ${code}`))[0]).toContain("can't answer this number")
    expect(await statusOf()).toBe("Lost")
    await s.sql("UPDATE max.sms_senders SET heard_at = now()")
  })

  it("from a person whom only the open channel admits confirms nothing, and the person has no actions", async () => {
    await s.settings((settings) => settings.open(s.organization, "admin"))
    s.model.reset(() => says("Hello there."))
    await s.ask(EVE, "set the status of Taylor Jackson to Qualified")
    expect(s.model.requests.at(-1)!.body.tools!.map(({ name }) => name)).not.toContain("requestAction")
    expect(await s.ask(EVE, "OK 1234")).toEqual([WRONG])
    await s.settings((settings) => settings.close(s.organization))
  })

  it("is never confirmed by a carrier's word, a yes without its code, or another word with it", async () => {
    const code = await askFor()
    for (const word of ["YES", "START", "HELP", "UNSTOP", "INFO"]) expect(await s.ask(ADA, word)).toEqual([])
    for (const word of ["YES", "START", "STOP", "Help", "CANCEL"])
      expect(await s.ask(ADA, `${word} ${code}`)).toEqual([
        "Reply OK and the code, or NO and the code. Nothing was changed."
      ])
    s.model.reset(() => says("Hello there."))
    for (const words of ["ok", "do it", "yes please", "go ahead", `please confirm ${code} now`])
      expect(await s.ask(ADA, words)).toEqual(["Hello there."])
    expect(await s.ask(ADA, "STOP")).toEqual([])
    expect(await s.ask(ADA, `OK ${code}`)).toEqual([])
    expect([await statusOf(), await stateOf()]).toEqual(["Lost", "open"])
  })

  it("is stored as a hash, and in no text, message, log or turn", async () => {
    const code = await askFor()
    await s.ask(ADA, `OK ${code}`)
    const recorded = seen.recorded()
    expect(recorded.length).toBeGreaterThan(1000)
    expect(recorded).not.toMatch(new RegExp(`(?:OK|NO) ${code}|"${code}"`, "i"))
    const log = JSON.stringify(await s.log(true))
    expect(log).toContain("Reply OK #### within")
    expect(log).toContain("(code)")
    for (const table of [
      "sms_inbox",
      "sms_outbox",
      "sms_codes",
      "sms_senders",
      "turns",
      "sessions",
      "changes",
      "change_events"
    ]) {
      const rows = await s.sql<{ row: string }>(`SELECT t::text AS row FROM max.${table} t`)
      for (const { row } of rows) expect(row).not.toMatch(new RegExp(`(?:OK|NO) ${code}|"${code}"|,${code},`))
    }
  })
})
