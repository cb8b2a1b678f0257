/**
 * Purchase orders in an OData V2 service, changed from conversations and tickets: ten actions in one file, basic mode, no key.
 * Each dialogue is checked, so this program ends with an error if one of them goes another way.
 */
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startService } from "./service.js"

const service = await startService("local")
const folder = mkdtempSync(join(tmpdir(), "purchase-orders-"))
const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}
const port = await freePort()
const env = {
  ...process.env,
  MAX_ORG: "orders",
  MAX_PROVIDER: "basic",
  MAX_PRIVATE_HOSTS: service.host,
  MAX_HTTP_PORT: port,
  MAX_WRITES_PER_MINUTE: "100",
  SAP_TOKEN: "local"
}

const run = (...args: ReadonlyArray<string>) => {
  const done = spawnSync("npx", ["--no-install", "max", ...args], { env, encoding: "utf8" })
  assert.equal(done.status, 0, `max ${args.join(" ")}\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}
const asset = (name: string) => new URL(name, import.meta.url)
const actions = join(folder, "actions.json")
writeFileSync(actions, readFileSync(asset("actions.json"), "utf8").replaceAll("127.0.0.1:4480", service.host))
const policy = join(folder, "policy.json")
writeFileSync(policy, readFileSync(asset("policy.json")))

run("migrate")
run("init", "--org", "orders", "--name", "Orders", "--country", "US", "--time-zone", "America/New_York")
run("policy", "publish", policy)
run("action", "publish", actions)
const tokenOf = (email: string, role: string, name: string) => {
  run("member", "add", email, "--role", role, "--create", "--name", name)
  const made = run("token", "create", email, "--name", "example", "--scope", "chat,changes,confirm", "--json")
  return (JSON.parse(made) as { token: string }).token
}
const buyer = tokenOf("bea@orders.example", "buyer", "Bea Buyer")
const desk = tokenOf("desk@orders.example", "buyer", "Help Desk")
const lead = tokenOf("leo@orders.example", "lead", "Leo Lead")

const max = spawn("npx", ["--no-install", "max", "serve"], {
  env,
  stdio: ["ignore", "ignore", "inherit"],
  detached: true
})
const url = `http://127.0.0.1:${port}`

const call = (token: string, path: string, body?: unknown) =>
  fetch(`${url}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
  })
const json = async (token: string, path: string, body?: unknown) =>
  (await (await call(token, path, body)).json()) as Answer

interface Cell {
  readonly name: string
  readonly becomes: string
}
interface Step {
  readonly action: string
  readonly cells: ReadonlyArray<Cell>
}
interface Draft {
  readonly changeId: string
  readonly digest: string
  readonly rows: unknown
  readonly level: string
  readonly state: string
  readonly steps: ReadonlyArray<Step>
}
interface Done {
  readonly _tag: "done"
  readonly text: string
  readonly session: string
  readonly drafts?: ReadonlyArray<Draft>
}
/** What the calls below read of an answer: of a draft, of its confirmation, of a ticket. */
interface Answer extends Draft {
  readonly _tag: string
  readonly status: number | string
  readonly receipt: { readonly message: string }
  readonly changes: ReadonlyArray<Draft>
}
/** Says something as the buyer; without a session, in a new conversation. */
const say = async (text: string, session?: string) => {
  const stream = await (
    await call(buyer, "/v1/chat", { text, ...(session === undefined ? {} : { conversation: session }) })
  ).text()
  const events = stream.split("\n").flatMap((line) => (line.startsWith("data:") ? [JSON.parse(line.slice(5))] : []))
  const done: Done | undefined = events.find((event) => event._tag === "done")
  assert.ok(done, `${text}\n${stream}`)
  const drafts = done.drafts ?? []
  const cards = drafts.flatMap(({ steps }) =>
    steps.map(
      ({ action, cells }) => `[${action}: ${cells.map(({ becomes, name }) => `${name} ${becomes}`).join("; ")}]`
    )
  )
  console.log([`› ${text}`, done.text, ...cards, ""].join("\n"))
  return { text: done.text, session: done.session, drafts }
}
/** Confirms a draft as often as its level asks, as one of its people. */
const confirm = async (draft: Draft | undefined, token = buyer) => {
  assert.ok(draft)
  const { changeId, digest, rows } = draft
  const path = `/v1/changes/${changeId}/confirm`
  for (let first = true; ; first = false) {
    const confirmed = await json(token, path, first ? { digest } : { digest, rows })
    if (confirmed._tag === "Applied") {
      console.log(`✓ ${confirmed.receipt.message}\n`)
      return confirmed.receipt.message
    }
    assert.ok(confirmed._tag === "Again" || confirmed.status === 409, JSON.stringify(confirmed))
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}
const lastWritten = () => service.written.at(-1)
const quantity = (order: number, item: number) => service.orders[order]!.items[item]!.OrderQuantity

try {
  for (let attempt = 0; attempt < 600; attempt++) {
    if ((await fetch(`${url}/health`).catch(() => undefined)) !== undefined) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }

  // The seed's sentence: one card for item 00010, one PATCH.
  const forks = await say("On PO 4500000001, change the quantity of forks to 44")
  assert.equal(forks.drafts.length, 1)
  assert.deepEqual(
    forks.drafts[0]!.steps.map(({ cells }) => cells.map(({ becomes }) => becomes)),
    [["4500000001", "00010 (Forks, TG11, read from “Items of a purchase order”)", "44"]]
  )
  assert.deepEqual(service.written, [])
  assert.match(await confirm(forks.drafts[0]), /is done/)
  const item = "A_PurchaseOrderItem(PurchaseOrder='4500000001',PurchaseOrderItem='00010')"
  assert.deepEqual(service.written, [`PATCH /${item} {"OrderQuantity":"44"}`])
  assert.equal(quantity(0, 0), "44")

  // Two forks are a choice; none is a question.
  const two = await say("On PO 4500000002, change the quantity of forks to 44")
  assert.match(two.text, /1\. 00010 Salad forks, TG21\n2\. 00020 Dinner forks, TG22/)
  assert.equal(two.drafts.length, 0)
  const second = await say("2", two.session)
  assert.match(second.drafts[0]!.steps[0]!.cells[1]!.becomes, /^00020 \(Dinner forks/)
  const none = await say("On PO 4500000002, change the quantity of plates to 44")
  assert.match(none.text, /there is no “?"?plates/i)
  assert.equal(none.drafts.length, 0)

  // The read comes first, then one card.
  const both = await say("Check the status of PO 4500000001 and update the quantity of forks to 45")
  assert.match(both.text, /Status: Released/)
  assert.equal(both.drafts.length, 1)
  assert.equal(both.drafts[0]!.steps[0]!.cells[2]!.becomes, "45")

  // The order of the question before.
  const shown = await say("Show me PO 4500000001")
  const first = await say("Change the quantity of the first item to 100", shown.session)
  assert.match(first.drafts[0]!.steps[0]!.cells[1]!.becomes, /^00010 /)
  await confirm(first.drafts[0])
  assert.equal(quantity(0, 0), "100")

  for (const [said, path, body] of [
    ["Change the quantity of forks on PO 4500000001 to 44", item, '{"OrderQuantity":"44"}'],
    ["Update the price on item 00010 of purchase order 4500000001 to 12.50", item, '{"NetPriceAmount":"12.50"}'],
    ["On PO 4500000001, set the plant for line 00020 to 1710", item.replace("00010", "00020"), '{"Plant":"1710"}']
  ] as const) {
    await confirm((await say(said)).drafts[0])
    assert.equal(lastWritten(), `PATCH /${path} ${body}`)
  }

  // What is missing is asked for, one by one.
  assert.match(
    (await say("Change the quantity of forks to 5")).text,
    /“Change an item of a purchase order” needs Purchase order/
  )
  const create = await say("Create a purchase order for supplier 17300001")
  assert.match(create.text, /needs Material/)
  assert.match((await say("TG13", create.session)).text, /needs Quantity/)
  assert.match((await say("12", create.session)).text, /needs Plant/)
  const made = await say("1710", create.session)
  assert.match(await confirm(made.drafts[0]), /Purchase order: 4500000003/)
  await confirm((await say("Add 5 of material TG12 for plant 1710 to PO 4500000003")).drafts[0])
  assert.deepEqual(
    service.orders[2]!.items.map(({ Material }) => Material),
    ["TG13", "TG12"]
  )
  await confirm((await say("Change the payment terms of PO 4500000003 to 0004")).drafts[0])
  assert.equal(service.orders[2]!.PaymentTerms, "0004")
  assert.match((await say("List purchase orders of supplier 17300001")).text, /4500000003/)
  assert.match((await say("Show the items of PO 4500000003")).text, /Knives/)
  assert.match((await say("Show item 00010 of PO 4500000003")).text, /Spoons/)

  // An added item is taken back by the inverse that its action declares, confirmed as deletions are.
  const addition = await say("Add 7 of material TG11 for plant 1710 to PO 4500000003")
  await confirm(addition.drafts[0])
  const before = service.written.length
  const undo = await say("Undo", addition.session)
  assert.equal(undo.drafts[0]!.level, "twice")
  assert.match(undo.drafts[0]!.steps[0]!.cells[1]!.becomes, /^00030 \(Forks/)
  assert.equal(service.written.length, before)
  await confirm(undo.drafts[0])
  assert.equal(lastWritten(), `DELETE /${item.replace("4500000001", "4500000003").replace("00010", "00030")}`)

  // Deletions are confirmed twice.
  const removed = await say("Delete knives from PO 4500000003")
  assert.equal(removed.drafts[0]!.level, "twice")
  await confirm(removed.drafts[0])
  await confirm((await say("Delete PO 4500000003")).drafts[0])
  assert.equal(service.orders[2]!.PurchaseOrderStatus, "Deleted")

  // What the service refuses is told with its reason.
  const refused = await say("On PO 4500000001, change the quantity of forks to 5000")
  assert.match(await confirm(refused.drafts[0]), /was refused: Quantity 5000 exceeds the contract/)
  assert.match((await say("Show me PO 4599999999")).text, /Purchase order 4599999999 does not exist/)

  // A ticket waits for another member.
  const ticket = await json(desk, "/v1/intake", {
    source: "zendesk",
    sourceId: "1",
    from: "kitchen@elsewhere.example",
    text: "Dear team,\n\nplease increase the quantity of spoons for purchase order 4500000001 to 60.\n\nKind regards,\nKim Ode\nKitchen"
  })
  assert.equal(ticket.changes[0]!.state, "waiting")
  const waiting = await json(lead, `/v1/changes/${ticket.changes[0]!.changeId}`)
  await confirm(waiting, lead)
  assert.equal(quantity(0, 2), "60")

  // What no action does is declined, with what there is.
  const unsupported = await say("Approve purchase requisition 10000123")
  assert.equal(unsupported.drafts.length, 0)
  assert.match(unsupported.text, /What else you can ask for here:/)
  console.log("Every dialogue went as expected.")
} finally {
  process.kill(-max.pid!, "SIGTERM")
  await once(max, "close")
  await service.stop()
}
