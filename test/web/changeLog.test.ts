/** The administrators' list of changes, over HTTP and on the page: who, when, through which channel, how long; no value. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Browser } from "playwright-core"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, startServer, type TestServer } from "../support/http.ts"

const VALUE = "qzvalueqz"
const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
let cedar: Effect.Success<ReturnType<typeof administered>>
let applied = ""
let waiting = ""

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(administered({ slug: "harbor" }))
  cedar = await server.run(administered({ slug: "cedar" }))
  for (const { organization } of [harbor, cedar]) await server.run(letChange(organization))
  applied = await server.run(change(harbor, "status", true))
  waiting = await server.run(change(harbor, "email", true))
  await server.run(change(cedar, "status", false))
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Lets administrators change people, e-mail addresses by a second person. */
const letChange = Effect.fnUntraced(function* (organization: Organization) {
  const policies = yield* Policies
  const { document } = yield* policies.current(organization)
  const { rules, ...rest } = JSON.parse(document) as { readonly rules: ReadonlyArray<object> }
  const rule = {
    id: "yuki-changes",
    effect: "allow",
    role: "admin",
    action: "update",
    type: "people",
    columns: "*",
    where: {}
  }
  const confirm = [{ action: "update", type: "people", columns: ["email"], by: "second", approvers: ["auditor"] }]
  yield* policies.publish(organization, JSON.stringify({ ...rest, confirm, rules: [...rules, rule] }), "test")
})

/** Yuki proposes a change, and confirms it. */
const change = Effect.fnUntraced(function* (of: typeof harbor, column: string, confirms: boolean) {
  const changes = yield* Changes
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(of.organization, { kind: "email", key: `yuki@${of.host}` })
  const as = Effect.provideService(CurrentPrincipal, principal)
  const via = { channel: "http" }
  const value = column === "email" ? `${VALUE}@x.example` : VALUE
  const steps = [{ actionId: "people.update", entityIds: [of.open], values: [{ columnId: column, value }] }]
  const { changeId, preview } = yield* as(changes.propose({ steps, via }))
  if (confirms) yield* as(changes.confirm({ changeId, digest: preview.digest!, via }))
  return changeId
})

const read = (token: string, query = "") =>
  ask(server.url, `/v1/admin/changes${query}`, { headers: { authorization: `Bearer ${token}` } })

it("lists the changes of the organization with their phases, latest first, without a value", async () => {
  const { json, text } = await read(harbor.admin.secret)
  const yuki = { id: harbor.idOf("yuki"), name: "Yuki Tanaka" }
  expect(json.changes).toMatchObject([
    { id: waiting, state: "waiting", level: "second", rows: 1, proposer: yuki },
    { id: applied, state: "applied", level: "once", actionIds: ["people.update"], channel: "http", proposer: yuki }
  ])
  const phases: ReadonlyArray<Record<string, unknown>> = json.changes[1].phases
  expect(phases.map(({ phase }) => phase)).toEqual(expect.arrayContaining(["opened", "applied"]))
  for (const phase of phases) expect(phase).toMatchObject({ who: yuki, channel: "http", at: expect.any(String) })
  expect(phases.some(({ ms }) => typeof ms === "number")).toBe(true)
  expect(text).not.toContain(VALUE)
  const first = await read(harbor.admin.secret, "?limit=1")
  expect(first.json.changes.map(({ id }: { id: string }) => id)).toEqual([waiting])
  const second = await read(harbor.admin.secret, `?limit=1&before=${first.json.next}`)
  expect(second.json).toMatchObject({ changes: [{ id: applied }] })
  expect(second.json.next).toBeUndefined()
})

it("shows another organization's administrators nothing, whichever change they name", async () => {
  const { json, text } = await read(cedar.admin.secret)
  expect(json.changes).toHaveLength(1)
  expect(text).not.toContain(applied)
  expect((await read(cedar.admin.secret, `?before=${waiting}`)).json.changes).toEqual([])
})

it("is refused to members who don't administer", async () => {
  expect((await read(harbor.lena.secret)).status).toBe(403)
})

it("is a tab of the administration page, with the phases on demand", async () => {
  for (const [theme, width] of [
    ["light", 1180],
    ["dark", 360]
  ] as const) {
    const cookie = { name: "max_session", value: await server.run(harbor.session("yuki")), url: server.url }
    const { close, faults, page } = await openPage(browser, server.url, { theme, width, cookie })
    await page.goto(`${server.url}/admin#/people`)
    await page.getByRole("link", { name: "Changes", exact: true }).click()
    const rows = page.getByRole("table", { name: "Proposed changes" }).getByRole("row")
    await rows.nth(2).waitFor()
    expect((await rows.nth(1).innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /Yuki Tanaka http people\.update 1 row, a second person/
    )
    expect(await rows.nth(2).innerText()).toContain("Applied")
    await rows.nth(2).locator("summary").click()
    await rows.nth(2).getByText("applied", { exact: true }).waitFor()
    expect(await rows.nth(2).innerText()).toMatch(/Yuki Tanaka, http, \d+ ms/)
    expect(await page.content()).not.toContain(VALUE)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  }
})
