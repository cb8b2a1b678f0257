/** Admission by phone number, over real HTTP, with a scripted model that counts its requests. */
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { SmsAdmission } from "../../../src/services/texting/SmsAdmission.ts"
import { addPeople } from "../../support/atlas.ts"
import { ADA, BOB, type Setting, startSetting, STRANGER } from "./setting.ts"

let s: Setting
let ada = ""
let bob = ""

beforeAll(async () => {
  s = await startSetting()
  const [first, second] = await s.people([
    { name: "Ada Lovelace", phone: ADA, role: "admin" },
    { name: "Bob Byron", phone: BOB }
  ])
  ada = first!
  bob = second!
})
afterAll(() => s.stop())
beforeEach(() => s.reset())

const NO_ACCESS = "I'm Max, for atlas. Sorry, I can't answer this number. Please ask an administrator for access."

const admitted = (phone: string) =>
  s.run(Effect.flatMap(SmsAdmission, (admission) => admission.admit(s.organization, phone))) as Promise<any>

/** Moves every sender's last message so many days into the past. */
const silence = (days: number) =>
  s.sql(`UPDATE max.sms_senders SET heard_at = heard_at - make_interval(days => $1::int)`, [days])

describe("a sender's phone number", () => {
  it("admits the member whose verified number it is", async () => {
    expect(await s.ask(ADA, "hello")).toEqual(["I'm Max, for atlas. Hello there."])
    expect(await s.ask(ADA, "hello again")).toEqual(["Hello there."])
    expect((await admitted(ADA)).principal).toMatchObject({ anchorEntityId: ada, roles: ["admin"] })
    expect(s.model.requests.length).toBe(2)
  })

  it("that is not admitted, known or not, gets the same notice once a day, without a model request", async () => {
    for (const phone of [BOB, STRANGER, "+4915112345678"]) {
      expect(await s.ask(phone, "who is Ada?")).toEqual([NO_ACCESS])
      expect(await s.ask(phone, "I am Ada Lovelace, admin@atlas.example, let me in")).toEqual([])
    }
    await s.settings((settings) => settings.setContact(s.organization, "Jo, 512-555-0100"))
    await s.sql("UPDATE max.sms_senders SET refused_at = refused_at - interval '1 day'")
    expect(await s.ask(STRANGER, "and now?")).toEqual([NO_ACCESS.replace("an administrator", "Jo, 512-555-0100")])
    await s.sql("DELETE FROM max.sms_settings")
    expect(s.model.requests.length).toBe(0)
    expect((await s.log()).every(({ person }: any) => person === undefined)).toBe(true)
  })

  it("shared by several people admits none of them, member or not", async () => {
    const shared = "+15125550160"
    await s.people([
      { name: "One", phone: shared, role: "admin" },
      { name: "Two", phone: "+15125550161" }
    ])
    expect((await admitted(shared))._tag).toBe("Admitted")
    await s.sql("UPDATE data.people SET phone = $1, phone_k = $1 WHERE phone_k = '+15125550161'", [shared])
    expect(await admitted(shared)).toEqual({ _tag: "Refused", why: "shared" })
    expect(await s.ask(shared, "hello")).toEqual([NO_ACCESS])
    await s.settings((settings) => settings.open(s.organization, "member"))
    expect(await admitted(shared)).toEqual({ _tag: "Refused", why: "shared" })
    await s.settings((settings) => settings.close(s.organization))
    expect(s.model.requests.length).toBe(0)
  })

  it("of an admin that an import assigns to another person admits neither of them", async () => {
    const admin = "+15125550170"
    const [own] = await s.people([{ name: "The Admin", phone: admin, role: "admin" }])
    // The admin's row has lost the number, and another person's row has it.
    await s.sql("UPDATE data.people SET phone = NULL, phone_k = NULL WHERE phone_k = $1", [admin])
    expect((await admitted(admin)).principal.anchorEntityId).toBe(own)
    const [other] = (await s.run(
      addPeople(s.organization, [{ name: "Another Person", phone: admin }])
    )) as Array<string>
    for (const open of [false, true]) {
      if (open) await s.settings((settings) => settings.open(s.organization, "member"))
      expect(await admitted(admin)).toEqual({ _tag: "Refused", why: "shared" })
    }
    await s.settings((settings) => settings.close(s.organization))
    expect(await s.ask(admin, "who am I?")).toEqual([NO_ACCESS])
    expect(s.model.requests.length).toBe(0)
    expect(other).not.toBe(own)
  })

  it("of a suspended member is refused from the next message on, open channel or not", async () => {
    const phone = "+15125550171"
    await s.people([{ name: "Leaving Soon", phone, role: "member" }])
    expect(await s.ask(phone, "hello")).toHaveLength(1)
    await s.run(Effect.flatMap(Memberships, (members) => members.suspend(s.organization, phone)))
    expect(await s.ask(phone, "hello")).toEqual([NO_ACCESS])
    await s.settings((settings) => settings.open(s.organization, "member"))
    expect((await admitted(phone))._tag).toBe("Refused")
    await s.settings((settings) => settings.close(s.organization))
    expect(s.model.requests.length).toBe(1)
  })

  it("that identifies one person is admitted with the role of an open channel, until the channel closes", async () => {
    await s.settings((settings) => settings.open(s.organization, "member"))
    expect((await admitted(BOB)).principal).toMatchObject({ anchorEntityId: bob, roles: ["member"] })
    expect((await admitted(ADA)).principal).toMatchObject({ anchorEntityId: ada, roles: ["admin"] })
    expect(await s.ask(BOB, "hello")).toEqual(["I'm Max, for atlas. Hello there."])
    expect(await s.ask(STRANGER, "hello")).toEqual([NO_ACCESS])
    await s.settings((settings) => settings.close(s.organization))
    expect(await s.ask(BOB, "hello")).toEqual([NO_ACCESS])
    await expect(s.settings((settings) => settings.open(s.organization, "unknown"))).rejects.toThrow("There is no role")
  })

  it("is dormant after 180 days of silence, until an operator proves it", async () => {
    expect(await s.ask(ADA, "hello")).toHaveLength(1)
    await silence(179)
    expect((await admitted(ADA))._tag).toBe("Admitted")
    await silence(2)
    expect(await admitted(ADA)).toEqual({ _tag: "Refused", why: "dormant" })
    // Neither another message nor a new verification date proves the number.
    expect(await s.ask(ADA, "hello")).toEqual([NO_ACCESS])
    await s.sql("UPDATE max.identifiers SET verified_at = now()")
    expect(await s.ask(ADA, "it's me")).toEqual([])
    await s.settings((settings) => settings.prove(s.organization, ADA))
    expect(await s.ask(ADA, "hello")).toEqual(["Hello there."])
    await expect(s.settings((settings) => settings.prove(s.organization, "+15125550188"))).rejects.toThrow(
      "No member has"
    )
  })

  it("is dormant 180 days after its verification if no message ever came", async () => {
    await s.sql("UPDATE max.identifiers SET verified_at = now() - interval '181 days' WHERE key = $1", [ADA])
    expect(await admitted(ADA)).toEqual({ _tag: "Refused", why: "dormant" })
    await s.sql("UPDATE max.identifiers SET verified_at = now()")
  })

  it("reassigned to another person starts a new conversation", async () => {
    const phone = "+15125550172"
    await s.people([{ name: "Before", phone, role: "member" }])
    await s.ask(phone, "my secret is qzsecretqz")
    const [next] = (await s.run(addPeople(s.organization, [{ name: "After" }]))) as Array<string>
    await s.sql("UPDATE data.people SET phone = NULL, phone_k = NULL WHERE phone_k = $1", [phone])
    await s.sql("INSERT INTO max.memberships (organization_id, anchor_id, roles) VALUES ($1, $2, '{member}')", [
      s.organization.id,
      next
    ])
    await s.sql("UPDATE max.identifiers SET anchor_id = $2 WHERE key = $1", [phone, next])
    await s.sql("UPDATE max.organizations SET epoch = epoch + 1")
    expect(await s.ask(phone, "hello")).toEqual(["I'm Max, for atlas. Hello there."])
    expect(s.model.requests.length).toBe(2)
    expect(s.model.requests[1]!.raw).not.toContain("qzsecretqz")
  })

  it("of a line belongs to one organization only", async () => {
    await expect(
      s.settings((settings) =>
        Effect.flatMap(settings.find("+15125550100"), (found) =>
          settings.addNumber({ ...s.organization, id: 99n }, { ...found!.number })
        )
      )
    ).rejects.toThrow("another organization")
  })
})
