/** Two administrators: one proposes a policy in the editor, the other reviews it and decides. */
import { Effect, Exit, Scope } from "effect"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { PolicyDocument } from "../../src/permissions/policyDocument.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { administered } from "../support/administered.ts"
import { type Looks, openBrowser, openPage, type Watched } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { DESKTOP, look, PHONE } from "../support/staged.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
const cookies = new Map<string, string>()
const opened: Array<Watched> = []

const inForce = () => server.run(Effect.flatMap(Policies, (policies) => policies.current(harbor.organization)))
const publish = (text: string) =>
  server.run(
    Effect.flatMap(Policies, (policies) =>
      policies.publish(harbor.organization, text, "operator", { withoutApproval: true })
    )
  )

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(administered({ slug: "harbor" }))
  await server.run(
    Effect.flatMap(Memberships, (members) =>
      members.add(harbor.organization, { identifier: `priya@${harbor.host}`, roles: ["admin"] })
    )
  )
  const file = JSON.parse((await inForce()).document) as PolicyDocument
  await publish(
    JSON.stringify({ ...file, confirm: [{ action: "publish", by: "second", approvers: ["admin"] }] }, null, 2)
  )
  for (const name of ["yuki", "priya"]) cookies.set(name, await server.run(harbor.session(name)))
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

const visit = async (place: string, who: string, looks: Looks = DESKTOP): Promise<Page> => {
  const cookie = { name: "max_session", value: cookies.get(who)!, url: server.url }
  const watched = await openPage(browser, server.url, { ...looks, cookie })
  opened.push(watched)
  watched.page.setDefaultTimeout(60_000)
  await watched.page.goto(`${server.url}${place}`)
  await watched.page.getByRole("heading", { level: 1 }).waitFor()
  return watched.page
}

const editor = (page: Page) => page.getByLabel("Policy file (JSON)")
const press = (within: Page | Locator, name: string) => within.getByRole("button", { name, exact: true }).click()
const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const decide = async (page: Page, label: string, confirm = label) => {
  await press(page, label)
  await press(page.getByRole("dialog"), confirm)
}

/** Proposes the file in force with another rule, in the editor; the id of the change. */
const propose = async (page: Page, id: string) => {
  const { document, version } = await inForce()
  await expect.poll(() => editor(page).inputValue(), { timeout: 60_000 }).toBe(document)
  const file = JSON.parse(document) as PolicyDocument
  const rule = { id, effect: "deny", role: "member", action: "read", type: "people", columns: ["status"] }
  await editor(page).fill(JSON.stringify({ ...file, rules: [...file.rules, rule] }, null, 2))
  await press(page, "Check")
  await section(page, "What changes").getByText(id).waitFor()
  expect(await page.getByRole("button", { name: /^Publish/ }).count()).toBe(0)
  await decide(page, `Propose version ${version + 1}`, "Propose")
  await page.getByText("Another person with the role admin approves it.").waitFor()
  return { version, changeId: page.url().split("/").at(-1)! }
}

describe("a policy that another person approves", () => {
  it.each([DESKTOP, PHONE])(
    "is proposed in the editor and published from the inbox ($width pixels, $theme)",
    async (looks) => {
      const id = `no-status-${looks.width}`
      const yuki = await visit("/admin#/policy/edit", "yuki", looks)
      const { changeId, version } = await propose(yuki, id)
      await yuki.getByText(`over version ${version}`).waitFor()
      await look(yuki, "policy-proposed", looks)
      expect((await inForce()).version).toBe(version)

      const inbox = await visit("/inbox", "priya", looks)
      const card = inbox.getByRole("group", { name: "Publish 1 policy" })
      await card.getByText(id).waitFor()
      await card.getByText("Yuki Tanaka asks for this.").waitFor()
      expect(await card.getByRole("button").count()).toBe(0)
      await look(inbox, "policy-inbox", looks)
      const [priya] = await Promise.all([
        inbox.waitForEvent("popup"),
        card.getByRole("link", { name: "Decide in Max" }).click()
      ])
      await section(priya, "What changes").getByText(id).waitFor()
      await section(priya, "Tests").waitFor()
      await section(priya, "Who gains and loses")
        .getByText(/status lost on \d+ rows/)
        .first()
        .waitFor()
      await look(priya, "policy-review", looks)
      await decide(priya, "Approve and publish", "Publish")
      await priya.getByText(`Published: version ${version + 1} is in force.`).waitFor()
      await look(priya, "policy-published", looks)
      expect((await inForce()).version).toBe(version + 1)

      // Its proposer sees what came of it, and proposes to take it back.
      const after = await visit(`/inbox/${changeId}`, "yuki", looks)
      const published = after.getByRole("group", { name: "Publish 1 policy" })
      await published.getByText("Published 1 policy.").waitFor()
      await press(published, "Undo")
      const undo = after.getByRole("group", { name: "Undo: Publish 1 policy" })
      await undo.getByRole("button", { name: "Ask for approval" }).click()
      await undo.getByText("Waits for the approval of another person.").waitFor()
      const approving = await visit("/admin#/policy/proposals", "priya", looks)
      await approving.getByRole("link", { name: /^Review/ }).click()
      await section(approving, "What changes").getByText(id).waitFor()
      await decide(approving, "Approve and publish", "Publish")
      await approving.getByText(`Published: version ${version + 2} is in force.`).waitFor()
      expect((await inForce()).document).not.toContain(id)
    }
  )

  it("is refused by another person, or taken back by its proposer, and nothing is published", async () => {
    const yuki = await visit("/admin#/policy/edit", "yuki")
    const { changeId, version } = await propose(yuki, "refused-rule")
    const priya = await visit(`/admin#/policy/proposals/${changeId}`, "priya")
    await decide(priya, "Refuse")
    await priya.getByText("It was refused: nothing was published.").waitFor()
    await yuki.goto(`${server.url}/admin#/policy/edit`)
    await propose(yuki, "withdrawn-rule")
    await decide(yuki, "Take it back")
    await yuki.getByText("It was taken back: nothing was published.").waitFor()
    await yuki.getByRole("link", { name: "Proposals" }).click()
    await yuki.getByText("No proposed policy waits for an approval.").waitFor()
    expect((await inForce()).version).toBe(version)
  })

  it("can't be approved once another version is in force, which the page says before it is tried", async () => {
    const yuki = await visit("/admin#/policy/edit", "yuki")
    const { changeId, version } = await propose(yuki, "late-rule")
    const priya = await visit(`/admin#/policy/proposals/${changeId}`, "priya")
    await priya.getByRole("button", { name: "Approve and publish" }).waitFor()
    const { document } = await inForce()
    await publish(`${document}\n`)
    await decide(priya, "Approve and publish", "Publish")
    await priya.getByRole("dialog").getByText("Another version of the policy is in force by now").waitFor()
    await priya.reload()
    await priya.getByText("Another version was published before it was approved").waitFor()
    expect((await inForce()).version).toBe(version + 1)
    const next = await visit("/admin#/policy/edit", "yuki")
    const late = await propose(next, "later-rule")
    await publish(document)
    const page = await visit(`/admin#/policy/proposals/${late.changeId}`, "priya")
    await section(page, "It can't be published any more").waitFor()
    expect(await page.getByRole("button", { name: "Approve and publish" }).count()).toBe(0)
  })
})
