/** Declared actions on the page: the card names the host and every value, and says what came of it. */
import { Effect } from "effect"
import demo from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import { afterAll, beforeAll, expect, it } from "vitest"
import { Actions } from "../../src/services/actions/Actions.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { accessibilityFaults, openPage } from "../support/browser.ts"
import { proposes } from "../support/drafting.ts"
import { fileOf, startService } from "../support/service.ts"
import { YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const service = await startService()
const here = staged({ privateHosts: [service.host] })
afterAll(() => service.stop())

beforeAll(() =>
  here.stage.run(
    Effect.gen(function* () {
      const invoke = { id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }
      const policies = yield* Policies
      const actions = yield* Actions
      const roles = { ...demo.roles, guest: { inherits: [] } }
      const text = JSON.stringify({ ...demo, roles, rules: [...demo.rules, invoke] })
      yield* policies.publish(here.stage.organization, text, "test")
      const problem = ["/error/errordetails/*/message"]
      yield* actions.publish(here.stage.organization, fileOf(service.url, { problem }), "test")
    })
  )
)

it("an action's card shows its host and values, and after the yes what the service said", async () => {
  const { close, faults, page } = await openPage(here.browser, here.stage.url, {
    theme: "light",
    width: 1280,
    height: 800
  })
  page.setDefaultTimeout(60_000)
  await here.stage.signIn(page, YUKI)
  const proposing = (order: string) =>
    proposes(here.stage, YUKI, [
      {
        actionId: "set_quantity",
        values: [
          { columnId: "order", value: order },
          { columnId: "quantity", value: "44" }
        ]
      }
    ])
  const card = page.locator(".inbox .cards > li > .draft").first()
  for (const [order, status, body, said] of [
    ["4500000001", 200, "{}", "“Change the quantity of an item” is done."],
    ["<b>4500000002</b>", 409, `{"error":{"errordetails":[{"message":"Blocked"}]}}`, "was refused: Blocked"]
  ] as const) {
    service.answers((_, response) => void response.writeHead(status, { "content-type": "application/json" }).end(body))
    await proposing(order)
    await page.goto(`${here.stage.url}/inbox`)
    await card.getByText(service.host).waitFor()
    await card.getByText(order).waitFor()
    await card.getByText("44", { exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(service.asked).toEqual([])
    await page.waitForTimeout(800)
    await card.locator(".decision button").first().click()
    await page.getByText(said).waitFor()
    expect(service.asked).toHaveLength(1)
  }
  expect(faults).toEqual([])
  await close()
})
