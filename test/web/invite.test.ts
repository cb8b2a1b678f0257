/** An administrator imports a file, and invites a colleague up to the colleague's first page, in two browsers. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { type AddressInfo, createServer, type Server } from "node:net"
import type { Browser, Page } from "playwright-core"
import { decodeQR } from "qr/decode.js"
import { SMTPServer } from "smtp-server"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, type Looks, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, startServerForTest, type TestServer } from "../support/http.ts"

const scope = Scope.makeUnsafe()
let database: string
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
const cookies = new Map<string, string>()

beforeAll(async () => {
  database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database)
  harbor = await server.run(administered({ slug: "harbor" }))
  for (const name of ["yuki", "amina"]) cookies.set(name, await server.run(harbor.session(name)))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const visit = async (path: string, who?: string, looks: Looks = {}) => {
  const session = who === undefined ? undefined : cookies.get(who)!
  const cookie = { name: "max_session", value: session ?? "", url: server.url }
  const watched = await openPage(browser, server.url, { ...looks, ...(session === undefined ? {} : { cookie }) })
  await watched.page.goto(`${server.url}${path}`)
  await watched.page.locator("main h1").waitFor()
  return watched
}

/** With MAX_SCREENSHOTS=docs/images the pictures of the docs are taken. */
const shoot = async (
  page: Page,
  name: string,
  { theme, width }: { readonly theme: string; readonly width: number }
) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  if (folder === undefined) return
  await page.screenshot({ path: `${folder}/admin-${name}-${width > 400 ? "desktop" : "phone"}-${theme}.png` })
}

/** Listens on a free port of this machine and returns it. */
const listening = (one: Server): Promise<number> =>
  new Promise((resolve) => {
    one.listen(0, "127.0.0.1", () => resolve((one.address() as AddressInfo).port))
  })

const dialog = (page: Page) => page.getByRole("dialog")
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()

const codeOf = (page: Page, of: string) => dialog(page).getByRole("img", { name: `QR code of the link of ${of}` })

/** What a camera reads from the code on the screen. */
const readCode = async (page: Page, of: string): Promise<string> => {
  const png = (await codeOf(page, of).screenshot()).toString("base64")
  const camera = await browser.newPage()
  const picture = await camera.evaluate<{ width: number; height: number; data: Array<number> }>(`(async () => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64,${png}")).blob())
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")
    context.drawImage(image, 0, 0)
    const { data, height, width } = context.getImageData(0, 0, image.width, image.height)
    return { data: [...data], height, width }
  })()`)
  await camera.close()
  return decodeQR({ ...picture, data: Uint8ClampedArray.from(picture.data) })
}

describe.each([
  { width: 1200, theme: "light" },
  { width: 390, theme: "dark" }
] as const)("an administrator at $width px, $theme", (looks) => {
  it("invites colleagues, one of whom signs in with the link and asks", async () => {
    const email = `nia-${looks.width}@harbor.example`
    const { close, faults, page } = await visit("/admin#/people", "yuki", looks)
    await press(page, "Invite people")
    const field = dialog(page).getByLabel("E-mail addresses or phone numbers, one per line")
    await field.fill(`Nia Okoro <${email}>\nbo-${looks.width}@harbor.example`)
    const submit = dialog(page).getByRole("button", { name: "Invite 2 people" })
    // No role is chosen for the administrator.
    expect(await submit.isDisabled()).toBe(true)
    await dialog(page).getByLabel("member", { exact: true }).check()
    await dialog(page).getByText("What member sees and changes").click()
    expect(await dialog(page).innerText()).toContain("may see")
    expect(await accessibilityFaults(page)).toEqual([])
    await shoot(page, "invite", looks)
    await submit.click()
    const links = dialog(page).locator(".links code")
    await expect.poll(() => links.count()).toBe(2)
    expect(await accessibilityFaults(page)).toEqual([])
    await shoot(page, "invited", looks)
    const link = await links.first().innerText()
    await press(page, `QR code of the link of ${email}`)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await readCode(page, email)).toBe(link)
    await shoot(page, "invited-code", looks)
    await press(page, `QR code of the link of ${email}`)
    expect(await codeOf(page, email).count()).toBe(0)
    await dialog(page).getByRole("button", { name: "Done" }).click()
    const row = page.getByRole("row").filter({ hasText: email })
    await expect.poll(() => row.innerText()).toContain("Invited")

    const colleague = await visit(new URL(link).pathname + new URL(link).hash, undefined, looks)
    await colleague.page.getByRole("textbox").first().waitFor()
    await expect.poll(() => colleague.page.title()).toBe("Max at Harbor")
    expect(colleague.page.url()).not.toContain("max_")
    const again = await visit(new URL(link).pathname + new URL(link).hash, undefined, looks)
    await expect.poll(() => again.page.getByRole("alert").innerText()).toContain("used before or has expired")

    await page.reload()
    await expect.poll(() => row.innerText()).toContain("Active")
    expect([...faults, ...colleague.faults]).toEqual([])
    for (const one of [close, colleague.close, again.close]) await one()
  })

  it("invites a list with a header: whom with which roles, all problems with their lines, and the links", async () => {
    const { close, faults, page } = await visit("/admin#/people", "yuki", looks)
    await press(page, "Invite people")
    const field = dialog(page).getByLabel("E-mail addresses or phone numbers, one per line")
    const address = (name: string) => `${name}-${looks.width}@harbor.example`
    await field.fill(`Name,E-Mail,Role\nUma,${address("list-uma")},chief\nOla,${address("list-ola")},`)
    await press(page, "Check the list")
    const refused = dialog(page).getByRole("alert")
    await refused.getByText("line 2: There is no role").waitFor()
    await refused.getByText("line 3:").waitFor()
    expect(await dialog(page).getByRole("button", { name: "Invite" }).isDisabled()).toBe(true)
    expect(await accessibilityFaults(page)).toEqual([])
    await field.fill("")
    const csv = `Name,E-Mail,Role\nUma,${address("list-uma")},manager\nOla,${address("list-ola")},`
    await dialog(page)
      .getByLabel("Drop a list here")
      .setInputFiles({ name: "colleagues.csv", mimeType: "text/csv", buffer: Buffer.from(csv) })
    await dialog(page).getByLabel("member", { exact: true }).check()
    await press(page, "Check the list")
    const shown = dialog(page).getByRole("region", { name: "Whom the list invites" })
    await shown.getByText(address("list-ola")).waitFor()
    expect((await shown.innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /Uma .*a new person.*manager.*line 2.*Ola .*member.*line 3/
    )
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
    await shoot(page, "invite-list", looks)
    await press(page, "Invite 2 people")
    await expect.poll(() => dialog(page).locator(".links code").count()).toBe(2)
    await dialog(page).getByRole("button", { name: "Done" }).click()
    const row = page.getByRole("row").filter({ hasText: address("list-uma") })
    await expect.poll(() => row.innerText()).toMatch(/manager[^]*Invited/)
    expect(faults).toEqual([])
    await close()
  })

  it("imports a file: where its columns go, all bad rows at once, what would happen, and the result", async () => {
    const { close, faults, page } = await visit("/admin#/import", "yuki", looks)
    const drop = (name: string, lines: ReadonlyArray<string>) =>
      page.getByLabel("Drop a file here").setInputFiles({
        name,
        mimeType: "text/csv",
        buffer: Buffer.from(lines.join("\n"))
      })
    const email = `uma-${looks.width}@harbor.example`
    const header = `Full Name;E-Mail-Adresse;Owner;Fee ${looks.width};Since ${looks.width};Notes`
    const rows = [`Uma Berg;${email};theo@harbor.example;1.234,50 €;31.12.2025;x`, `Ola Berg;;;12,00 €;01.02.2026;y`]
    await drop("people.csv", [header, ...rows, "Eva Berg;;stranger@harbor.example;5,00 €;02.02.2026;z"])
    await page.getByRole("heading", { name: "Import", exact: true }).waitFor()
    const into = (name: string) => page.getByLabel(`${name} goes into`)
    await expect.poll(() => into("Owner").inputValue()).toBe("owner:people.email")
    expect(await into("Full Name").inputValue()).toBe("name")
    await into("Notes").selectOption("nothing: leave it out")
    await page.getByLabel("Dates and numbers look like").selectOption("de-DE")
    expect(await accessibilityFaults(page)).toEqual([])
    await shoot(page, "import", looks)
    await press(page, "Check the file")
    const refused = page.getByRole("alert")
    await expect.poll(() => refused.innerText()).toContain("line 4: Owner: none of the people has the email")
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByLabel("Leave bad rows out").check()
    await press(page, "Check the file")
    const outcome = page.getByRole("region", { name: "What would happen" })
    await outcome.waitFor()
    const said = await outcome.innerText()
    for (const words of [
      "3 rows into People: 2 new, 0 changed, 0 unchanged. 1 bad row left out.",
      "1234.50",
      "2025-12-31",
      "Hidden from"
    ])
      expect(said).toContain(words)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
    await shoot(page, "import-check", looks)
    await press(page, "Import 2 rows")
    await page.getByRole("region", { name: "Imported" }).waitFor()
    await page.goto(`${server.url}/admin#/audit`)
    await expect.poll(() => page.getByRole("row").nth(1).innerText()).toContain("imported a file as")
    expect(faults).toEqual([])
    await close()
  })

  it("changes roles and offers a sign-in link on a person's page", async () => {
    const { close, faults, page } = await visit(`/admin#/people/${harbor.idOf("theo")}`, "yuki", looks)
    await press(page, "Change roles")
    await dialog(page)
      .getByLabel("manager", { exact: true })
      .setChecked(looks.width === 1200)
    await dialog(page).getByRole("button", { name: "Change roles" }).click()
    const roles = page.locator("dd").filter({ hasText: "Change roles" })
    await expect.poll(() => roles.innerText()).toMatch(looks.width === 1200 ? /manager/ : /^member\s+Change roles/)
    await press(page, "Sign-in link")
    await press(page, "Create the link")
    const link = await dialog(page).locator("code").innerText()
    expect(link).toMatch(/\/sign-in#max_/)
    await press(page, "QR code of the link of Théo Mercier")
    expect(await readCode(page, "Théo Mercier")).toBe(link)
    expect(await accessibilityFaults(page)).toEqual([])
    const theo = await visit(new URL(link).pathname + new URL(link).hash, undefined, looks)
    await expect.poll(() => theo.page.title()).toBe("Max at Harbor")
    expect([...faults, ...theo.faults]).toEqual([])
    for (const one of [close, theo.close]) await one()
  })
})

describe("an administrator without the power over members", () => {
  it("sees people and no way to invite them or to change roles", async () => {
    const { close, page } = await visit("/admin#/people", "amina")
    await page.getByRole("row").nth(1).waitFor()
    expect(await page.getByRole("button", { name: "Invite people" }).count()).toBe(0)
    await page.goto(`${server.url}/admin#/people/${harbor.idOf("theo")}`)
    await page.getByRole("heading", { level: 2, name: "Tokens" }).waitFor()
    expect(await page.getByRole("button", { name: "Change roles" }).count()).toBe(0)
    await close()
  })
})

describe("the sign-in page of a server with mail", () => {
  it("mails a link, and says the same for an address that it doesn't know", async () => {
    const mails: Array<string> = []
    const sink = new SMTPServer({
      disabledCommands: ["AUTH", "STARTTLS"],
      onData: (stream, _session, done) => {
        let text = ""
        stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
        stream.on("end", () => {
          mails.push(text.replaceAll("=\r\n", "").replaceAll("=3D", "="))
          done()
        })
      }
    })
    const smtp = await listening(sink.server)
    const probe = createServer()
    const port = await listening(probe)
    await new Promise((resolve) => probe.close(resolve))
    const url = `http://127.0.0.1:${port}`
    const mailing = await startServerForTest(database, {
      httpPort: port,
      publicUrl: url,
      smtpUrl: Redacted.make(`smtp://127.0.0.1:${smtp}`),
      mailFrom: "max@harbor.example"
    })
    const { close, faults, page } = await openPage(browser, mailing.url, { width: 390 })
    await page.goto(`${url}/`)
    const field = page.getByLabel("Or your e-mail address, for a link by mail")
    for (const email of ["stranger@elsewhere.example", "theo@harbor.example"]) {
      await field.fill(email)
      await press(page, "Mail me a link")
      await expect
        .poll(() => page.locator("#mailed").innerText())
        .toBe(`If ${email} is a member's address, a link is on its way. It works for 15 minutes.`)
    }
    expect(await accessibilityFaults(page)).toEqual([])
    await shoot(page, "mailed", { theme: "light", width: 390 })
    await expect.poll(() => mails.length).toBe(1)
    const link = new RegExp(`${url}/sign-in#max_\\S+`).exec(mails[0]!)![0]
    await page.goto(link)
    await expect.poll(() => page.title()).toBe("Max at Harbor")
    expect(faults).toEqual([])
    await close()
    await new Promise<void>((resolve) => sink.close(() => resolve()))
  })
})
