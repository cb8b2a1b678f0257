/**
 * `max serve` before the cluster, and its load: lookups, changes, turns of conversations, text messages, and a member who is
 * suspended and restored in turns. Each write that was acknowledged is looked for in the database afterwards.
 */
import { openMax, sleep } from "./max.mjs"
import { openTexts } from "./texts.mjs"

const CLIENTS = 6
const OWNER_PASSWORD = "owner"

export const openLoad = async (cluster) => {
  cluster.query(cluster.superuser, `CREATE ROLE max_owner LOGIN CREATEROLE PASSWORD '${OWNER_PASSWORD}'`)
  cluster.query(cluster.superuser, "CREATE DATABASE max OWNER max_owner")
  const database = cluster.superuser.replace(/\/postgres$/, "/max")
  const url = database.replace(/\/\/[^@]*@/, `//max_owner:${OWNER_PASSWORD}@`)
  const at = (port) => ({ DATABASE_URL: url.replace(/:\d+\/max$/, `:${port}/max`) })
  const max = openMax(url)
  const { ask } = max
  const texts = await openTexts(max.home)
  await max.initialize()
  await max.must(...texts.command)
  const admin = await max.tokenOf("person0@example.com", "tools", "chat", "changes", "confirm", "admin")
  const other = await max.tokenOf("person1@example.com", "tools")
  await max.must("member", "add", "person2@example.com", "--role", "admin")
  const suspendedId = await max.idOf("Person Number 1")
  const bystanderId = await max.idOf("Person Number 2")
  const address = await max.serve(texts.env)

  const lookup = (token) =>
    ask(token, "/v1/tools/findEntities", {
      entityTypeId: "people",
      filters: [{ columnId: "email", op: "eq", value: "person7@example.com" }],
      selectColumns: ["name"]
    })
  const isFound = ({ status, text }) => status === 200 && text.includes("Person Number 7")

  // A commit that waits for the standby keeps its locks: what needs them is asked to try again.
  const isNotYet = (text) => text.includes('"urn:max:problem:not-yet"')
  // After a 503 the first attempt may have done it: the second then says that it isn't possible.
  const isDone = ({ status }) => status === 204 || status === 409

  let current
  const loops = () => {
    const state = {
      stopping: false,
      seen: [],
      changes: [],
      audits: [],
      turns: [],
      texts: [],
      suspended: { sent: 0, wrong: 0 },
      unexpected: []
    }
    const loop = async (step) => {
      while (!state.stopping) {
        // A typed problem is an expected answer to a fault; anything else isn't.
        const { status, text } = (await step()) ?? {}
        if (status === undefined || status === 200) continue
        if (status !== 503 && !isNotYet(text)) state.unexpected.push(`${status} ${text}`)
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
      if (applied.status === 200 && JSON.parse(applied.text)._tag === "Applied") {
        state.changes.push(name)
        state.audits.push(changeId)
      }
      return applied
    }
    const turn = async () => {
      const text = `who is Person Number ${count++ % 200} ${mark}${count}?`
      const answer = await ask(admin, "/v1/chat", { text })
      if (answer.status === 200 && answer.text.includes("event: done")) state.turns.push(text)
      await sleep(20)
      return answer
    }
    const text = async () => {
      const id = `SM${mark}${count++}`
      const answer = await texts.post(address, id)
      if (answer.status === 200) state.texts.push(id)
      await sleep(20)
      return answer
    }
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
    const running = [
      ...Array.from({ length: CLIENTS }, () => loop(find)),
      ...[change, turn, text, suspension].map(loop)
    ]
    return { state, running, mark }
  }

  return {
    begin: () => {
      current = loops()
    },
    /** What `max doctor` says at an address; by default, at the proxy's. */
    doctor: async (port) => (await max.runWith(port === undefined ? {} : at(port), "doctor")).said,
    /** Suspends a member, and says whether `max find` then finds rows for this member at a node's own address. */
    isAnsweredAt: async (port) => {
      while (!isDone(await ask(admin, `/v1/admin/people/${bystanderId}/suspend`))) await sleep(50)
      const found = await max.runWith(
        at(port),
        "find",
        "people",
        "email=person7@example.com",
        "--as",
        "person2@example.com"
      )
      while (!isDone(await ask(admin, `/v1/admin/people/${bystanderId}/resume`))) await sleep(50)
      return found.said.includes("Person Number 7")
    },
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
      const audits = inDatabase("SELECT subject FROM max.audit_log WHERE action = 'change.applied'")
      const received = inDatabase(`SELECT message_id FROM max.sms_inbox WHERE message_id LIKE 'SM${mark}%'`)
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
        lost: {
          changes: missing(state.changes, names),
          "audit records": missing(state.audits, audits),
          turns: missing(state.turns, turns),
          "text messages": missing(state.texts, received)
        }
      }
    },
    close: async () => {
      await max.close()
      texts.close()
    }
  }
}
