/** Cards of changes of another program's table: what can't be undone, and a new row without a name. */
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import demo from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import { readMappingFile } from "../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../src/services/mapping/Mappings.ts"
import { proposes } from "../support/drafting.ts"
import { byHand, policyFor, runScript } from "../support/mappedTables.ts"
import { ROSA } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged()
const { visit } = here

const FILE = {
  version: 1,
  types: [
    {
      table: "public.lamp",
      type: "lamps",
      name: "Lamp",
      exclusive: true,
      id: "id",
      columns: { name: { from: "id", kind: "text" }, note: { from: "note" } },
      write: { columns: ["note"], create: true, delete: "row" }
    }
  ]
}
const rules = ["read", "create", "delete"].map((action) => ({
  id: `lamps-${action}`,
  effect: "allow",
  role: "rep",
  action,
  type: "lamps",
  columns: "*"
}))

beforeAll(() =>
  here.stage.run(
    Effect.gen(function* () {
      const { organization } = here.stage
      yield* runScript(
        "CREATE TABLE public.lamp (id serial PRIMARY KEY, note text);\nINSERT INTO public.lamp (note) VALUES ('old'), ('new');\n"
      )
      const mappings = yield* Mappings
      yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify(FILE)))
      yield* policyFor(organization, { ...demo, rules: [...demo.rules, ...rules] })
    })
  )
)

describe("a change of a mapped table", () => {
  it("that is a deletion says before and after it that it can't be undone, and has no button for that", () =>
    visit(async (page) => {
      const id = await proposes(here.stage, ROSA, [{ actionId: "lamps.delete", entityIds: ["1"] }])
      await page.goto(`${here.stage.url}/inbox/${id}`)
      const card = page.locator(".draft").first()
      await card.getByText("It can't be undone here.").waitFor()
      await page.waitForTimeout(1000)
      await card.getByRole("button", { name: "Delete 1 lamp…", exact: true }).click()
      await page.waitForTimeout(1200)
      await card.getByLabel(/type the number 1/).fill("1")
      await card.getByRole("button", { name: "Delete 1 lamp", exact: true }).click()
      await card.getByText("Deleted 1 lamp.").waitFor()
      expect(await card.getByRole("button", { name: "Undo" }).count()).toBe(0)
      expect(await here.stage.run(byHand("SELECT note AS id FROM lamp"))).toEqual(["new"])
    }))

  it("that adds a row whose name the database gives is called by what it does, and can be undone", () =>
    visit(async (page) => {
      const values = [{ columnId: "note", value: "third" }]
      const id = await proposes(here.stage, ROSA, [{ actionId: "lamps.create", values }])
      await page.goto(`${here.stage.url}/inbox/${id}`)
      const card = page.locator(".draft").first()
      await card.locator(".row-name").waitFor()
      expect(await card.locator(".row-name").innerText()).toBe("Add lamp")
      await page.waitForTimeout(1000)
      await card.getByRole("button", { name: "Add 1 lamp", exact: true }).click()
      await card.getByRole("button", { name: "Undo" }).waitFor()
      expect(await here.stage.run(byHand("SELECT note AS id FROM lamp WHERE note = 'third'"))).toEqual(["third"])
    }))
})
