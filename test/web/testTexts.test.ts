/** An administrator tries the phone line on the page Phone, in a real browser: a text to their own number and its way. */
import { Effect, Exit, Scope } from "effect"
import { type AddressInfo, createServer } from "node:net"
import type { Browser } from "playwright-core"
import twilio from "twilio"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { WaysIn } from "../../src/services/access/WaysIn.ts"
import { SmsSettings } from "../../src/services/texting/SmsSettings.ts"
import { administered } from "../support/administered.ts"
import { openBrowser, openPage } from "../support/browser.ts"
import { ACCOUNT, OURS, post, startCarrier, TOKEN } from "../support/carrier.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { DESKTOP, look, PHONE } from "../support/staged.ts"

const OWN = "+18015550142"

const scope = Scope.makeUnsafe()
let carrier: Awaited<ReturnType<typeof startCarrier>>
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
let session: string

const freePort = async (): Promise<number> => {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

beforeAll(async () => {
  process.env["SMS_TEST_TOKEN"] = TOKEN
  carrier = await startCarrier()
  const port = await freePort()
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    twilioUrl: carrier.url,
    httpPort: port,
    publicUrl: `http://127.0.0.1:${port}`
  })
  harbor = await server.run(administered({ slug: "harbor" }))
  const number = { phone: OURS, provider: "twilio", account: ACCOUNT, secret: "env:SMS_TEST_TOKEN" }
  await server.run(Effect.flatMap(SmsSettings, (settings) => settings.addNumber(harbor.organization, number)))
  session = await server.run(harbor.session("yuki"))
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await carrier.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** The carrier's report that the last text has arrived. */
const deliver = () => {
  const { callback, sid } = carrier.accepted.at(-1)!
  const report = { MessageSid: sid, AccountSid: ACCOUNT, MessageStatus: "delivered", From: OURS, To: OWN }
  const { host, pathname } = new URL(callback!)
  const signature = twilio.getExpectedTwilioSignature(TOKEN, callback!, report)
  return post(server, report, { path: pathname, headers: { host }, signature })
}

const aMinuteLater = () =>
  server.run(
    Effect.flatMap(Database, ({ owner }) =>
      owner.unsafe("UPDATE max.sms_outbox SET created_at = created_at - interval '1 minute'")
    )
  )

describe.each([DESKTOP, PHONE, { ...PHONE, theme: "light" as const }, { ...DESKTOP, theme: "dark" as const }])(
  "an administrator at $width px, $theme",
  (looks) => {
    it("texts their own number, and sees it delivered, refused by the carrier with its reason, and once a minute", async () => {
      const cookie = { name: "max_session", value: session, url: server.url }
      const { close, faults, page } = await openPage(browser, server.url, { ...looks, cookie })
      page.setDefaultTimeout(60_000)
      const section = page.getByRole("region", { name: "Text yourself" })
      const button = section.getByRole("button", { name: `Text me from ${OURS}` })
      await page.goto(`${server.url}/admin#/phone`)
      if (looks === DESKTOP) {
        await section.getByText("No phone number is linked to you.").waitFor()
        await section.getByRole("button", { name: `Text me from ${OURS}`, disabled: true }).waitFor()
        await section.scrollIntoViewIfNeeded()
        await look(page, "admin-phone-unlinked", looks)
        const link = { identifier: OWN }
        await server.run(Effect.flatMap(WaysIn, (ways) => ways.link(harbor.organization, harbor.idOf("yuki"), link)))
        await page.reload()
      }
      await section.getByText("…0142").first().waitFor()

      await button.focus()
      await page.keyboard.press("Enter")
      await section.getByText("On its way").waitFor()
      expect(carrier.accepted.at(-1)).toMatchObject({ from: OURS, to: OWN })
      expect((await deliver()).status).toBe(200)
      await section.getByText("Delivered").waitFor()
      await section.scrollIntoViewIfNeeded()
      await look(page, "admin-phone-delivered", looks)
      await button.click()
      await section.getByRole("alert").getByText("One test a minute").waitFor()

      await aMinuteLater()
      carrier.fate = () => ({ status: 400, code: 21608 })
      await button.click()
      await section.getByText("Not sent").waitFor()
      await section
        .getByText("a trial account texts to numbers only that were verified at Twilio (code 21608)")
        .waitFor()
      await section.scrollIntoViewIfNeeded()
      await look(page, "admin-phone-refused", looks)
      carrier.reset()
      await aMinuteLater()

      await page.getByRole("link", { name: "Messages and their delivery" }).click()
      await page.getByText("was sent a test").first().waitFor()
      await expect.poll(() => page.getByText("(code 21608)").count()).toBeGreaterThan(0)
      expect(faults).toEqual([])
      await close()
    })
  }
)
