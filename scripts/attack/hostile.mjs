/**
 * Hostile text in every text entrance: each parameter of every request, rows that replies are checked against, sentences
 * that draft a change, cells of an import, names of a policy. Meanwhile a neighbour's lookups may take at most three times
 * as long as without the attack.
 */
import { writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { join } from "node:path"
import { hostileTexts } from "../../test/support/hostileTexts.js"
import { ask, replaced, uploads, variants } from "./naughty.mjs"
import { openNeighbour } from "./neighbour.mjs"

/** Characters: of a value in a request's head, which has 16 kB; of a message; and of a body, which has 64 KiB. */
const [HEAD, MESSAGE, BODY] = [1300, 4000, 20_000]
/** Milliseconds of each window; the windows alternate, because a machine's load changes. */
const [ALONE, ATTACKED] = [4000, 12_000]
/** Milliseconds between two requests: the default limit of an organization is 1,000 calls a minute. */
const PACE = 60
/** The largest ratio of the neighbour's p99. */
export const MOST = 3

/** One text of each family, with its endings in turn. */
const familiesOf = (length) => hostileTexts(length).filter((_, index) => index % 3 === Math.floor(index / 3) % 3)
const [heads, messages, bodies] = [HEAD, MESSAGE, BODY].map(familiesOf)

/** The longest beginning of a text whose JSON fits into a body. */
const fitting = (text) =>
  text.slice(0, Math.floor((text.length * 50_000) / Math.max(50_000, Buffer.byteLength(JSON.stringify(text)))))

/** Names and notes of people that the attack imports. */
const rows = messages.map(([, text], index) => ({
  id: `hostile-${index}`,
  name: `Hilda Hostile ${index}`,
  status: "lead",
  notes: text.toWellFormed().replaceAll("\u0000", "")
}))

const changed = function* (request) {
  const { body, form, headers = {}, params = {}, query = {}, upload } = request
  for (const [, text] of heads) {
    for (const one of replaced(params, text)) yield { ...request, params: one }
    for (const one of replaced(query, text)) yield { ...request, query: one }
    for (const one of replaced(headers, text)) yield { ...request, headers: one }
  }
  for (const [, text] of messages) {
    if (form !== undefined) for (const one of replaced(form, text)) yield { ...request, form: one }
    if (body !== undefined) for (const one of variants(body, text)) yield { ...request, body: one }
    if (upload !== undefined) yield* uploads(request, text)
  }
  for (const [, text] of bodies)
    if (body !== undefined) for (const one of replaced(body, fitting(text))) yield { ...request, body: one }
}

/** Questions and lookups whose answers contain the rows. */
const readers = function* (requests) {
  const named = (name) => requests.filter((one) => one.name === name)
  for (const { name } of rows) {
    const filters = [{ columnId: "name", op: "eq", value: name }]
    const find = { entityTypeId: "people", filters, selectColumns: ["notes"] }
    for (const one of named("say")) {
      yield { ...one, body: { text: `who is ${name}?` } }
      yield { ...one, body: { text: `what are the notes of ${name}?` } }
    }
    for (const one of named("findEntities")) yield { ...one, body: find }
    for (const one of named("MCP, a call"))
      yield { ...one, body: { ...one.body, params: { name: "findEntities", arguments: find } } }
  }
}

/** Sentences that ask for a change to a hostile value, which basic mode drafts through `requestAction`. */
const drafts = function* (requests) {
  for (const one of requests.filter(({ name }) => name === "say"))
    for (const [, text] of messages) {
      const value = text.slice(0, MESSAGE - 100)
      yield { ...one, body: { text: `change the status of noah mendes to ${value}` } }
      yield { ...one, body: { text: `change the status of ${value} to lead` } }
      yield { ...one, body: { text: `add a person named ${value}` } }
    }
}

/** Imports the rows and checks a policy of hostile names, in the command line's own processes. */
const commands = async ({ home, maxElsewhere: max }) => {
  const people = join(home, "hostile.jsonl")
  writeFileSync(people, rows.map((row) => JSON.stringify(row)).join("\n"))
  await max("import", people, "--type", "people")
  const rule = { effect: "allow", role: "rep", action: "read", type: "people", columns: "*" }
  const policy = join(home, "hostile.json")
  const named = messages.map(([, text]) => ({ ...rule, id: text, role: text, where: { [text]: text } }))
  writeFileSync(policy, JSON.stringify({ version: 1, roles: { [messages[0][1]]: {} }, rules: named }).toWellFormed())
  const refused = await max("policy", "check", policy).catch(({ message }) => message)
  if (!/ended with 1/.test(refused)) throw new Error(`A policy of hostile names wasn't refused: ${refused}`)
}

/** Creates the column that the rows need; before the attack, because it changes the policy. */
export const prepareRows = async ({ home, max }) => {
  const first = join(home, "first.jsonl")
  writeFileSync(first, JSON.stringify({ id: "hostile-first", name: "Hilda Hostile", status: "lead", notes: "None" }))
  await max("import", first, "--type", "people", "--create")
  await max("policy", "grant", "admin", "people.notes")
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Sends every request with hostile text in each place, in turns with a silent window. Returns what the neighbour measured. */
export const hostile = async (requests, front, world) => {
  const neighbour = openNeighbour(world)
  // The attacker doesn't compete for the processor either.
  setPriority(10)
  const broken = []
  const slowest = new Map()
  let sent = 0
  const waiting = (function* () {
    for (const request of requests) yield* changed(request)
    yield* readers(requests)
    yield* drafts(requests)
  })()
  const attacker = async (end) => {
    while (performance.now() < end) {
      const { done, value } = waiting.next()
      if (done) return false
      sent += 1
      const from = performance.now()
      const { status, text } = await ask(front, value)
      const took = performance.now() - from
      slowest.set(value.name, Math.max(took, slowest.get(value.name) ?? 0))
      await sleep(PACE - took)
      if (status >= 500 || status === 0) broken.push({ name: value.name, status, text: text.slice(0, 300) })
    }
    return true
  }
  const window = async (phase, run) => {
    neighbour.phase(phase)
    const result = await run()
    neighbour.phase(undefined)
    await sleep(300)
    return result
  }
  // Connections and code are warm before the first window.
  await sleep(5000)
  await window("alone", () => sleep(ALONE))
  await window("attacked", () => commands(world))
  for (let isOpen = true; isOpen;) {
    await window("alone", () => sleep(ALONE))
    const end = performance.now() + ATTACKED
    isOpen = await window("attacked", () => attacker(end))
  }
  const report = await neighbour.report()
  neighbour.close()
  return {
    ...report,
    sent,
    broken,
    slowest: [...slowest].sort(([, a], [, b]) => b - a).slice(0, 5),
    ratio: report.attacked.p99 / report.alone.p99
  }
}
