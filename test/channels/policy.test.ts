/** The `max policy` commands, from a first policy to explaining a cell. */
import { Effect, Exit, Scope } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-policy-"))
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)
const path = (name: string) => join(folder, name)
const file = (name: string, text: string) => {
  writeFileSync(path(name), text)
  return path(name)
}
const inForce = async () =>
  JSON.parse((await max("policy", "show", "--json")).stdout) as {
    version: number
    policy: { tests?: unknown; rules: ReadonlyArray<{ id: string }> }
  }

beforeAll(async () => {
  const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
  for (const args of [
    ["migrate"],
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    [
      "import",
      file(
        "staff.csv",
        "id,name,email,status\ns1,Ada Lovelace,ada@example.com,staff\ns2,Bob Stone,bob@example.com,staff\n"
      ),
      "--type",
      "people"
    ],
    [
      "import",
      file(
        "people.csv",
        "id,name,phone,status,rep,tier\nc1,Vera Vip,212-555-0100,vip,bob@example.com,gold\nc2,Carl Cole,212-555-0101,lead,ada@example.com,tin\n"
      ),
      "--type",
      "people",
      "--map",
      "rep=owner:people.email",
      "--create"
    ],
    ["member", "add", "ada@example.com", "--role", "admin"],
    ["member", "add", "bob@example.com", "--role", "member"]
  ]) {
    const ran = await max(...args)
    if (ran.code !== 0) throw new Error(`${args.join(" ")}: ${ran.stderr}`)
  }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("max policy", () => {
  it("creates a first policy from flags, previews it for each role and publishes it", async () => {
    const out = path("first.json")
    const made = await max(
      "policy",
      "new",
      "--role",
      "member=all",
      "--private",
      "people.phone",
      "--private",
      "tier",
      "--out",
      out,
      "--publish"
    )
    expect(made.code).toBe(0)
    expect(made.stdout).toMatch(/member  as Bob Stone\n {4}people +all 4 +phone on 2 and tier on 2\n/)
    expect(made.stdout).toContain(`and version 3 is in force`)
    expect(await max("find", "people", "name~v", "--select", "phone,tier", "--as", "bob@example.com")).toMatchObject({
      stdout: expect.stringMatching(/Vera Vip\s+vip\s+212-555-0100\s+gold\n/)
    })
    expect(
      (await max("find", "people", "name=carl cole", "--select", "phone,tier", "--as", "bob@example.com")).stdout
    ).not.toContain("0101")
    // An existing file is never overwritten, and without a terminal the flags are required.
    expect(await max("policy", "new", "--role", "member=own", "--out", out)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already exists. Choose another file: --out FILE")
    })
    expect(await max("policy", "new")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--role member=all --private people.phone")
    })
    expect(await max("policy", "new", "--role", "member=some")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--role member=own")
    })
    expect(
      await max("policy", "new", "--role", "member=all", "--private", "people.fone", "--out", path("no.json"))
    ).toMatchObject({ code: 1 })
    expect(existsSync(path("no.json"))).toBe(false)
  })

  it("checks a file: its rules, changes, lint warnings and tests", async () => {
    const policy = JSON.parse(readFileSync(path("first.json"), "utf8")) as { rules: Array<object>; tests?: unknown }
    policy.rules.push({
      id: "twice",
      effect: "allow",
      role: "member",
      action: "read",
      type: "companies",
      columns: ["name"]
    })
    policy.tests = [{ as: "bob@example.com", read: "people", includes: ["c1"], shows: ["phone"] }]
    const good = file("good.json", JSON.stringify(policy))
    const checked = await max("policy", "check", good)
    expect(checked.code).toBe(0)
    for (const words of [
      "may see name, status, owner, company and email of all people (member-all-people)",
      "+ twice: member may see name of all companies",
      "No effect: the rule member-all-companies of member already allows all of this (name of companies). Remove it.",
      "ok   tests[0]: bob@example.com reads people",
      "The policy can be published"
    ])
      expect(checked.stdout).toContain(words)
    policy.tests = [{ as: "bob@example.com", read: "people", includes: ["c2"], shows: ["phone"] }]
    const bad = file("bad.json", JSON.stringify(policy))
    expect(await max("policy", "check", bad)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("found it hidden on c2 (Carl Cole)")
    })
    expect(await max("policy", "publish", bad)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("found it hidden on c2 (Carl Cole)")
    })
    expect((await inForce()).version).toBe(3)
    expect((await max("policy", "publish", good)).code).toBe(0)
    expect(await max("policy", "test")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 passed, 0 failed.")
    })
    expect((await inForce()).policy.tests).toHaveLength(1)
    expect(await max("policy", "publish", good, "--replacing", "2")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Version 4 is in force, not 2")
    })
  })

  it("grants and revokes access minimally, subject to the policy's tests", async () => {
    const before = (await inForce()).policy.rules.length
    const granted = await max("policy", "grant", "member", "people.phone")
    expect(granted).toMatchObject({
      code: 0,
      stdout: "~ member-all-people: member may also see phone of people\nVersion 5 is in force.\n"
    })
    expect((await inForce()).policy.rules).toHaveLength(before)
    expect(await max("policy", "revoke", "member", "people.phone")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("found it hidden on c1 (Vera Vip)")
    })
    expect(await max("policy", "grant", "member", "people.phone")).toMatchObject({
      code: 0,
      stdout: "Nothing changes.\n"
    })
    expect(await max("policy", "grant", "member", "people.fone")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Write: "phone"`)
    })
    expect(await max("policy", "grant", "member", "people.phone", "--where", "owner")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--where must be JSON")
    })
    const dry = await max("policy", "grant", "member", "people.tier", "--dry-run", "--json")
    expect(JSON.parse(dry.stdout)).toMatchObject({ version: null, changes: [{ mark: "~" }] })
    expect((await inForce()).version).toBe(5)
    expect((await max("policy", "list")).stdout).toMatch(/5\s.*in force\n4\s/)
    expect((await max("policy", "diff", "4")).stdout).toBe("~ member-all-people: member may also see phone of people\n")
    expect((await max("policy", "diff", "3", "3")).stdout).toBe("Nothing changes.\n")
    expect((await max("policy", "show", "9")).stderr).toContain(
      "There is no version 9. To list the versions: max policy list"
    )
  })

  it("explains a type and a row, with the SQL on request", async () => {
    const all = await max("policy", "explain", "--for", "bob@example.com", "people")
    expect(all.stdout).toContain("Bob Stone, member, sees all 4 people.")
    const row = await max("policy", "explain", "--for", "bob@example.com", "people", "c2")
    expect(row.stdout).toContain("Bob Stone, member, sees Carl Cole (people c2, ")
    expect(row.stdout).toMatch(
      /hidden\s+tier\s+tin\s+only member-own-people would show it, and it doesn't match this row/
    )
    expect(row.stdout).toContain("owner is Bob Stone: no  (owner: Ada Lovelace (")
    expect(row.stdout).not.toContain("SELECT")
    expect((await max("policy", "explain", "--for", "bob@example.com", "people", "--sql")).stdout).toContain("SELECT")
    expect(
      JSON.parse((await max("policy", "explain", "--for", "bob@example.com", "people", "c2", "--json")).stdout)
    ).toMatchObject({ visible: true })
    expect(await max("policy", "explain", "--for", "zoe@example.com", "people")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not an active member")
    })
    const tried = await max("policy", "explain", "--for", "c1@nowhere.example", "--role", "member", "people")
    expect(tried).toMatchObject({ code: 1, stderr: expect.stringContaining("No person has the identifier") })
    expect((await max("policy", "explain", "--for", "ada@example.com", "--role", "member", "people")).stdout).toContain(
      "Ada Lovelace, member, sees all 4 people."
    )
    expect(await max("policy", "explain", "--for", "ada@example.com", "peple")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean people?")
    })
  })

  it("simulates an unpublished file for a person", async () => {
    const own = file(
      "own.json",
      JSON.stringify({
        version: 1,
        roles: { member: {}, admin: {} },
        rules: [
          {
            id: "own",
            effect: "allow",
            role: "member",
            action: "read",
            type: "people",
            columns: ["name", "tier"],
            where: { owner: "$me" }
          }
        ]
      })
    )
    const ran = await max("policy", "simulate", own, "--type", "people", "--for", "bob@example.com")
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain("Bob Stone sees all 4 people now, and would see 1 of 4.")
    expect(ran.stdout).toContain("- 3 rows lost: Ada Lovelace, Bob Stone, Carl Cole")
    expect(ran.stdout).toContain("- phone lost on 1 row: Vera Vip")
  })

  it("proposes a file that another person approves in the inbox, where the policy asks for that", async () => {
    const { version } = await inForce()
    await max("member", "add", "bob@example.com", "--role", "admin")
    const { stdout: document } = await max("policy", "show")
    const confirm = [{ action: "publish", by: "second", approvers: ["admin"] }]
    const governed = file("governed.json", JSON.stringify({ ...JSON.parse(document), confirm }))
    expect(await max("policy", "publish", governed)).toMatchObject({ code: 0 })

    const narrower = { ...JSON.parse(document), confirm, tests: [] }
    const proposed = file("proposed.json", JSON.stringify({ ...narrower, rules: JSON.parse(document).rules.slice(1) }))
    for (const args of [
      ["publish", proposed],
      ["revoke", "member", "people.phone"]
    ])
      expect(await max("policy", ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("A second person (admin) approves each publication here.")
      })
    expect((await max("policy", "publish", proposed, "--propose", "--without-approval")).code).toBe(2)
    expect((await max("policy", "publish", proposed, "--propose")).code).not.toBe(0)
    const waiting = await max("policy", "publish", proposed, "--propose", "--as", "ada@example.com")
    expect([waiting.code, waiting.stderr]).toEqual([0, ""])
    expect(waiting.stdout).toContain("Publish a policy over version ")
    expect(waiting.stdout).toContain("Waits for another person with the role admin")
    expect((await inForce()).version).toBe(version + 1)

    const inbox = await max("inbox", "--as", "bob@example.com")
    const [, changeId] = /max change confirm (\w+)/.exec(inbox.stdout)!
    expect((await max("inbox", "--as", "ada@example.com")).stdout).toContain("Nothing waits for you.")
    const shown = await max("change", "show", changeId!, "--as", "bob@example.com")
    expect(shown.stdout).toMatch(/^ {2}- \S+: /m)
    expect(shown.stdout).toMatch(/ now, and would see /)
    const { digest, policy } = JSON.parse(
      (await max("change", "show", changeId!, "--as", "bob@example.com", "--json")).stdout
    ) as { digest: string; policy: { changes: ReadonlyArray<unknown> } }
    expect(policy.changes.length).toBeGreaterThan(0)
    expect((await max("change", "confirm", changeId!, digest, "--as", "ada@example.com")).stdout).toContain("Waits for")
    const done = await max("change", "confirm", changeId!, digest, "--as", "bob@example.com")
    expect(done.stdout).toContain(`Published: version ${version + 2} is in force.`)
    expect((await max("audit", "list", "--action", "policy.published")).stdout).toContain(changeId)

    // An operator publishes all the same, and says so.
    const back = await max("policy", "publish", file("back.json", document), "--without-approval")
    expect(back.code).toBe(0)
    expect((await max("audit", "list", "--action", "policy.published")).stdout).toContain("withoutApproval")
    await max("member", "add", "bob@example.com", "--role", "member")
  })

  it("prints the general schema without a database, and an organization's schema with one", async () => {
    const general = await runMax(["policy", "schema"], { DATABASE_URL: "postgres://user:x@127.0.0.1:1/none" })
    expect(JSON.parse(general.stdout)).toEqual(
      JSON.parse(readFileSync(new URL("../../policy.schema.json", import.meta.url), "utf8"))
    )
    expect((await max("policy", "schema", "--org", "atlas")).stdout).toContain(`"tier"`)
  })
})
