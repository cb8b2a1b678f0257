/** Operators' commands for text messages. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Ran, runMax } from "../../support/cli.ts"
import { ACCOUNT } from "../../support/carrier.ts"
import { migratedDatabase } from "../../support/database.ts"

const scope = Scope.makeUnsafe()
let env: Record<string, string> = {}

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000", MAX_PROVIDER: "basic", CARRIER_TOKEN: "qzsecretqz" }
  for (const org of ["atlas", "borealis"]) {
    await max("init", "--org", org, "--country", "US", "--time-zone", "UTC")
  }
  await max("member", "add", "512-555-0142", "--role", "member", "--create", "--name", "Ada Lovelace", "--org", "atlas")
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const max = (...args: ReadonlyArray<string>): Promise<Ran> => runMax(args, env)
const add = (number: string, ...more: ReadonlyArray<string>) =>
  max("sms", "add-number", number, "--org", "atlas", ...more)

it("max sms add-number takes a number with a reference to its secret, and refuses invalid numbers, accounts and secrets", async () => {
  const good = ["--account", ACCOUNT, "--token", "env:CARRIER_TOKEN"]
  for (const [args, code, says] of [
    [["5", ...good], 1, "isn't a phone number"],
    [["+1 512 555 0100 ext 5", ...good], 1, "isn't a phone number"],
    [["+15125550100", "--account", "12345"], 2, "--account is AC and 32 digits"],
    [["+15125550100", "--account", ACCOUNT, "--token", "qzsecretqz"], 3, "env:NAME or file:/path"],
    [["+15125550100", "--account", ACCOUNT, "--token", "env:NOT_SET"], 3, "a variable that is set"],
    [["+15125550100", "--account", ACCOUNT], 3, "a variable that is set"],
    [["+15125550100", "--account", ACCOUNT, "--token", "file:/nowhere"], 3, "a file that can be read"]
  ] as ReadonlyArray<readonly [ReadonlyArray<string>, number, string]>) {
    const ran = await add(args[0]!, ...args.slice(1))
    expect([ran.code, ran.stderr], args.join(" ")).toEqual([code, expect.stringContaining(says)])
    expect(ran.stdout + ran.stderr).not.toContain("qzsecretqz")
  }
  const added = await add("512-555-0100", ...good)
  expect([added.code, added.stdout]).toEqual([0, "+15125550100 belongs to atlas.\n"])
  expect(added.stderr).toContain("Set MAX_PUBLIC_URL")
  expect((await add("+15125550100", ...good)).code).toBe(0)
  const taken = await max("sms", "add-number", "+15125550100", "--org", "borealis", ...good)
  expect([taken.code, taken.stderr]).toEqual([
    1,
    "This number belongs to another organization. Remove it there first.\n"
  ])
  const listed = JSON.parse((await max("sms", "numbers", "--org", "atlas", "--json")).stdout)
  expect(listed).toEqual({
    numbers: [{ phone: "+15125550100", provider: "twilio", account: ACCOUNT, secret: "env:CARRIER_TOKEN" }],
    contact: null,
    openedWithRole: null,
    changes: "off",
    tellApprovers: false
  })
  expect((await max("audit", "list", "--org", "atlas")).stdout).toContain("sms.number-added")
  expect((await max("sms", "remove-number", "+15125550100", "--org", "atlas")).code).toBe(0)
  expect((await max("sms", "remove-number", "+15125550100", "--org", "atlas")).code).toBe(1)
})

it("max sms open takes a role of the policy, and prints the risk", async () => {
  expect((await max("sms", "open", "--role", "membr", "--org", "atlas")).stderr).toContain("Did you mean member?")
  const opened = await max("sms", "open", "--role", "member", "--org", "atlas")
  expect([opened.code, opened.stderr]).toEqual([0, expect.stringContaining("is taken for that person")])
  expect((await max("sms", "numbers", "--org", "atlas")).stdout).toContain("is admitted as member")
  expect((await max("sms", "close", "--org", "atlas")).code).toBe(0)
  expect((await max("sms", "prove", "+15125550199", "--org", "atlas")).code).toBe(1)
  expect((await max("sms", "prove", "+15125550142", "--org", "atlas")).code).toBe(0)
  for (const contact of ["", "x".repeat(81)]) {
    expect((await max("sms", "contact", contact, "--org", "atlas")).code).toBe(1)
  }
  expect((await max("sms", "contact", "Jo \u202eat\n the desk", "--org", "atlas")).code).toBe(0)
  const unknown = await max("sms", "simulate", "--from", "202-555-0199", "hello", "--org", "atlas")
  expect(unknown.stdout).toContain("Please ask Jo at the desk for access.")
})

it("max sms simulate holds a conversation that the log does not show", async () => {
  const simulate = (...args: ReadonlyArray<string>) =>
    max("sms", "simulate", "--from", "512-555-0142", ...args, "--org", "atlas")
  const found = await simulate("who is ada lovelace?")
  expect([found.code, found.stdout, found.stderr]).toEqual([
    0,
    expect.stringContaining("I'm Max, for atlas (basic mode). I found Ada Lovelace."),
    "This is the number of Ada Lovelace: admitted by membership.\n"
  ])
  expect((await simulate("STOP")).stdout).toContain("the carrier answers this keyword itself")
  expect((await simulate("who is ada?")).stdout).toContain("has opted out with STOP")
  expect((await max("sms", "simulate", "--from", "12", "hi", "--org", "atlas")).code).toBe(2)
  expect((await max("sms", "log", "--org", "atlas")).stdout).toContain("There are no messages yet.")
  for (const bad of [
    ["--limit", "0"],
    ["--limit", "5000"],
    ["--before", "yesterday"],
    ["--before", "2026-02-30T09:30:00Z"]
  ]) {
    expect((await max("sms", "log", ...bad, "--org", "atlas")).code).toBe(2)
  }
})

it("max sms set switches changes by text on and off, and leaves what isn't named as it is", async () => {
  const set = async (...args: ReadonlyArray<string>) => {
    const ran = await max("sms", "set", "--org", "atlas", ...args)
    return [ran.code, ran.stdout]
  }
  const now = async () => JSON.parse((await max("sms", "numbers", "--org", "atlas", "--json")).stdout)
  expect(await set("--changes", "once")).toEqual([0, expect.stringContaining("OK and the code of its text")])
  expect(await now()).toMatchObject({ changes: "once", tellApprovers: false })
  expect((await set("--tell-approvers", "on"))[0]).toBe(0)
  expect(await now()).toMatchObject({ changes: "once", tellApprovers: true })
  expect((await set("--changes", "off", "--tell-approvers", "off"))[0]).toBe(0)
  expect(await now()).toMatchObject({ changes: "off", tellApprovers: false })
  expect((await set())[0]).toBe(2)
  expect((await set("--changes", "twice"))[0]).toBe(2)
  expect((await max("audit", "list", "--org", "atlas")).stdout).toContain("sms.changes-set")
})
