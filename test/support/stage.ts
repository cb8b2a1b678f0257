/**
 * A small company for tests of the pages, behind a real server with a scripted model: people (two share a name),
 * companies, meetings, and members who sign in by link.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import type { Page } from "playwright-core"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import policy from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import type { Organization } from "../../src/domain/EntityType.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { Importer } from "../../src/services/import/Importer.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { migratedDatabase } from "./database.ts"
import { startServer } from "./http.ts"
import { type MessagesServer, says, startMessages } from "./messages.ts"

export const ROSA = "rosa.delgado@harbor.example"
export const YUKI = "yuki.tanaka@harbor.example"
/** A member whose role grants nothing. */
export const GUEST = "guest@harbor.example"

const STAFF = [
  { name: "Rosa Delgado", email: ROSA, phone: "+1 415-555-0101", status: "Staff" },
  { name: "Yuki Tanaka", email: YUKI, phone: "+1 415-555-0102", status: "Staff" },
  { name: "Guest", email: GUEST, phone: "+1 415-555-0103", status: "Staff" }
]

const COMPANIES = [
  { id: "alder", name: "Alder Foods", status: "Customer", phone: "+1 617-555-0142", email: "hello@alderfoods.example" },
  { id: "cedar", name: "Cedar Labs", status: "Customer", phone: "+1 206-555-0177", email: "desk@cedarlabs.example" },
  { id: "heron", name: "Heron Optics", status: "Lead", phone: "+1 512-555-0118", email: "hi@heronoptics.example" }
].map((company) => ({ ...company, owner: ROSA }))

const PEOPLE = [
  ["Amélie Quinn", "Customer", "+1 617-555-0188", "amelie.quinn@alderfoods.example", "alder"],
  ["Laura Szabó", "Customer", "+1 206-555-0131", "laura.szabo@cedarlabs.example", "cedar"],
  ["Laura Szabó", "Lead", "+1 512-555-0164", "l.szabo@heronoptics.example", "heron"],
  ["Noor Okafor", "Customer", "+1 617-555-0119", "noor.okafor@alderfoods.example", "alder"],
  ["ليلى حداد", "Lead", "+1 512-555-0197", "leila@heronoptics.example", "heron"],
  ["Emeka Lindqvist", "Paused", "+1 206-555-0155", "emeka@cedarlabs.example", "cedar"]
].map(([name, status, phone, email, company]) => ({ name, status, phone, email, company, owner: ROSA }))

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

const meetings = () =>
  [
    ["Contract renewal", 1, "10:00", "alder", "amelie.quinn@alderfoods.example"],
    ["Site visit", 3, "14:30", "cedar", "laura.szabo@cedarlabs.example"],
    ["Pricing call", 8, "09:15", "heron", "leila@heronoptics.example"]
  ].map(([name, days, hour, company, who]) => ({
    name,
    status: "Planned",
    start: `${day(Number(days))}T${hour}`,
    owner: ROSA,
    company,
    attendees: `${who};${ROSA}`
  }))

const fill = Effect.fnUntraced(function* (organization: Organization, folder: string) {
  const importer = yield* Importer
  const load = (type: string, rows: ReadonlyArray<object>, map: Record<string, string> = {}) => {
    const file = join(folder, `${type}.jsonl`)
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"))
    return importer.import(organization, { files: [file], type, map, ignore: [] })
  }
  const owner = "owner:people.email"
  yield* load("people", STAFF)
  yield* load("companies", COMPANIES, { owner })
  yield* load("people", PEOPLE, { owner, company: "company:companies.id" })
  yield* load("meetings", meetings(), { owner, company: "company:companies.id", attendees: "attendees:people.email" })
  const policies = yield* Policies
  const members = yield* Memberships
  const roles = { ...policy.roles, guest: { inherits: [] } }
  yield* policies.publish(organization, JSON.stringify({ ...policy, roles }), "test")
  yield* members.add(organization, { identifier: ROSA, roles: ["rep"] })
  yield* members.add(organization, { identifier: YUKI, roles: ["admin"] })
  yield* members.add(organization, { identifier: GUEST, roles: ["guest"] })
})

export interface Stage {
  readonly url: string
  readonly messages: MessagesServer
  readonly organization: Organization
  readonly run: Awaited<ReturnType<typeof startServer>>["run"]
  /** A single-use sign-in link. */
  readonly linkFor: (email: string) => Promise<string>
  readonly tokenFor: (email: string) => Promise<string>
  /** Signs in by link and waits for the chat page. */
  readonly signIn: (page: Page, email?: string) => Promise<void>
  readonly close: () => Promise<void>
}

export const openStage = async (overrides: Parameters<typeof startServer>[1] = {}): Promise<Stage> => {
  const scope = Scope.makeUnsafe()
  const messages = await startMessages(() => says("Hello."))
  const server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url,
    turnSeconds: 60,
    ...overrides
  })
  const folder = mkdtempSync(join(tmpdir(), "max-stage-"))
  const organization = await server.run(
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const made = yield* organizations.create({
        slug: "harbor",
        name: "Harbor Supply",
        country: "US",
        timeZone: "America/New_York"
      })
      yield* fill(made, folder)
      return made
    }).pipe(Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true }))))
  )
  const anchorOf = (email: string) =>
    Effect.gen(function* () {
      const members = yield* Memberships
      const all = yield* members.list(organization)
      return all.find(({ identifiers }) => identifiers.includes(email))!.anchorId
    })
  const linkFor = (email: string) =>
    server.run(
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const { secret } = yield* credentials.createLink(organization, yield* anchorOf(email))
        return `${server.url}/sign-in#${secret}`
      })
    )
  const tokenFor = (email: string) =>
    server.run(
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const anchorId = yield* anchorOf(email)
        return (yield* credentials.createToken(organization, { anchorId, name: email, scopes: ["chat"], days: 1 }))
          .secret
      })
    )
  return {
    url: server.url,
    messages,
    organization,
    run: server.run,
    linkFor,
    tokenFor,
    signIn: async (page, email = ROSA) => {
      await page.goto(await linkFor(email))
      await page.locator("textarea").waitFor()
    },
    close: async () => {
      await server.stop()
      await messages.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
