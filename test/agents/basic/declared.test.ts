/** Requests for declared actions in basic mode: the declared examples are the sentences. */
import { describe, expect, it } from "vitest"
import { readActions } from "../../../src/services/actions/readActions.ts"
import { missingOf, readAnswer, readAsked } from "../../../src/agents/basic/declared/readAsked.ts"
import { readFileSync } from "node:fs"
import { systemCatalog } from "../../support/catalog.ts"

const text = readFileSync(new URL("../../../examples/purchase-orders/actions.json", import.meta.url), "utf8")
const reading = readActions(text, { catalog: systemCatalog, hosts: ["127.0.0.1:4480"] })
if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
const { actions } = reading
const asked = (said: string) => readAsked(said, actions)?.map(({ action, values }) => [action.slug, values])
const forks = { order: "4500000001", item: "forks", quantity: "44" }

describe("a request for a declared action", () => {
  it("has the seed's ten intents", () => expect(actions).toHaveLength(10))

  it.each<readonly [string, ReturnType<typeof asked>]>([
    ["On PO 4500000001, change the quantity of forks to 44", [["update_po_item", forks]]],
    ["Change the quantity of forks on PO 4500000001 to 44", [["update_po_item", forks]]],
    ["Hello, please change the quantity of forks on PO 4500000001 to 44. Thanks", [["update_po_item", forks]]],
    [
      "Update the price on item 00010 of purchase order 4500000001 to 12.50",
      [["update_po_item", { item: "00010", order: "4500000001", price: "12.50" }]]
    ],
    [
      "On PO 4500000001, set the plant for line 00020 to 1710",
      [["update_po_item", { order: "4500000001", item: "00020", plant: "1710" }]]
    ],
    [
      "Check the status of PO 4500000001 and update the quantity of forks to 44",
      [
        ["get_purchase_order", { order: "4500000001" }],
        ["update_po_item", { item: "forks", quantity: "44" }]
      ]
    ],
    ["Show me PO 4500000001", [["get_purchase_order", { order: "4500000001" }]]],
    ["Change the quantity of the first item to 100", [["update_po_item", { item: "first item", quantity: "100" }]]],
    [
      "Change the price of forks on PO 4500000001 to $1,250.50",
      [["update_po_item", { order: "4500000001", item: "forks", price: "1250.50" }]]
    ],
    ["Also delete the second item", [["delete_po_item", { item: "second item" }]]],
    ["Hi team,\nplease set the quantity of forks for purchase order 4500000001 to 44", [["update_po_item", forks]]],
    [
      "The price of item 00010 on PO 4500000001 should be 12.50",
      [["update_po_item", { item: "00010", order: "4500000001", price: "12.50" }]]
    ],
    [
      "On PO 4500000001, change the quantity of forks to 44 and set the plant for knives to 1720.",
      [
        ["update_po_item", forks],
        ["update_po_item", { item: "knives", plant: "1720" }]
      ]
    ]
  ])("is read from “%s”", (said, expected) => expect(asked(said)).toEqual(expected))

  it.each([
    "Approve purchase requisition 10000123",
    "Change the quantity of forks on PO 4500000001 to 44 if there is room",
    "Change the quantity of forks on PO 4500000001 to 44 and the price to 5",
    "Don't change the quantity of forks on PO 4500000001 to 44",
    "Show me PO 45",
    "Hello, delete everything. Show me PO 4500000001",
    "Dear Ada, email Bob. Show me PO 4500000001",
    `Show me PO 4500000001. ${"Thanks. ".repeat(100)}`,
    "The quantity of forks on PO 4500000001 should not be 44",
    "The quantity of forks on PO 4500000001 was changed to 44",
    "Add 5 forks to item 00010 of PO 4500000001",
    "Show me PO 4500000001; see the attached list",
    "Change the quantity of forks on PO 4500000001 to many",
    "Change the price of forks on PO 4500000001 to 5%",
    "Change the price of forks on PO 4500000001 to 5 %",
    "Change the price of forks on PO 4500000001 to 1,5",
    "Change the price of forks on PO 4500000001 to 1.5.2",
    "Increase the quantity of forks on PO 4500000001 by 5",
    "Delete forks and knives from PO 4500000001",
    "Who is Ada Lovelace?"
  ])("isn't read from “%s”", (said) => expect(asked(said)).toBeUndefined())

  it("misses one field after the other, each of which a message gives", () => {
    const [one] = readAsked("Create a purchase order for supplier 17300001", actions)!
    const field = missingOf(one!)!
    expect(field.slug).toBe("material")
    expect(readAnswer("TG13, please", field)).toBe("TG13")
    expect(readAnswer("I don't know", field)).toBeUndefined()
    expect(missingOf({ ...one!, values: { ...one!.values, material: "TG13" } })?.slug).toBe("quantity")
  })
})
