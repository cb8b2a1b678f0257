/**
 * `max serve` before the cluster, and its load: lookups, changes, turns of conversations, and a member who is suspended and
 * restored in turns. Each write that was acknowledged is looked for in the database afterwards.
 */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../stale.mjs"

const MAX = join(root, "dist/bin/max.js")
const CLIENTS = 6
const OWNER_PASSWORD = "owner"

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

export const openLoad = async (cluster) => {
  const home = mkdtempSync(join(tmpdir(), "max-failover-load-"))
  chmodSync(home, 0o755)
  cluster.query(cluster.superuser, `CREATE ROLE max_owner LOGIN CREATEROLE PASSWORD '${OWNER_PASSWORD}'`)
  cluster.query(cluster.superuser, "CREATE DATABASE max OWNER max_owner")
  const database = cluster.superuser.replace(/\/postgres$/, "/max")
  const limits = [
    "CALLS_PER_PERSON",
    "CALLS_PER_ORGANIZATION",
    "DAY_TURNS",
    "WRITES_PER_MINUTE",
    "DESTRUCTIVE_PER_HOUR",
    "CHANGED_ROWS_PER_DAY"
  ].map((name) => [`MAX_${name}`, "1000000"])
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    MAX_STATE_DIR: join(home, "state"),
    DATABASE_URL: database.replace(/\/\/[^@]*@/, `//max_owner:${OWNER_PASSWORD}@`),
    MAX_HTTP_PORT: "0",
    MAX_ORG: "atlas",
    ...Object.fromEntries(limits)
  }
  const run = (...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [MAX, ...args], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] })
      let said = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
      child.on("close", (code) => (code === 0 ? resolve(said) : reject(new Error(`max ${args[0]}: ${code} ${said}`))))
    })
  await run("migrate")
  await run("init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York")
  const people = Array.from({ length: 200 }, (_, i) => `p${i},Person Number ${i},person${i}@example.com`)
  writeFileSync(join(home, "people.csv"), ["id,name,email", ...people].join("\n"))
  await run("import", "people.csv", "--type", "people")
  const tokenOf = async (email, ...scopes) => {
    await run("member", "add", email, "--role", "admin")
    const named = ["--name", "load", ...scopes.flatMap((scope) => ["--scope", scope])]
    return /max_\S+/.exec(await run("token", "create", email, ...named))[0]
  }
  const admin = await tokenOf("person0@example.com", "tools", "chat", "changes", "confirm", "admin")
  const other = await tokenOf("person1@example.com", "tools")
  const members = JSON.parse(await run("member", "list", "--json"))
  const suspendedId = members.find(({ name }) => name === "Person Number 1").anchorId

  const server = spawn(process.execPath, [MAX, "serve"], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (said += chunk))
  while (!/Max answers at/.test(said)) {
    if (server.exitCode !== null) throw new Error(`max serve: ${said}`)
    await sleep(50)
  }
  const address = /Max answers at (\S+);/.exec(said)[1]

  const ask = async (token, path, body) => {
    const from = performance.now()
    try {
      const answer = await fetch(address + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body ?? {}),
        signal: AbortSignal.timeout(60_000)
      })
      const text = await answer.text()
      return { status: answer.status, text, from, to: performance.now() }
    } catch (error) {
      return { status: 0, text: String(error), from, to: performance.now() }
    }
  }
  const lookup = (token) =>
    ask(token, "/v1/tools/findEntities", {
      entityTypeId: "people",
      filters: [{ columnId: "email", op: "eq", value: "person7@example.com" }],
      selectColumns: ["name"]
    })
  const isFound = ({ status, text }) => status === 200 && text.includes("Person Number 7")

  let current
  const loops = () => {
    const state = {
      stopping: false,
      seen: [],
      changes: [],
      turns: [],
      suspended: { sent: 0, wrong: 0 },
      unexpected: []
    }
    const loop = async (step) => {
      while (!state.stopping) {
        // A typed problem is an expected answer to a fault; anything else isn't.
        const { status, text } = (await step()) ?? {}
        if (status === undefined || status === 200) continue
        if (status !== 503) state.unexpected.push(`${status} ${text}`)
        await sleep(50)
      }
    }
    let count = 0
    const mark = `${Date.now()}x`
    const change = async () => {
      const name = `Mark ${mark}${count++}`
      const drafted = await ask(admin, "/v1/changes", { steps: [{ actionId: "people.create", values: { name } }] })
      if (drafted.status !== 200) return drafted
      const { changeId, preview } = JSON.parse(drafted.text)
      const applied = await ask(admin, `/v1/changes/${changeId}/confirm`, { digest: preview.digest })
      if (applied.status === 200 && JSON.parse(applied.text)._tag === "Applied") state.changes.push(name)
      return applied
    }
    const turn = async () => {
      const text = `who is Person Number ${count++ % 200} ${mark}${count}?`
      const answer = await ask(admin, "/v1/chat", { text })
      if (answer.status === 200 && answer.text.includes("event: done")) state.turns.push(text)
      await sleep(20)
      return answer
    }
    // After a 503 the first attempt may have done it: the second then says that it isn't possible.
    const isDone = ({ status }) => status === 204 || status === 409
    const suspension = async () => {
      if (!isDone(await ask(admin, `/v1/admin/people/${suspendedId}/suspend`))) return sleep(50)
      for (let i = 0; i < 20 && !state.stopping; i++) {
        const { status } = await lookup(other)
        state.suspended.sent += 1
        if (status === 200) state.suspended.wrong += 1
        await sleep(10)
      }
      while (!state.stopping && !isDone(await ask(admin, `/v1/admin/people/${suspendedId}/resume`))) await sleep(50)
      return undefined
    }
    const find = async () => {
      const answer = await lookup(admin)
      state.seen.push({ ...answer, text: undefined, isFound: isFound(answer) })
      return answer
    }
    const running = [...Array.from({ length: CLIENTS }, () => loop(find)), loop(change), loop(turn), loop(suspension)]
    return { state, running, mark }
  }

  return {
    begin: () => {
      current = loops()
    },
    /** What `max doctor` says about the standbys. */
    doctor: async () => /[^\n]*follow this server[^\n]*/.exec(await run("doctor").catch(({ message }) => message))?.[0],
    during: (seconds) => sleep(seconds * 1000),
    end: async (from) => {
      const { mark, running, state } = current
      state.stopping = true
      await Promise.all(running)
      await ask(admin, `/v1/admin/people/${suspendedId}/resume`)
      const after = state.seen.filter(({ to }) => to > from)
      const good = after.filter(({ isFound: found }) => found).map(({ to }) => to)
      let [last, outage] = [from, 0]
      for (const to of good.toSorted((one, other) => one - other)) {
        outage = Math.max(outage, to - last)
        last = to
      }
      const statuses = {}
      for (const { status } of after) statuses[status] = (statuses[status] ?? 0) + 1
      const inDatabase = (sql) => new Set(cluster.query(database, sql).split("\n"))
      const names = inDatabase(`SELECT name FROM data.people WHERE name LIKE 'Mark ${mark}%'`)
      const turns = inDatabase(`SELECT asked FROM max.turns WHERE asked LIKE '%${mark}%'`)
      const missing = (acknowledged, kept) => ({
        lost: acknowledged.filter((one) => !kept.has(one)).length,
        of: acknowledged.length
      })
      return {
        statuses,
        outage: outage / 1000,
        slowest: Math.max(0, ...after.filter(({ status }) => status !== 200).map((one) => one.to - one.from)) / 1000,
        answered: good.length,
        empty: state.seen.filter(({ isFound: found, status }) => status === 200 && !found).length,
        suspended: state.suspended,
        unexpected: state.unexpected,
        lost: { changes: missing(state.changes, names), turns: missing(state.turns, turns) }
      }
    },
    close: async () => {
      const ended = new Promise((done) => server.on("close", done))
      server.kill("SIGTERM")
      await ended
      rmSync(home, { recursive: true, force: true })
    }
  }
}
