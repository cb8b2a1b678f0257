/**
 * The hundred customers of a sales data set text an organization: their numbers identify them, and the channel's role
 * bounds the answers. The command line simulates the first few, in `npm run prove` all of them.
 */
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { BasicStep } from "../../../src/agents/basic/BasicStep.ts"
import { MaxAgent } from "../../../src/agents/MaxAgent.ts"
import { SmsDispatcher } from "../../../src/channels/sms/SmsDispatcher.ts"
import { simulateMessage } from "../../../src/channels/sms/simulateMessage.ts"
import { SmsProcessor } from "../../../src/channels/sms/SmsProcessor.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Env } from "../../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../../src/layers.ts"
import { ExternalIds } from "../../../src/services/operations/ExternalIds.ts"
import { OrganizationState } from "../../../src/services/catalog/OrganizationState.ts"
import { ToolHandlers } from "../../../src/tools/handlers.ts"
import { runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { fixture } from "../../support/fixtures.ts"
import { series } from "../../support/long.ts"

const PHONES = series({ short: 3, long: 100 })
const root = join(import.meta.dirname, "..", "..", "..")
const data = fixture("workbench")

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-sms-workbench-"))
let env: Record<string, string> = {}
let organization: Organization

const max = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await runMax(args, env)
  expect(code, `max ${args.join(" ")}\n${stderr}`).toBe(0)
  return stdout
}

const makeRuntime = (url: string) =>
  ManagedRuntime.make(
    SmsProcessor.layer.pipe(
      Layer.provide(SmsDispatcher.layer),
      Layer.provideMerge(MaxAgent.layer),
      Layer.provideMerge(BasicStep),
      Layer.provideMerge(ToolHandlers),
      Layer.provideMerge(Services),
      Layer.provideMerge(ConfiguredDatabase),
      Layer.provideMerge(Env.layerWith({ databaseUrl: Redacted.make(url), lookupTimeout: 10_000 }))
    )
  )
let runtime: ReturnType<typeof makeRuntime>

const cases: ReadonlyArray<{ readonly phone: string; readonly externalId: string }> = readFileSync(
  join(data, "anchor.cases.jsonl"),
  "utf8"
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .map(({ anchor, expect: [externalId] }) => ({ phone: anchor.phone, externalId }))

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000", MAX_ORG: "atlas" }
  const policy = JSON.parse(readFileSync(join(root, "examples", "sms", "policy.json"), "utf8"))
  const file = join(folder, "policy.json")
  writeFileSync(file, JSON.stringify(policy))
  await max("init", "--org", "atlas", "--name", "Atlas", "--country", "US", "--time-zone", "America/New_York")
  await max("import", join(data, "seed_companies_workbench.jsonl"), "--type", "companies", "--ignore", "people")
  await max("import", join(data, "seed_people_workbench_staff.jsonl"), "--type", "people", "--ignore", "company")
  const customers = ["import", join(data, "seed_people_workbench_customers.jsonl"), "--type", "people", "--create"]
  await max(...customers, "--map", "owner=owner:people.email", "--map", "company=company:companies.name")
  await max("policy", "publish", file)
  runtime = makeRuntime(url)
  organization = await runtime.runPromise(Effect.flatMap(OrganizationState, (states) => states.organization("atlas")))
})

afterAll(async () => {
  await runtime?.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const externalIdOf = (id: string) =>
  runtime.runPromise(
    Effect.flatMap(ExternalIds, (ids) => Effect.map(ids.of(organization, "people", [id]), (found) => found.get(id)))
  )

const e164 = (phone: string) => `+1${phone.replace(/\D/g, "").slice(-10)}`

/** Simulates a customer's message, on the command line for the first few. */
const simulate = async (index: number, text: string) => {
  const { externalId, phone } = cases[index]!
  const byCommand = index < PHONES
  const { admitted, identified, outcome, texts } = byCommand
    ? JSON.parse(await max("sms", "simulate", "--from", phone, text, "--json"))
    : await runtime.runPromise(simulateMessage(organization, e164(phone), text))
  expect(identified).toHaveLength(1)
  expect(await externalIdOf(identified[0].id)).toBe(externalId)
  return { admitted: admitted ?? undefined, outcome, bodies: texts.map(({ body }: { body: string }) => body) }
}

const QUESTION = "who is Taylor Jackson?"

describe("a hundred customers", () => {
  it("are identified by their numbers, and refused without a turn while they have no access", async () => {
    expect(cases).toHaveLength(100)
    const bodies = ["I'm Max, for Atlas. Sorry, I can't answer this number. Please ask an administrator for access."]
    for (const index of cases.keys()) {
      expect(await simulate(index, QUESTION)).toEqual({ admitted: undefined, outcome: "refused", bodies })
    }
    const spent = await runtime.runPromise(
      Effect.flatMap(Database, ({ owner }) => owner`SELECT 1 FROM max.spending UNION ALL SELECT 1 FROM max.turns`)
    )
    expect(spent).toEqual([])
  })

  it("are each answered once the channel is open, within the rights of its role", async () => {
    await max("sms", "open", "--role", "guest")
    const bodies = ["I'm Max, for Atlas (basic mode). Taylor Jackson is at nanolabs."]
    for (const index of cases.keys()) {
      expect(await simulate(index, QUESTION)).toEqual({ admitted: "opened channel", outcome: "answered", bodies })
    }
    const hidden = await simulate(0, "and her phone?")
    expect(hidden.bodies[0]).toContain("That's not something I can look up for you")
  })
})
