import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv } from "ajv"
import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { SETTINGS } from "../../src/env.ts"
import { configSchema, readConfig } from "../../src/env/configFile.ts"
import { runMax } from "../support/cli.ts"

const folder = mkdtempSync(join(tmpdir(), "max-config-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (content: string, mode = 0o600) => {
  const path = join(folder, "max.json")
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}
const problemsOf = (content: string, isShared = false) => readConfig(content, isShared).problems
const DOWN = "postgres://user@127.0.0.1:9/none"

describe("a configuration file", () => {
  it("has the settings of the environment, which overrides it", async () => {
    const path = file(`{ "$schema": "./config.schema.json", "DATABASE_URL": "${DOWN}", "MAX_LOG_LEVEL": "warn" }`)
    // Nothing listens there.
    expect((await runMax(["--config", path, "org", "list"], {})).code).toBe(7)
    expect((await runMax(["org", "list", `--config=${path}`], {})).code).toBe(7)
    expect((await runMax(["org", "list"], { MAX_CONFIG: path })).code).toBe(7)
    const overridden = await runMax(["org", "list"], { MAX_CONFIG: path, DATABASE_URL: "mysql://x" })
    expect([overridden.code, overridden.stderr]).toEqual([3, expect.stringMatching(/^DATABASE_URL: expected /)])
  })

  it("is checked whole, with the line of each problem, and an invalid one starts nothing", async () => {
    const path = file(`{
  "MAX_LOG_LEVL": "info",
  "MAX_HTTP_PORT": 70000,
  "MAX_ORG": "atlas",
  "MAX_ORG": "other",
  "MAX_ALLOWED_HOSTS": ["a.example", 5],
  "MAX_PUBLIC_URL": "https://max.example.com"
}`)
    const problems = [
      'line 2: There is no setting "MAX_LOG_LEVL". Did you mean MAX_LOG_LEVEL?',
      "line 3: MAX_HTTP_PORT: expected a whole number from 0 to 65535.",
      'line 5: "MAX_ORG" is there twice.',
      "line 6: MAX_ALLOWED_HOSTS: expected a comma-separated list."
    ]
    const checked = await runMax(["config", "check", path], {})
    expect([checked.code, checked.stdout]).toEqual([3, ""])
    expect(checked.stderr.split("\n").slice(1, -1)).toEqual(problems.map((problem) => `  ${problem}`))
    expect(await runMax(["--config", path, "org", "list"], {})).toEqual(checked)
    const good = file(`{ "MAX_HTTP_PORT": 7701, "MAX_ALLOWED_HOSTS": ["a.example", "b.example"], "MAX_ACCESS_LOG": 1 }`)
    expect(await runMax(["config", "check", good], {})).toMatchObject({ code: 0, stdout: "3 settings, no problem.\n" })
    expect(await runMax(["config", "check"], { MAX_CONFIG: good })).toMatchObject({ code: 0 })
    expect(await runMax(["config", "check"], {})).toMatchObject({ code: 2 })
    expect(await runMax(["config", "check", join(folder, "none.json")], {})).toMatchObject({ code: 3, stdout: "" })
  })

  const SECRETS = [
    `{ "ANTHROPIC_API_KEY": "sk-qzsecret" }`,
    `{ "MAX_METRICS_TOKEN": "qzsecret-qzsecret" }`,
    `{ "MAX_API_KEY": "qzsecret" }`,
    `{ "DATABASE_URL": "postgres://max:qzsecret@db.example/max" }`,
    `{ "MAX_POOL_URL": "postgres://db.example/max?password=qzsecret" }`,
    `{ "MAX_REPLICA_URLS": "postgres://a.example,postgres://max:qzsecret@db.example/max" }`
  ]

  it("has a secret only by reference, unless its owner alone can read it", () => {
    for (const content of SECRETS) {
      expect(problemsOf(content), content).toEqual([])
      const [problem, second] = problemsOf(content, true)
      expect([problem, second], content).toEqual([
        expect.stringContaining("expected env:NAME or file:/path"),
        undefined
      ])
    }
    expect(problemsOf(`{ "DATABASE_URL": "${DOWN}", "MAX_API_KEY": "env:PATH" }`, true)).toEqual([])
  })

  it("with a secret that its group or other users can read is refused, and the secret isn't printed", async () => {
    for (const mode of [0o640, 0o604]) {
      const refused = await runMax(["config", "check", file(SECRETS[0]!, mode)], {})
      expect(refused.code).toBe(3)
      expect(refused.stdout + refused.stderr).not.toContain("qzsecret")
    }
  })

  it("never repeats its text in a problem, whatever it contains", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]":,\\ \n1at\u0000nul'.split("")), maxLength: 60 }),
        (noise) => {
          for (const problem of problemsOf(`{ "MAX_API_KEY": "qzsecret" ${noise}`))
            expect(problem).not.toContain("qzsecret")
        }
      ),
      { numRuns: 2000 }
    )
    for (const content of [
      "",
      "[]",
      "{",
      `{"MAX_ORG"`,
      `{"MAX_ORG": `,
      `{"MAX_ORG": "a",}`,
      `{"MAX_ORG": {}}`,
      "{} {}",
      `"`
    ])
      expect(problemsOf(content), content).toEqual([expect.stringMatching(/^line 1: expected /)])
    expect(problemsOf(`{\n"MAX_ORG": "a"\n"MAX_AS": "b"\n}`)).toEqual(['line 3: expected "," or "}".'])
  })

  it("agrees with JSON on every valid object of texts and numbers", () => {
    const names = Object.values(SETTINGS).map(({ name }) => name)
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.array(fc.string({ unit: fc.constantFrom("a", "é", '"', "\\") }))
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), fc.constantFrom(0, 2), (object, indent) => {
        const { values } = readConfig(JSON.stringify(object, undefined, indent), false)
        expect(values).toEqual(Object.fromEntries(Object.entries(object).map(([name, one]) => [name, String(one)])))
      })
    )
  })

  it("has the published schema, which knows every setting and refuses other names", () => {
    const published: unknown = JSON.parse(readFileSync(new URL("../../config.schema.json", import.meta.url), "utf8"))
    expect(published).toEqual(configSchema())
    const valid = new Ajv({ strict: false }).compile(configSchema())
    expect(valid({ MAX_HTTP_PORT: 7700, MAX_ALLOWED_HOSTS: ["a"], MAX_LOG_LEVEL: "info", MAX_ACCESS_LOG: 1 })).toBe(
      true
    )
    for (const wrong of [{ MAX_HTTP_PORTS: 1 }, { MAX_HTTP_PORT: 70000 }, { MAX_LOG_LEVEL: "loud" }, { MAX_ORG: 5 }])
      expect(valid(wrong), JSON.stringify(wrong)).toBe(false)
  })
})

describe("the environment", () => {
  it("is refused when a name of Max is misspelled, and not for names of others", async () => {
    const misspelled = await runMax(["org", "list"], { MAX_LOOKUP_TIMEOUTS: "5" })
    expect(misspelled).toEqual({
      code: 3,
      stdout: "",
      stderr: 'There is no setting "MAX_LOOKUP_TIMEOUTS". Did you mean MAX_LOOKUP_TIMEOUT?\n'
    })
    expect(await runMax(["org", "list"], { MAX_PORT: "9000" })).toMatchObject({
      code: 3,
      stderr: 'There is no setting "MAX_PORT". Did you mean MAX_HTTP_PORT?\n'
    })
    const others = { MAX_PORT: "tcp://10.0.0.1:7700", MAX_SERVICE_HOST: "10.0.0.1", MAX_UNRELATED_PROGRAM: "x" }
    expect((await runMax(["config", "schema"], others)).code).toBe(0)
  })
})
