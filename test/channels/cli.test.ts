import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { SCHEMA_VERSION } from "../../src/database/migrations/index.ts"
import { freshDatabase } from "../support/database.ts"
import { runMax } from "../support/cli.ts"
import { LONG } from "../support/long.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-cli-"))
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

const file = (name: string, text: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

beforeAll(async () => {
  const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
  // A generous timeout: these tests do not measure time.
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("the max command", () => {
  it("prints its version and help without a database", async () => {
    expect(await runMax(["--version"], {})).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^max v\d+\.\d+\.\d+\n$/)
    })
    const help = await runMax(["--help"], {})
    expect(help).toMatchObject({ code: 0, stderr: "" })
    for (const word of ["find", "import", "policy", "DATABASE_URL", "MAX_DATA_DIR"]) expect(help.stdout).toContain(word)
    expect((await runMax(["--completions", "bash"], {})).stdout).toContain("complete")
    expect((await runMax(["tools", "--json"], {})).code).toBe(0)
  })

  it("exits with 0 when the reader of its output closes the pipe", async () => {
    const program = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist", "bin", "max.js")
    const home = mkdtempSync(join(tmpdir(), "max-pipe-"))
    // If root runs the tests, the embedded server runs as another user, who needs access to this folder.
    chmodSync(home, 0o755)
    const { stderr, stdout } = await promisify(execFile)(
      "bash",
      ["-c", `"${process.execPath}" "${program}" demo | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`],
      { cwd: home, env: { ...process.env, MAX_STATE_DIR: join(home, "state") } }
    )
    expect([stdout, stderr]).toEqual(["0\n", ""])
    rmSync(home, { recursive: true, force: true })
  })

  it("exits with 2 and one hint on invalid usage", async () => {
    for (const args of [
      ["fnd"],
      ["find"],
      ["find", "people", "--limit", "many"],
      ["import", "x.csv"],
      ["tool", "dropTables"]
    ]) {
      const ran = await max(...args, "--as", "x@example.com")
      expect(ran.code, args.join(" ")).toBe(2)
      expect(ran.stdout).toBe("")
      expect(ran.stderr).not.toMatch(/\n\s+at /)
    }
  })

  it("exits with 3 and one line when a setting is invalid", async () => {
    for (const [name, value] of [
      ["MAX_SEARCH_CONNECTIONS", "lots"],
      ["DATABASE_URL", "mysql://x"],
      ["DATABASE_URL", "env:NO_SUCH"],
      ["DATABASE_URL", "file:/no/such"],
      ["MAX_LOG_LEVEL", "loud"],
      ["MAX_LOG_FORMAT", "xml"],
      ["MAX_ACCESS_LOG", "yes"]
    ] as const) {
      const ran = await runMax(["types", "--as", "x@example.com"], { ...env, [name]: value })
      expect([ran.code, ran.stdout]).toEqual([3, ""])
      expect(ran.stderr).toMatch(new RegExp(`^${name}: expected .*\\.\n$`))
    }
  })

  it("leaves an unmigrated database unchanged until max migrate runs", async () => {
    const before = await max("types", "--as", "x@example.com")
    expect([before.code, before.stdout]).toEqual([3, ""])
    expect(before.stderr).toContain("max migrate")
    const printed = await max("migrate", "--print")
    expect(printed.stdout).toContain("CREATE TABLE data.people")
    expect((await max("types", "--as", "x@example.com")).code).toBe(3)
    expect((await max("migrate")).code).toBe(0)
    expect(JSON.parse((await max("migrate", "--json")).stdout)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
  })

  it("exits with 7 for every command when the database is down", async () => {
    const down = { DATABASE_URL: "postgres://user:password@127.0.0.1:9/none" }
    for (const args of [["types"], ["find", "people"], ["org", "list"], ["migrate"], ["tool", "listEntityTypes"]]) {
      const ran = await runMax([...args, "--as", "x@example.com"], down)
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([
        7,
        "",
        "I can't look things up right now. Please try again in a minute.\n"
      ])
    }
  })

  it("takes an empty organization to its first answers with commands alone", async () => {
    const made = await max("init", "--org", "atlas", "--country", "us", "--time-zone", "America/New_York")
    expect(made.code).toBe(0)
    expect(made.stdout).toContain("member")
    expect((await max("init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York")).code).toBe(1)
    expect((await max("init", "--org", "b", "--country", "ZZ", "--time-zone", "America/New_York")).stderr).toContain(
      "--country US"
    )
    expect((await max("init", "--org", "b", "--country", "US", "--time-zone", "Mars/Olympus")).stderr).toContain(
      "America/New_York"
    )

    const people = file(
      "people.csv",
      "id,name,email,phone,status\n1,Ada Lovelace,ada@example.com,212-555-0100,vip\n2,Bob Stone,bob@example.com,,lead\n"
    )
    expect(await max("import", people, "--type", "people")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("2 new")
    })
    expect(await max("import", people, "--type", "people")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("2 unchanged")
    })
    const bad = file("bad.csv", "id,name,email\n3,Carl,c@example.com\n4,,unknown@example.com\n5,Eve,e@example.com\n")
    const refused = await max("import", bad, "--type", "people")
    expect([refused.code, refused.stdout]).toEqual([1, ""])
    expect(refused.stderr).toContain("3")

    expect((await max("member", "add", "ada@example.com", "--role", "admin")).code).toBe(0)
    expect((await max("member", "add", "unknown@example.com", "--role", "admin")).stderr).toContain("--create")
    expect((await max("member", "add", "bob@example.com", "--role", "mmember")).stderr).toContain(
      "Did you mean member?"
    )
    const members = await max("member", "list", "--json")
    expect(JSON.parse(members.stdout)).toMatchObject([{ name: "Ada Lovelace", roles: ["admin"], suspended: false }])

    const found = await max(
      "find",
      "people",
      "phone=(212) 555-0100",
      "--select",
      "email",
      "--as",
      "ada@example.com",
      "--json"
    )
    expect(JSON.parse(found.stdout)).toMatchObject({
      total: 1,
      entities: [{ displayName: "Ada Lovelace", columns: { email: "ada@example.com" } }]
    })
    expect(await max("find", "people", "name=unknown", "--as", "ada@example.com")).toMatchObject({
      code: 0,
      stdout: "Nothing found.\n"
    })
    const rendered = await max(
      "tool",
      "findEntities",
      `{"entityTypeId":"people","filters":[],"selectColumns":["email"]}`,
      "--as",
      "ada@example.com"
    )
    expect(rendered.stdout).toMatch(/^total 2\nname\tstatus\temail\tid\nAda Lovelace\tvip\tada@example.com\t[a-z]+\n/)
    expect((await max("tool", "findEntities", `{"entityTypeId":5}`, "--as", "ada@example.com")).code).toBe(2)
    expect((await max("tool", "findEntities", "{", "--as", "ada@example.com")).code).toBe(2)
  })

  it("exits with 4 for a caller who is not admitted and with 6 for a name that is unknown or hidden", async () => {
    expect(await max("types", "--as", "stranger@example.com")).toMatchObject({ code: 4, stdout: "" })
    expect(await max("find", "unicorns", "--as", "ada@example.com")).toMatchObject({ code: 6, stdout: "" })
    expect(await max("find", "people", "salary>=5", "--as", "ada@example.com")).toMatchObject({ code: 6, stdout: "" })
    expect((await max("member", "suspend", "ada@example.com")).code).toBe(0)
    expect(await max("types", "--as", "ada@example.com")).toMatchObject({ code: 4, stdout: "" })
    expect((await max("member", "resume", "ada@example.com")).code).toBe(0)
    expect((await max("types", "--as", "ada@example.com")).code).toBe(0)
    expect(await max("member", "resume", "ada@example.com")).toMatchObject({ code: 1, stdout: "" })
  })

  it("reads a policy only from a regular UTF-8 file", async () => {
    for (const path of [
      "/dev/zero",
      folder,
      join(folder, "missing.json"),
      file("latin1.json", Buffer.from([0x7b, 0xe9]))
    ]) {
      const ran = await max("policy", "publish", path)
      expect([ran.code, ran.stdout]).toEqual([1, ""])
      expect(ran.stderr).toMatch(/^".*" (isn't|can't) .*\.\n$/)
    }
  })

  it("evaluates cases with known answers and fails when too few pass", async () => {
    const cases = file(
      "cases.jsonl",
      [
        `{"find": {"type": "people", "where": {"email": "BOB@example.com"}}, "expect": ["2"]}`,
        `{"anchor": {"phone": "+1 212 555 0100"}, "expect": ["1"]}`,
        `{"anchor": {"phone": "+1 212 555 0199"}, "expect": []}`
      ].join("\n")
    )
    expect(await max("eval", cases, "--as", "ada@example.com")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("3 passed, 0 failed")
    })
    const wrong = file("wrong.jsonl", `{"find": {"type": "people", "where": {"name": "Bob Stone"}}, "expect": ["1"]}`)
    const ran = await max("eval", wrong, "--as", "ada@example.com")
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringContaining("expected 1, found 2")])
    expect((await max("eval", wrong, "--as", "ada@example.com", "--min", "0")).code).toBe(0)
  })

  it("strips control and bidirectional characters from row values", async () => {
    const people = file(
      "odd.jsonl",
      JSON.stringify({ id: "odd", name: "Eve\u202e\u001b[31mliar\u0007\tx", email: "eve@example.com" })
    )
    expect((await max("import", people, "--type", "people")).code).toBe(0)
    for (const args of [
      ["find", "people", "email=eve@example.com"],
      ["find", "people", "email=eve@example.com", "--json"],
      [
        "tool",
        "findEntities",
        `{"entityTypeId":"people","filters":[{"columnId":"email","op":"eq","value":"eve@example.com"}]}`
      ]
    ]) {
      const ran = await max(...args, "--as", "ada@example.com")
      expect(ran.code).toBe(0)
      expect(ran.stdout).toContain("Eve")
      expect(ran.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    }
  })

  it("prints the policy in force as a file that can be published again, including columns created since", async () => {
    const tiers = file("tiers.csv", "id,name,tier\n1,Ada Lovelace,gold\n")
    expect(await max("import", tiers, "--type", "people", "--create")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 row into People")
    })
    const find = ["find", "people", "name=ada lovelace", "--select", "tier", "--as", "ada@example.com"]
    // The starter policy's admin rule shows columns that an import creates; other roles need a new policy.
    expect(await max(...find)).toMatchObject({ code: 0, stdout: expect.stringContaining("gold") })
    const shown = await max("policy", "show")
    expect(shown.code).toBe(0)
    expect((await max("policy", "publish", file("shown.json", shown.stdout))).code).toBe(0)
    expect(await max(...find)).toMatchObject({ code: 0, stdout: expect.stringContaining("gold") })
    expect(JSON.parse((await max("policy", "show", "--json")).stdout)).toMatchObject({ version: 3 })
  })

  it("never shows one organization a byte of another, for any command and any outcome", async () => {
    const canaries = { atlas: "KANARIENVOGEL", borealis: "ZITRONENFALTER" } as const
    expect((await max("init", "--org", "borealis", "--country", "US", "--time-zone", "Europe/Berlin")).code).toBe(0)
    for (const [org, canary] of Object.entries(canaries)) {
      const rows = [1, 2, 3].map((id) =>
        JSON.stringify({
          id: `same-${id}`,
          name: `Twin ${id} ${canary}`,
          email: `twin${id}.${canary}@example.com`,
          phone: `212-555-020${id}`,
          status: canary
        })
      )
      expect((await max("import", file(`${org}.jsonl`, rows.join("\n")), "--type", "people", "--org", org)).code).toBe(
        0
      )
      const companies = file(
        `${org}-companies.jsonl`,
        JSON.stringify({ id: "c", name: `Company ${canary}`, extra: canary })
      )
      expect((await max("import", companies, "--type", "companies", "--create", "--org", org)).code).toBe(0)
      expect(
        (
          await max(
            "import",
            file(`${org}-custom.jsonl`, JSON.stringify({ id: "c", name: canary })),
            "--type",
            `own_${canary.toLowerCase()}`,
            "--create",
            "--org",
            org
          )
        ).code
      ).toBe(0)
      // One person administers both organizations, so the identity of the caller does not separate them.
      expect((await max("member", "add", "both@example.com", "--role", "admin", "--create", "--org", org)).code).toBe(0)
    }
    const other = JSON.parse(
      (await max("find", "people", "phone=212-555-0201", "--as", "both@example.com", "--org", "borealis", "--json"))
        .stdout
    )
    const otherId: string = other.entities[0].entityId
    const attempts: ReadonlyArray<ReadonlyArray<string>> = [
      ["types"],
      ["columns", "people"],
      ["columns", "companies"],
      ["columns", "own_zitronenfalter"],
      ["find", "people", "name~twin", "--select", "email,phone,status", "--limit", "25"],
      ["find", "people", "phone=212-555-0201"],
      ["find", "people", "name~zitron"],
      ["find", "people", "email=twin1.zitronenfalter@example.com"],
      ["find", "people", `owner=${otherId}`],
      ["find", "people", "--after", otherId, "--limit", "25"],
      ["find", "companies", "name~company", "--select", "extra"],
      ["find", "companies", "extr=1"],
      ["find", "own_zitronenfalter"],
      ["find", "own_zitronenfalte"],
      ["find", "meetings", "attendees~twin"],
      ["find", "people", "nam=1"],
      ["tool", "listEntityTypes"],
      ["tool", "listColumnsForType", `{"entityTypeId":"companies"}`],
      [
        "tool",
        "findEntities",
        `{"entityTypeId":"people","filters":[],"limit":25,"organizationId":"borealis","selectColumns":["email"]}`
      ],
      ["tool", "findEntities", `{"entityTypeId":"people","filters":[],"cursorEntityId":"${otherId}"}`],
      ["tool", "findEntities", `{"entityTypeId":"own_zitronenfalter","filters":[]}`],
      ["member", "list"],
      ["member", "add", "twin1.zitronenfalter@example.com", "--role", "admin"],
      ["member", "suspend", "twin1.zitronenfalter@example.com"],
      ["types", "--as", "twin1.zitronenfalter@example.com"]
    ]
    const codes = new Set<number | null>()
    for (const [index, args] of attempts.entries()) {
      // Each start of the program takes a second, so `npm test` asks for the two formats in turn and `npm run prove` for both.
      for (const more of LONG ? [[], ["--json"]] : index % 2 === 0 ? [[]] : [["--json"]]) {
        const ran = await max(
          ...args,
          ...(args.includes("--as") ? [] : ["--as", "both@example.com"]),
          "--org",
          "atlas",
          ...more
        )
        codes.add(ran.code)
        // Output may echo the caller's own arguments.
        const said = args.reduce((text, word) => text.replaceAll(word, ""), `${ran.stdout}${ran.stderr}`)
        const echoed = args.join(" ").toUpperCase().includes(canaries.borealis)
        expect(echoed ? said.replaceAll(/"[^"\n]*"/g, "") : said, args.join(" ")).not.toMatch(
          new RegExp(canaries.borealis, "i")
        )
      }
    }
    expect([...codes].sort()).toEqual([0, 1, 2, 4, 6])
  })

  it("prints one line for an unexpected error, and details only at debug level", async () => {
    const broken = PgClient.make({ url: Redacted.make(env["DATABASE_URL"]!) }).pipe(
      Effect.flatMap((owner) => owner`UPDATE max.policies SET rules = '5'`),
      Effect.scoped,
      Effect.provide(Reactivity.layer)
    )
    await Effect.runPromise(broken)
    const ask = ["types", "--as", "both@example.com", "--org", "borealis"]
    expect(await max(...ask)).toEqual({
      code: 1,
      stdout: "",
      stderr: "Something went wrong inside Max. MAX_LOG_LEVEL=debug shows more.\n"
    })
    const debug = await runMax(ask, { ...env, MAX_LOG_LEVEL: "debug" })
    expect([debug.code, debug.stdout]).toEqual([1, ""])
    expect(debug.stderr).toContain("SchemaError")
  })
})
