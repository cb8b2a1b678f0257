/** `max eval` with requests to change: each is said, its one change confirmed, and all rows compared. */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { modelFor, type ChangeCase } from "../support/changeCases.ts"
import { freshDatabase } from "../support/database.ts"
import { fixture } from "../support/fixtures.ts"
import { series } from "../support/long.ts"
import { startMessages } from "../support/messages.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-eval-"))
let env: Record<string, string> = {}
const max = (args: ReadonlyArray<string>, more: Record<string, string> = {}) => runMax(args, { ...env, ...more })
const map = (...pairs: ReadonlyArray<string>) => pairs.flatMap((pair) => ["--map", pair])
const data = (name: string) => fixture("workbench", name)

const TYPES = ["people", "companies", "meetings"]
const policy = (confirm: ReadonlyArray<object>) => {
  const path = join(folder, `policy-${confirm.length}.json`)
  const rules = TYPES.flatMap((type) =>
    ["read", "create", "update", "delete"].map((action) => ({
      id: `${action}-${type}`,
      effect: "allow",
      role: "admin",
      action,
      type,
      columns: "*"
    }))
  )
  writeFileSync(path, JSON.stringify({ version: 1, roles: { admin: { inherits: [] } }, rules, confirm }))
  return path
}

const run = async (args: ReadonlyArray<string>) => expect(await max(args), args.join(" ")).toMatchObject({ code: 0 })

beforeAll(async () => {
  env = {
    DATABASE_URL: await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope))),
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_AS: "sam@atlas.com"
  }
  const people = ["--type", "people"]
  for (const args of [
    ["migrate"],
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    ["import", data("seed_companies_workbench.jsonl"), "--type", "companies", "--ignore", "people"],
    ["import", data("seed_people_workbench_staff.jsonl"), ...people, "--ignore", "company"],
    ["import", data("seed_people_changes.jsonl"), ...people, "--ignore", "company"],
    [
      "import",
      data("seed_people_workbench_customers.jsonl"),
      ...people,
      "--create",
      ...map("owner=owner:people.email", "company=company:companies.name")
    ],
    [
      "import",
      data("seed_meetings_changes.jsonl"),
      "--type",
      "meetings",
      "--create",
      ...map("attendees=attendees:people.email", "owner=owner:people.email")
    ],
    ["policy", "publish", policy([])],
    ["member", "add", "sam@atlas.com", "--role", "admin"]
  ])
    await run(args)
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

let files = 0
const casesOf = (...cases: ReadonlyArray<object>) => {
  const path = join(folder, `${++files}.jsonl`)
  writeFileSync(path, cases.map((one) => JSON.stringify(one)).join("\n"))
  return path
}

/** Runs cases on November 30, 2023. */
const evaluate = async (paths: ReadonlyArray<string>, more: Record<string, string> = {}) => {
  const { stderr, stdout } = await max(["eval", "--today", "2023-11-30", "--min", "0", "--json", ...paths], more)
  expect(stderr).toBe("")
  return JSON.parse(stdout) as {
    readonly kinds: Record<string, Record<string, number>>
    readonly failures: ReadonlyArray<{ readonly place: string; readonly found: string }>
  }
}

const update = (id: string, values: object) => [{ action: "people.update", id: `wb:cust:${id}`, values }]
const WON = { do: "Update the status of Jordan Jones to won in the crm", expect: update("00000027", { status: "Won" }) }

describe("max eval with requests to change", () => {
  it("compares all rows after the change of a request, and undoes the change before the next request", async () => {
    const cancel = { do: "can you cancel my first meeting on December 8", expect: [{ action: "meetings.delete", id: "wb:meet:00000236" }] } // prettier-ignore
    const { kinds } = await evaluate([
      casesOf(WON, WON, cancel, cancel, { find: { type: "people", where: { name: "Jordan Jones", status: "Won" } }, expect: [] }) // prettier-ignore
    ])
    expect(kinds).toMatchObject({ do: { passed: 4, of: 4, nothing: 0, wrong: 0 }, find: { passed: 1, of: 1 } })
  })

  it("counts a request as nothing without a change, and as wrong with another change than the expected one", async () => {
    const { failures, kinds } = await evaluate([
      casesOf(
        { ...WON, do: "Update the status of Jordan Jonessen to won in the crm" },
        { ...WON, expect: update("00000027", { status: "Lost" }) },
        { ...WON, expect: update("00000048", { status: "Won" }) },
        { do: WON.do, expect: [] }
      )
    ])
    expect(kinds).toMatchObject({ do: { passed: 0, of: 4, nothing: 1, wrong: 3 } })
    expect(failures.map(({ found }) => found)).toEqual([
      expect.stringContaining("I couldn't find “Jordan Jonessen”"),
      ...Array(3).fill(`[{"action":"people.update","id":"wb:cust:00000027","values":{"status":"Won"}}]`)
    ])
  })

  it("counts an update as exact whose values the row has already, if no row changes", async () => {
    const same = { do: "Reassign Morgan Robinson to Sofia in the crm", expect: update("00000125", { owner: "wb:staff:sofia.santos@atlas.com" }) } // prettier-ignore
    const other = { ...same, expect: update("00000125", { owner: "wb:staff:raj.patel@atlas.com" }) }
    expect((await evaluate([casesOf(same, other)])).kinds).toMatchObject({ do: { passed: 1, nothing: 1, wrong: 0 } })
  })

  it("withdraws a change that another person has to approve, and counts it as wrong", async () => {
    await run(["policy", "publish", policy([{ action: "update", type: "people", by: "second", approvers: ["admin"] }])])
    const { failures, kinds } = await evaluate([casesOf(WON)])
    expect(kinds).toMatchObject({ do: { passed: 0, nothing: 0, wrong: 1 } })
    expect(failures).toMatchObject([{ found: "a change that another person has to approve" }])
    expect((await max(["change", "list"])).stdout).toMatch(/withdrawn/i)
    await run(["policy", "publish", policy([])])
  })

  it("changes nothing where changes are switched off", async () => {
    const { kinds } = await evaluate([casesOf(WON)], { MAX_CHANGES: "off" })
    expect(kinds).toMatchObject({ do: { passed: 0, nothing: 1, wrong: 0 } })
  })

  // The script of the model is made from what is expected; that it is drafted and written is up to Max and its guards.
  it("changes exactly what each request of a sales data set asks for when a model drafts it", async () => {
    const lines = ["crm", "calendar"].flatMap((name) =>
      readFileSync(data(`${name}.changes.cases.jsonl`), "utf8")
        .trim()
        .split("\n")
    )
    expect(lines).toHaveLength(90)
    const cases = lines
      .filter((_, index) => index % series({ short: 9, long: 1 }) === 0)
      .map((line) => JSON.parse(line) as ChangeCase)
    const server = await startMessages(modelFor(cases))
    const { failures, kinds } = await evaluate([casesOf(...cases)], {
      ANTHROPIC_API_KEY: "sk-test",
      ANTHROPIC_BASE_URL: server.url
    })
    await server.close()
    expect(failures).toEqual([])
    expect(kinds).toMatchObject({ do: { passed: cases.length, of: cases.length, nothing: 0, wrong: 0 } })
    expect(server.requests.filter(({ rejected }) => rejected !== undefined)).toEqual([])
  })

  // All of them take a minute: more than half need two confirmations, a second apart.
  it("changes exactly what at least 19 of 20 requests of a sales data set ask for, and never anything else", async () => {
    const lines = ["crm", "calendar"].flatMap((name) =>
      readFileSync(data(`${name}.changes.cases.jsonl`), "utf8")
        .trim()
        .split("\n")
    )
    const cases = lines.filter((_, index) => index % series({ short: 15, long: 1 }) === 0)
    const { failures, kinds } = await evaluate([casesOf(...cases.map((line) => JSON.parse(line)))])
    console.log(failures)
    expect(lines).toHaveLength(90)
    expect(kinds).toMatchObject({ do: { of: cases.length, wrong: 0 } })
    expect(kinds["do"]!["passed"]! / cases.length).toBeGreaterThanOrEqual(0.95)
  })

  it("changes exactly the rows and cells of a set that a request asks for, or nothing", async () => {
    const path = join(import.meta.dirname, "..", "agents", "basic", "deeds", "sets.jsonl")
    type Write = { readonly action: string; readonly ids: ReadonlyArray<string>; readonly values?: object } | null
    const all = readFileSync(path, "utf8").trim().split("\n").map((line): { readonly do: string; readonly expect: Write } => JSON.parse(line)) // prettier-ignore
    const cases = all
      .filter(({ do: said }) => !/tasks/.test(said))
      .filter((_, index) => index % series({ short: 16, long: 1 }) === 0)
      .map(({ do: said, expect }) => ({
        do: said,
        expect: (expect?.ids ?? []).map((id) => ({ action: expect!.action, id, ...(expect!.values && { values: expect!.values }) })) // prettier-ignore
      }))
    const { failures, kinds } = await evaluate([casesOf(...cases)])
    console.log(failures)
    expect(kinds).toMatchObject({ do: { of: cases.length, wrong: 0 } })
    expect(kinds["do"]!["passed"]! / cases.length).toBeGreaterThanOrEqual(0.85)
  })
})
