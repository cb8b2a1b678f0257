/**
 * What an administrator does without a terminal: on an empty server, every act that has a page is done there, and a command or
 * the database shows that it took effect. The server is `max serve`; the operator's commands only look.
 */
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { askAndWait, openBrowser, openPage } from "../support/browser.ts"
import { ACCOUNT, startCarrier, TOKEN } from "../support/carrier.ts"
import { runMax, serveMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { type MessagesServer, says, startMessages } from "../support/messages.ts"
import { DESKTOP, look, PHONE } from "../support/staged.ts"
import { until } from "../support/until.ts"
import { connectTo } from "../support/newDatabase.ts"

const KEY = "sk-ant-canary-0123456789abcdef-7f3a"
const ROWS = "Full Name,E-mail,Status\nNia Okoro,nia@harbor.example,Customer\nTaro Mori,taro@harbor.example,Lead\n"
const LIST = "Name,E-mail,Role\nDa Lin,da@harbor.example,member\nEve Ito,eve@harbor.example,member\n"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-administrator-"))
let browser: Browser
let model: MessagesServer
let carrier: Awaited<ReturnType<typeof startCarrier>>
let server: Awaited<ReturnType<typeof serveMax>>
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  mkdirSync(join(folder, "backups"))
  browser = await openBrowser()
  model = await startMessages(() => says("Answered by the model."))
  carrier = await startCarrier()
  env = {
    DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    MAX_STATE_DIR: folder,
    MAX_BACKUP_DIR: join(folder, "backups"),
    MAX_HTTP_PORT: "0",
    // A person takes longer than this test.
    MAX_CALLS_PER_PERSON: "1000",
    ANTHROPIC_BASE_URL: model.url,
    MAX_TWILIO_URL: carrier.url
  }
  server = await serveMax(env)
  await until(() => /There is no organization yet/.test(server.said()))
})
afterAll(async () => {
  server.end("SIGTERM")
  await server.ended
  await browser.close()
  await model.close()
  await carrier.close()
  rmSync(folder, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Runs a statement as another program. */
const elsewhere = (statement: string) =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(connectTo(env["DATABASE_URL"]!), (sql) => sql.unsafe(statement).unprepared)).pipe(
      Effect.provide(Reactivity.layer)
    )
  )

/** What a command prints, as JSON. */
const told = async (...args: ReadonlyArray<string>): Promise<any> => {
  const { code, stderr, stdout } = await runMax([...args, "--json"], env)
  expect([args, code, code === 0 ? "" : stderr]).toEqual([args, 0, ""])
  return JSON.parse(stdout)
}

const eventually = (ask: () => Promise<unknown>) => expect.poll(ask, { timeout: 60_000 })

/** The audit events with one of these prefixes, in their order. */
const recorded = async (...prefixes: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  ((await told("audit", "list")) as ReadonlyArray<{ action: string }>)
    .map(({ action }) => action)
    .filter((action) => prefixes.some((prefix) => action.startsWith(prefix)))
    .toReversed()

const member = async (name: string) =>
  ((await told("member", "list")) as ReadonlyArray<Record<string, unknown>>).find((one) => one["name"] === name)

const press = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole("button", { name, exact: true }).first().click()
const inDialog = (page: Page, name: string | RegExp) => press(page.getByRole("dialog"), name)
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, exact: true }).first().waitFor()
const done = (page: Page) => eventually(() => page.getByRole("dialog").count()).toBe(0)

it("An administrator does everything that has a page in a browser, and commands show that it took effect", async () => {
  const link = readFileSync(join(folder, "setup-link"), "utf8").trim()
  const { origin } = new URL(link)
  const { close, faults, page } = await openPage(browser, origin, DESKTOP)
  page.setDefaultTimeout(60_000)
  const open = async (place: string, title: string | RegExp) => {
    await page.goto(`${origin}/admin#/${place}`)
    await heading(page, title)
  }
  const person = async (name: string) => {
    await open("people", "People")
    await page.getByRole("link", { name, exact: true }).click()
    await heading(page, name)
  }

  // init, org
  await page.goto(link)
  await heading(page, "Set Max up")
  for (const [label, text] of [
    ["Name", "Harbor Supply"],
    ["Country", "US"],
    ["Time zone", "America/New_York"],
    ["Your name", "Ada Park"],
    ["Your e-mail address", "ada@harbor.example"]
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(text)
  await page.keyboard.press("Enter")
  await heading(page, "Harbor Supply is set up.")
  await open("organization", "Organization")
  await page.getByLabel("Name", { exact: true }).fill("Harbor Supply Ltd")
  await page.getByLabel("Time zone", { exact: true }).fill("America/Chicago")
  await press(page, "Save")
  await eventually(async () => (await told("org", "list"))[0]).toMatchObject({
    slug: "harbor-supply",
    name: "Harbor Supply Ltd",
    country: "US",
    timeZone: "America/Chicago"
  })
  await look(page, "administrator-organization", DESKTOP)

  // import, export
  await open("import", "Import")
  await page
    .getByLabel("Drop a file here")
    .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(ROWS) })
  await press(page, "Check the file")
  await press(page, "Import 2 rows")
  await page.getByRole("region", { name: "Imported" }).waitFor()
  await page.goto(origin)
  await askAndWait(page, "list people")
  const download = page.waitForEvent("download")
  await press(page.locator(".turn").last(), "Download as CSV")
  const saved = readFileSync((await (await download).path())!, "utf8")
  for (const text of ["Nia Okoro", "Taro Mori", "Ada Park"]) expect(saved).toContain(text)
  expect(await recorded("data.")).toEqual(["data.imported", "data.export-begun", "data.exported"])

  // member add, sync's list, list, suspend, resume; roles and attributes
  await open("people", "People")
  await press(page, "Invite people")
  const invite = page.getByRole("dialog")
  await invite.getByLabel("E-mail addresses or phone numbers, one per line").fill("Bo Lind <bo@harbor.example>")
  await invite.getByLabel("member", { exact: true }).check()
  await inDialog(page, "Invite")
  const invitation = await invite.locator(".links code").innerText()
  await inDialog(page, "Done")
  const colleague = await openPage(browser, origin, DESKTOP)
  colleague.page.setDefaultTimeout(60_000)
  await colleague.page.goto(invitation)
  await askAndWait(colleague.page, "What is the status of Nia Okoro?")
  await colleague.page.locator(".turn").last().getByText("Customer").first().waitFor()
  expect(await member("Bo Lind")).toMatchObject({ roles: ["member"], suspended: false, invited: false })

  await press(page, "Invite people")
  await invite.getByLabel("E-mail addresses or phone numbers, one per line").fill(LIST)
  await inDialog(page, "Check the list")
  await inDialog(page, /^Invite 2/)
  await invite.locator(".links code").nth(1).waitFor()
  await inDialog(page, "Done")
  for (const name of ["Da Lin", "Eve Ito"]) expect(await member(name)).toMatchObject({ invited: true })

  await person("Bo Lind")
  await press(page, "Change roles")
  await page.getByRole("dialog").getByLabel("admin", { exact: true }).check()
  await inDialog(page, "Change roles")
  await done(page)
  await press(page, "Change attributes")
  await page.getByLabel("One per line, such as region = north").fill("region = north\nlevel = 3")
  await look(page, "administrator-attributes", DESKTOP)
  await inDialog(page, "Save")
  await done(page)
  expect(await member("Bo Lind")).toMatchObject({
    roles: ["member", "admin"],
    attributes: { region: "north", level: 3 }
  })
  await press(page, "Suspend")
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Restore access", exact: true }).waitFor()
  expect(await member("Bo Lind")).toMatchObject({ suspended: true })
  await press(page, "Restore access")
  await inDialog(page, "Restore access")
  await page.getByRole("button", { name: "Suspend", exact: true }).waitFor()
  expect(await member("Bo Lind")).toMatchObject({ suspended: false, roles: ["member", "admin"] })

  // link, unlink
  await press(page, "Add an identifier")
  await page.getByLabel("E-mail address or phone number", { exact: true }).fill("bo@home.example")
  await look(page, "administrator-identifier", DESKTOP)
  await page.setViewportSize({ width: 390, height: 844 })
  await look(page, "administrator-identifier", PHONE)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.keyboard.press("Enter")
  await done(page)
  expect(await member("Bo Lind")).toMatchObject({ identifiers: ["bo@harbor.example", "bo@home.example"] })

  // sign-out
  expect((await colleague.page.request.get(`${origin}/v1/session`)).status()).toBe(200)
  await press(page, "Sign out")
  await look(page, "administrator-sign-out", DESKTOP)
  await inDialog(page, "Sign out")
  await done(page)
  expect((await colleague.page.request.get(`${origin}/v1/session`)).status()).toBe(401)
  expect(await recorded("session.all-ended")).toHaveLength(1)
  await press(page, "Remove bo@home.example")
  await look(page, "administrator-remove-identifier", DESKTOP)
  await inDialog(page, "Remove")
  await done(page)
  await eventually(async () => (await member("Bo Lind"))!["identifiers"]).toEqual(["bo@harbor.example"])
  expect(await recorded("identifier.removed")).toHaveLength(1)

  // sync: Da and Eve, who are invited, lose their invitations, and Bo goes and comes back
  await open("people", "People")
  const matching = async (list: string, typed: string | undefined) => {
    await press(page, "Match a list")
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("A table with a header").fill(list)
    await inDialog(page, "Check the list")
    await dialog.getByText("stay as they are").waitFor()
    const isDisabled = await dialog.getByRole("button", { name: "Apply the list" }).isDisabled()
    expect(isDisabled).toBe(typed !== undefined)
    if (typed !== undefined) {
      await dialog.getByLabel("Type how many people lose their access").fill(typed)
      await look(page, "administrator-sync", DESKTOP)
      await page.setViewportSize({ width: 390, height: 844 })
      await look(page, "administrator-sync", PHONE)
      await page.setViewportSize({ width: 1280, height: 900 })
    }
    await inDialog(page, "Apply the list")
    await done(page)
  }
  const own = "identifier,role\nada@harbor.example,admin\n"
  await matching(own, "1")
  expect(await member("Bo Lind")).toMatchObject({ suspended: true })
  for (const name of ["Da Lin", "Eve Ito"])
    expect(await member(name)).toMatchObject({ suspended: true, invited: false })
  await matching(`${own}bo@harbor.example,member;admin\n`, undefined)
  expect(await member("Bo Lind")).toMatchObject({ suspended: false, roles: ["member", "admin"] })
  await person("Bo Lind")

  // token
  await press(page, "Create a token")
  await page.getByLabel("What it is for").fill("nightly report")
  await page
    .getByRole("dialog")
    .getByLabel(/export/)
    .check()
  await look(page, "administrator-token", DESKTOP)
  await inDialog(page, "Create")
  const token = await page.getByRole("dialog").locator(".command-line code").innerText()
  await inDialog(page, "Done")
  const asked = () =>
    fetch(`${origin}/v1/tools/listEntityTypes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: "{}"
    })
  expect((await asked()).status).toBe(200)
  expect(await told("token", "list")).toMatchObject([
    { name: "nightly report", scopes: ["tools", "export"], state: "active" }
  ])
  await press(page, "Revoke")
  await inDialog(page, "Revoke")
  await page.getByText("Revoked", { exact: true }).waitFor()
  expect((await asked()).status).toBe(401)

  // policy: edit with a preview, look as a person, publish, restore
  const document = async () => (await runMax(["policy", "show"], env)).stdout
  const before = await document()
  await open("policy/edit", "Policy")
  const grid = page.getByRole("region", { name: "Grid", exact: true })
  await grid.getByRole("combobox", { name: "Type", exact: true }).selectOption("people")
  await grid.getByLabel("E-mail, member", { exact: true }).selectOption("all")
  await page.getByText("Not published").waitFor()
  await press(page, "Check")
  await page.getByRole("region", { name: "What changes" }).getByText("member").first().waitFor()
  await page.getByRole("region", { name: "Who gains and loses" }).waitFor()
  await page.getByRole("textbox", { name: "Who" }).fill("Bo Lind")
  await press(page, "Look")
  await page.getByRole("region", { name: "What Bo Lind would see" }).waitFor()
  const publish = async () => {
    await press(page, /^Publish version/)
    await inDialog(page, "Publish")
    await eventually(() => page.getByText("Not published").count()).toBe(0)
  }
  await publish()
  const versions = (await told("policy", "list")).length as number
  expect(await document()).not.toBe(before)
  await open("policy/history", "Policy")
  await page
    .getByRole("link", { name: /^Restore/ })
    .first()
    .click()
  await page.getByText("Not published").waitFor()
  await press(page, "Check")
  await publish()
  expect((await told("policy", "list")).length).toBe(versions + 1)
  expect(JSON.parse(await document())).toEqual(JSON.parse(before))
  await open("policy/explain", /^(Explain|Policy)$/)

  // model, and sms
  await open("model", "Model")
  await page.getByLabel("Key", { exact: true }).fill(KEY)
  await press(page, "Try and save the key")
  await page.getByText("…7f3a").waitFor()
  await page.getByLabel("Questions per day, at most").fill("200")
  await press(page, "Save")
  await eventually(async () => (await told("model", "show")).dayTurns).toBe(200)
  await open("phone", "Phone")
  await page.getByLabel("Number", { exact: true }).fill("512-555-0100")
  await page.getByLabel("Account").fill(ACCOUNT)
  await page.getByLabel("Auth token").fill(TOKEN)
  await press(page, "Try and add the number")
  await page.getByText("+15125550100").first().waitFor()
  await page.getByLabel("Whom people without access are told to ask").fill("Jo at the desk")
  await page.getByLabel("People whose number is in your data").selectOption("member")
  await page.keyboard.press("Tab")
  await press(page, "Save")
  await eventually(async () => JSON.stringify(await told("sms", "numbers"))).toContain("Jo at the desk")
  expect(JSON.stringify(await told("sms", "numbers"))).toMatch(/\+15125550100/)
  expect(await recorded("sms.")).toEqual(["sms.number-added", "sms.contact-set", "sms.opened"])
  await open("texts", "Texts")

  // usage
  await open("usage", "Usage")
  await page.getByText("Bo Lind").first().waitFor()
  await press(page, "Keep them from now on")
  await inDialog(page, "Keep them")
  await page.getByRole("button", { name: "Stop and forget them" }).waitFor()
  expect(await recorded("questions.")).toEqual(["questions.kept"])

  // audit, trace, doctor, backup
  await open("audit", "Audit")
  await press(page, "Check the log")
  await page.getByText("Intact").first().waitFor()
  const log = await page.getByRole("table").first().innerText()
  for (const words of [/Ada Park/, /created a token/, /published policy/, /connected the number/])
    expect(log).toMatch(words)
  expect(log).not.toMatch(new RegExp(`${KEY}|${TOKEN}|${token}`))
  expect((await runMax(["audit", "verify"], env)).code).toBe(0)
  await open("health", "Health")
  await page.getByText("Connection", { exact: true }).waitFor()
  await press(page, "Back up now")
  await inDialog(page, "Back up")
  await page.locator("dd time").waitFor()
  const [file] = readdirSync(join(folder, "backups"))
  expect(readFileSync(join(folder, "backups", file!)).length).toBeGreaterThan(1000)
  expect(await recorded("backup.")).toEqual(["backup.made"])
  await page.goto(`${origin}/traces`)
  await page.getByRole("row").nth(1).waitFor()

  // map, which an operator does: what is mapped, and what has changed since
  await open("organization", "Organization")
  await page.getByText("Max reads no tables of another program").waitFor()
  await elsewhere("CREATE TABLE public.boats (id bigint PRIMARY KEY, name text NOT NULL)")
  const mapping = join(folder, "mapping.json")
  writeFileSync(mapping, (await runMax(["map", "public.boats", "--exclusive"], env)).stdout)
  await told("map", "--apply", mapping)
  await elsewhere("ALTER TABLE public.boats ADD COLUMN flag text")
  await page.reload()
  await page.getByText("public.boats", { exact: true }).waitFor()
  const { changes } = await told("map", "diff")
  expect(changes).toHaveLength(1)
  await page.getByText(changes[0], { exact: true }).waitFor()

  expect([...faults, ...colleague.faults]).toEqual([])
  await colleague.close()
  await close()
})
