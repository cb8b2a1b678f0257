import { Effect, Exit, Scope } from "effect"
import { mkdirSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { Browser, Locator, Page } from "playwright-core"
import { diffLines, explanationLines, policyLines, rowLines } from "../../src/channels/cli/policyOutput.ts"
import { Database } from "../../src/database/Database.ts"
import { diffPolicies } from "../../src/permissions/policyDiff.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { PolicyReview } from "../../src/services/policies/PolicyReview.ts"
import { SmsSettings } from "../../src/services/texting/SmsSettings.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, type Looks, openBrowser, openPage, type Watched } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, callTool, startServer, type TestServer } from "../support/http.ts"
import { texted } from "../support/texted.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'\u202e&lt;b&gt;javascript:alert(2)`
const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
let yuki: string
const opened: Array<Watched> = []

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(administered({ slug: "harbor", hostile: HOSTILE }))
  yuki = await server.run(harbor.session("yuki"))
  await server.run(storeTexts(harbor, "+15125550100"))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

afterEach(async () => {
  const faults = opened.flatMap((one) => one.faults)
  for (const { close } of opened.splice(0)) await close()
  expect(faults).toEqual([])
})

/** Stores text messages of a member and of a sender without access. */
const storeTexts = ({ idOf, organization }: typeof harbor, line: string) =>
  texted(organization, {
    line,
    member: { id: idOf("lena"), phone: "+18015550103" },
    stranger: "+15125550199",
    body: "qzwhatwassaidqz"
  })

/** Opens a place of the page with a session, or without one. */
const open = async (place: string, looks: Looks = {}, session: string | null = yuki): Promise<Page> => {
  const cookie = { name: "max_session", value: session ?? "", url: server.url }
  const watched = await openPage(browser, server.url, { ...looks, ...(session === null ? {} : { cookie }) })
  opened.push(watched)
  await watched.page.goto(`${server.url}/admin${place}`)
  await settled(watched.page)
  return watched.page
}

const poll = <A>(read: () => Promise<A>) => expect.poll(read)

/** Waits until the page has loaded its data. */
const settled = async (page: Page) => {
  await page.locator("main h1").waitFor()
  await poll(() => page.locator(".waiting, [aria-busy=true]").count()).toBe(0)
}

const words = async (where: Locator): Promise<string> => (await where.innerText()).replaceAll(/\s+/g, " ")
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
const inDialog = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true })

const places = (of = harbor): Readonly<Record<string, string>> => ({
  people: "#/people",
  person: `#/people/${of.idOf("lena")}`,
  policy: "#/policy",
  history: "#/policy/history",
  explain: `#/policy/explain?person=${of.idOf("lena")}&type=people`,
  row: `#/policy/explain?person=${of.idOf("lena")}&type=people&row=${of.owner}`,
  changes: "#/changes",
  texts: "#/texts",
  audit: "#/audit"
})

describe("a person without access", () => {
  it("reads how to sign in, without a session", async () => {
    for (const theme of ["light", "dark"] as const) {
      const page = await open("", { theme, width: 360 }, null)
      expect(await words(page.locator("main"))).toMatch(/Sign in to administer.*max serve --sign-in/)
      expect(await accessibilityFaults(page)).toEqual([])
    }
  })

  it("reads that the role isn't an administrator's, and is refused by the API", async () => {
    const lena = await server.run(harbor.session("lena"))
    const page = await open("#/people", {}, lena)
    expect(await words(page.locator("main"))).toMatch(/You are not an administrator.*harbor as member/)
    expect(await accessibilityFaults(page)).toEqual([])
    const refused = await ask(server.url, "/v1/admin/policy", { headers: { cookie: `max_session=${lena}` } })
    expect(refused).toMatchObject({ status: 403, json: { type: "urn:max:problem:not-in-scope" } })
  })

  it("sees the page close when the membership is suspended", async () => {
    const page = await open("#/audit", {}, await server.run(harbor.session("amina")))
    const admin = await open(`#/people/${harbor.idOf("amina")}`)
    await button(admin, "Suspend").click()
    await inDialog(admin, "Suspend").click()
    await admin.getByText("Nothing, while they are suspended.").waitFor()
    await page.getByRole("link", { name: "People" }).click()
    await page.getByRole("heading", { name: "You no longer have access" }).waitFor()
    expect(await page.getByRole("table").count()).toBe(0)
    await button(admin, "Restore access").click()
    await inDialog(admin, "Restore access").click()
    await button(admin, "Suspend").waitFor()
  })
})

describe("people on the administration page", () => {
  it("can be searched and filtered", async () => {
    const page = await open("#/people")
    const rows = page.getByRole("table", { name: "Members" }).getByRole("row")
    await expect.poll(() => rows.count()).toBe(7)
    await page.getByLabel("Search").fill("lena")
    await poll(() => rows.count()).toBe(2)
    expect(await words(rows.nth(1))).toMatch(/^Lena Brandt lena@harbor.example member Active .* 1$/)
    await page.getByLabel("Search").fill("no such person")
    await page.getByText("No member matches. Search").waitFor()
    await page.getByLabel("Search").fill("")
    await page.getByLabel("State").selectOption("suspended")
    await poll(() => rows.count()).toBe(2)
    expect(await words(rows.nth(1))).toMatch(/^Jonas Weber .* Suspended/)
    await page.getByLabel("State").selectOption("")
    await page.getByLabel("Role").selectOption("manager")
    await poll(async () => words(rows.nth(1))).toMatch(/^Priya Raman/)
  })

  it("are rendered as text even if a name contains markup", async () => {
    const page = await open("#/people")
    const link = page.getByRole("link", { name: "onerror" })
    // The direction override is removed; everything else is shown as text.
    expect(await link.innerText()).toBe(HOSTILE.replace("\u202e", ""))
    await link.click()
    await poll(() => page.getByRole("heading", { level: 1 }).innerText()).toBe(HOSTILE.replace("\u202e", ""))
    await settled(page)
    await button(page, "Suspend").click()
    expect(await page.getByRole("dialog").innerText()).toContain("<img")
    await page.keyboard.press("Escape")
    await page.goto(`${server.url}/admin#/audit?about=${harbor.idOf("theo")}`)
    await settled(page)
    expect(await page.locator("img, main script, main iframe").count()).toBe(0)
  })

  it("can be suspended and restored with the keyboard alone, and their next request is refused", async () => {
    const lookup = () => callTool(server, harbor.lena.secret, "listEntityTypes", {})
    const page = await open("#/people")
    const press = (key: string) => page.keyboard.press(key)
    const focused = () => page.evaluate("document.activeElement.innerText") as Promise<string>
    const tabTo = async (text: RegExp) => {
      for (let steps = 0; steps < 40; steps++) {
        await press("Tab")
        if (text.test(await focused())) return
      }
      throw new Error(`No focusable element has the text ${text}.`)
    }
    await tabTo(/^Skip to the page$/)
    await press("Enter")
    await tabTo(/^Lena Brandt$/)
    await press("Enter")
    await settled(page)
    await poll(focused).toBe("Lena Brandt")
    expect((await lookup()).status).toBe(200)
    await tabTo(/^Suspend$/)
    await press("Enter")
    // The dialog focuses the button without an effect first.
    expect(await focused()).toBe("Cancel")
    await press("Escape")
    expect(await focused()).toBe("Suspend")
    expect((await lookup()).status).toBe(200)
    await press("Enter")
    await tabTo(/^Suspend$/)
    await press("Enter")
    await poll(() => page.getByRole("status").innerText()).toBe("Lena Brandt is suspended.")
    expect(await lookup()).toMatchObject({ status: 403, json: { type: "urn:max:problem:not-admitted" } })
    await button(page, "Restore access").focus()
    await press("Enter")
    await tabTo(/^Restore access$/)
    await press("Enter")
    await poll(() => page.getByRole("status").innerText()).toBe("Lena Brandt has access again.")
    expect((await lookup()).status).toBe(200)
    await page.goto(`${server.url}/admin#/audit?about=${harbor.idOf("lena")}`)
    await settled(page)
    const records = page.getByRole("table").getByRole("row")
    expect(await words(records.nth(1))).toMatch(/Yuki Tanaka restored access for Lena Brandt membership.resumed/)
    expect(await words(records.nth(2))).toMatch(/Yuki Tanaka suspended Lena Brandt membership.suspended/)
  })

  it("can't suspend themselves, and a revoked token is refused immediately", async () => {
    const own = await open(`#/people/${harbor.idOf("yuki")}`)
    expect(await button(own, "Suspend").count()).toBe(0)
    expect(await words(own.locator("main"))).toContain("This is you")
    const page = await open(`#/people/${harbor.idOf("amina")}`)
    await button(page, "Revoke").click()
    await inDialog(page, "Revoke").click()
    await page.getByText("Revoked", { exact: true }).waitFor()
    const refused = await ask(server.url, "/v1/admin/types", {
      headers: { authorization: `Bearer ${harbor.auditor.secret}` }
    })
    expect(refused.status).toBe(401)
  })
})

const printed = (lines: ReadonlyArray<string>) => lines.map((line) => stripVTControlCharacters(line).trim())

describe("the policy on the administration page", () => {
  it("is described, with its changes, in the same words as on the command line", async () => {
    const { check, changes } = await server.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const { document } = yield* policies.current(harbor.organization)
        const found = yield* policies.check(harbor.organization, document)
        const [first, second] = [
          yield* policies.version(harbor.organization, 1),
          yield* policies.version(harbor.organization, 2)
        ]
        return { check: found, changes: diffPolicies(first.policy, second.policy, found.catalog) }
      })
    )
    const page = await open("#/policy")
    const said = await words(page.locator("main"))
    const rules = printed(policyLines(check.policy, check.catalog)).filter((line) => /^may (not )?see/.test(line))
    expect(rules).toHaveLength(9)
    for (const rule of rules) expect(said).toContain(rule.replace(/ \(([\w-]+)\)$/, " $1"))
    expect(await page.getByRole("row", { name: "Phone" }).first().innerText()).toMatch(/every row.*some rows.*never/s)
    await page.getByRole("link", { name: "History" }).click()
    await page.locator(".diff li").first().waitFor()
    await settled(page)
    const shown = (await page.locator(".diff li").allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " "))
    const MARKS = { "+": "Added:", "-": "Removed:", "~": "Changed:" } as const
    expect(shown).toEqual(
      printed(diffLines(changes)).map((line) => `${line[0]} ${MARKS[line[0] as "+"]} ${line.slice(2)}`)
    )
    await page.getByLabel("From version").selectOption("2")
    await page.getByText("Version 2 and version 2 don't differ.").waitFor()
  })

  it("is explained like on the command line, for a type and for a row", async () => {
    const as = `lena@${harbor.host}`
    const { row, type } = await server.run(
      Effect.gen(function* () {
        const review = yield* PolicyReview
        const question = { as, type: "people" }
        return {
          type: yield* review.explain(harbor.organization, question),
          row: yield* review.explainRow(harbor.organization, { ...question, id: harbor.owner })
        }
      })
    )
    const page = await open("#/policy/explain")
    await page.getByLabel("Who").fill(as)
    await button(page, "Explain").click()
    await page.getByRole("heading", { name: /^Lena Brandt sees all 8 people/ }).waitFor()
    const explained = await words(page.locator("main"))
    expect(printed(explanationLines(type))[0]).toBe("Lena Brandt, member, sees all 8 people.")
    for (const rule of type.rules) {
      const rows = rule.rows === type.total ? `all ${rule.rows}` : `${rule.rows} of ${type.total}`
      // The page names the columns: an administrator may see fewer than the operator for whom a rule is about everything.
      const said = `${rule.role} ${rule.words} ${rule.id} applies to ${rows}`
      expect(explained).toMatch(
        new RegExp(said.replace(/[.*+?^${}()|[\]\\"]/g, "\\$&").replace("everything", "[a-z, ]+ and [a-z]+"))
      )
    }
    for (const { because } of type.columns) expect(explained).toContain(because)
    await page.getByLabel("One row").fill(harbor.owner)
    await button(page, "Explain").click()
    await page.getByRole("heading", { name: "Lena Brandt sees Otto Vip" }).waitFor()
    const verdict = await words(page.locator("main"))
    expect(verdict).toContain(printed(rowLines(row))[1])
    for (const { because } of row.columns) expect(verdict).toContain(because)
    expect(verdict).toMatch(/phone hidden 801-555-0107 vip-hidden hides it/)
    await page.getByLabel("One row").fill("nosuchrow")
    await button(page, "Explain").click()
    expect(await page.getByRole("alert").innerText()).toMatch(
      /No row of people has the external or entity id "nosuchrow"/
    )
  })
})

describe("text messages on the administration page", () => {
  const rowsOf = (page: Page) => page.getByRole("table", { name: "Received and sent texts" }).getByRole("row")

  it("are listed with their delivery states, without complete numbers and without content", async () => {
    const page = await open("#/people")
    const link = page.getByRole("link", { name: "Texts" })
    await link.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("table", { name: "Received and sent texts" }).waitFor()
    expect(await page.evaluate("document.activeElement.innerText")).toBe("Texts")
    expect(await link.getAttribute("aria-current")).toBe("page")
    const rows = (await rowsOf(page).allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " "))
    expect(rows).toHaveLength(9)
    expect(rows[1]).toMatch(/Lena Brandt …0103 wrote Waiting for an answer$/)
    expect(rows[2]).toMatch(/M …0199 wrote Over the hourly limit$/)
    expect(rows[3]).toMatch(
      /Lena Brandt …0103 was sent an answer 2 segments Not delivered the phone can't be reached: .* \(code 30003\)$/
    )
    expect(rows[6]).toMatch(/M …0199 wrote Refused: no access$/)
    expect(await words(page.locator("main"))).toMatch(/Number \+15125550100 twilio Who may write Members only/)
    expect(await page.content()).not.toMatch(/qzwhatwassaidqz|8015550103|5125550199|QZTOKENQZ/)
    expect(await words(page.locator("main"))).not.toContain("max sms")
  })

  it("show that the channel is open to non-members", async () => {
    const settings = (change: (all: SmsSettings["Service"]) => Effect.Effect<void, unknown>) =>
      server.run(Effect.orDie(Effect.flatMap(SmsSettings, change)))
    await settings((all) => all.open(harbor.organization, "member"))
    const page = await open("#/texts")
    expect(await words(page.locator(".facts"))).toMatch(/All people with a known number: Open as member$/)
    expect(await accessibilityFaults(page)).toEqual([])
    await settings((all) => all.close(harbor.organization))
  })

  it("append the next page to the rows already shown", async () => {
    const page = await open("#/people")
    await page.route("**/v1/admin/texts*", (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set("limit", "3")
      return route.continue({ url: url.href })
    })
    await page.getByRole("link", { name: "Texts" }).click()
    await button(page, "Show more").click()
    await poll(() => rowsOf(page).count()).toBe(7)
    await button(page, "Show more").click()
    await poll(() => rowsOf(page).count()).toBe(9)
    expect(await button(page, "Show more").count()).toBe(0)
  })

  it("show where a number is connected while there is none, and the command to administrators without that power", async () => {
    const cedar = await server.run(administered({ slug: "cedar" }))
    for (const theme of ["light", "dark"] as const) {
      const page = await open("#/texts", { theme, width: 360 }, await server.run(cedar.session("yuki")))
      expect(await words(page.locator("main"))).toMatch(/No number is connected.*Connect one under Phone/)
      const auditor = await open("#/texts", { theme, width: 360 }, await server.run(cedar.session("amina")))
      expect(await words(auditor.locator("main"))).toMatch(/No number is connected.*max sms add-number/)
      expect(await page.getByRole("table").count()).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360)
      expect(await accessibilityFaults(page)).toEqual([])
    }
  })
})

describe("every administration page", () => {
  it.each(["light", "dark"] as const)("is accessible in the %s theme", async (theme) => {
    const page = await open("", { theme })
    for (const [name, place] of Object.entries(places())) {
      await page.goto(`${server.url}/admin${place}`)
      await settled(page)
      if (name === "person") await page.locator(".verdict summary").first().click()
      expect(await accessibilityFaults(page), name).toEqual([])
    }
    await page.goto(`${server.url}/admin${places()["person"]}`)
    await button(page, "Suspend").click()
    expect(await accessibilityFaults(page), "the dialog").toEqual([])
  })

  it("fits into 360 pixels, and its tables keep their roles there", async () => {
    const page = await open("", { width: 360, height: 740 })
    for (const [name, place] of Object.entries(places())) {
      await page.goto(`${server.url}/admin${place}`)
      await settled(page)
      if (name === "person") await page.locator(".verdict summary").first().click()
      expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(360)
    }
    await expect.poll(() => page.getByRole("table", { name: "Changes" }).getByRole("columnheader").count()).toBe(4)
    expect(await accessibilityFaults(page)).toEqual([])
  })

  it("says that the server can't be reached, and loads again after a retry", async () => {
    const page = await open("#/policy")
    await page.context().setOffline(true)
    await page.getByRole("link", { name: "Audit" }).click()
    await page.getByRole("alert").first().waitFor()
    expect(await page.getByRole("alert").first().innerText()).toMatch(/can't be reached/)
    await page.context().setOffline(false)
    await button(page, "Try again").click()
    await page.getByRole("table").waitFor()
  })
})

describe("the audit log on the administration page", () => {
  it("can be filtered, and is shown as broken after a record was altered", async () => {
    const page = await open("#/audit")
    await button(page, "Check the log").click()
    await poll(() => page.getByText("Intact").count()).toBe(2)
    await page.getByLabel("Kind").selectOption("policy.")
    await poll(() => page.getByRole("table").getByRole("row").count()).toBe(3)
    await page.getByLabel("Since").fill("2099-01-01")
    await page.getByText("No record matches.").waitFor()
    await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) => owner`UPDATE max.audit_log SET actor = 'nobody' WHERE chain = 'changes' AND sequence = 3
          AND organization_id = ${harbor.organization.id}`
      )
    )
    await button(page, "Check again").click()
    await page.locator("main").getByText("record 3 was changed or is missing").waitFor()
    await expect.poll(() => page.getByText("Broken", { exact: true }).count()).toBe(1)
  })
})

const folders = [process.env["MAX_SCREENSHOTS"] ?? []].flat()

// MAX_SCREENSHOTS=docs/images npx vitest run test/web/admin.test.ts -t screenshots
it.each(folders)("takes screenshots of every page into %s", async (folder) => {
  mkdirSync(folder, { recursive: true })
  const juniper = await server.run(administered({ slug: "juniper" }))
  const session = await server.run(juniper.session("yuki"))
  await server.run(storeTexts(juniper, "+15125550120"))
  for (const theme of ["light", "dark"] as const) {
    for (const [size, width, height] of [
      ["desktop", 1180, 760],
      ["phone", 360, 740]
    ] as const) {
      const page = await open("", { theme, width, height }, session)
      const shoot = (name: string) =>
        page.screenshot({ path: `${folder}/admin-${name}-${size}-${theme}.png`, fullPage: width > 400 })
      for (const [name, place] of Object.entries(places(juniper))) {
        await page.goto(`${server.url}/admin${place}`)
        await settled(page)
        if (name === "person") await page.locator(".verdict summary").first().click()
        if (name === "audit") {
          await button(page, "Check the log").click()
          await page.getByText("Intact").first().waitFor()
          await page.getByLabel("Kind").selectOption("membership.")
          await page.getByText("verified an identifier").first().waitFor({ state: "hidden" })
        }
        await page.mouse.move(0, 0)
        await shoot(name)
      }
      await page.goto(`${server.url}/admin${places(juniper)["person"]}`)
      await settled(page)
      await button(page, "Suspend").click()
      await page.screenshot({ path: `${folder}/admin-suspend-${size}-${theme}.png` })
      expect(await accessibilityFaults(page)).toEqual([])
    }
  }
})
