import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { rolesOf } from "../../../src/database/migrate.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { changes, entry, hostileRole, hostileView, make, ran, script, SETTING } from "../../support/hostileOwner.ts"
import { type Answer, ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { policyFor } from "../../support/mappedTables.ts"
import { memberWithToken } from "../../support/members.ts"

/** The name of a person in each of two organizations; hostile functions return the names of all people. */
const CANARY = { here: randomBytes(48).toString("hex"), there: randomBytes(48).toString("hex") }
/** Of the first organization, only its mapped relations are visible to the caller. */
const CANARIES = Object.values(CANARY)

const scope = Scope.makeUnsafe()
const cases = changes()
const tokens = { here: "", there: "" }
let databaseUrl: string
let server: TestServer

const prepare = Effect.gen(function* () {
  const mappings = yield* Mappings
  const [here, there] = [yield* makeOrganization("here"), yield* makeOrganization("there")]
  yield* addPeople(here, [{ name: CANARY.here }])
  yield* addPeople(there, [{ name: CANARY.there }])
  yield* script(SETTING)
  for (const { relation, schema, type } of cases) {
    yield* script(relation)
    yield* mappings.apply(here, { version: 1, types: [entry(`${schema}.${type}`, { type })] })
  }
  const rules = cases.map(({ type }) => ({
    id: type,
    effect: "allow",
    role: "reader",
    action: "read",
    type,
    columns: "*"
  }))
  yield* policyFor(here, { version: 1, roles: { reader: {} }, rules })
  tokens.here = (yield* memberWithToken(here, "sam@here.example", ["reader"])).token
  tokens.there = (yield* memberWithToken(there, "ada@there.example", ["admin"])).token
})

beforeAll(async () => {
  databaseUrl = await Effect.runPromise(Effect.andThen(hostileRole, migratedDatabase).pipe(Scope.provide(scope)))
  server = await startServer(databaseUrl)
  await server.run(prepare)
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const raw = ({ headers, status, text }: Answer) => JSON.stringify([status, headers, text])

/** The answers of every way to read the type. */
const answersOf = async (at: TestServer, type: string): Promise<ReadonlyArray<Answer>> => {
  const filters = (op: string, value: string) => [{ columnId: "name", op, value }]
  const inputs = [
    { filters: [] },
    { filters: [], limit: 0 },
    { filters: [], selectColumns: ["name"] },
    { filters: [], cursorEntityId: "1" },
    { filters: filters("eq", "Lamp") },
    { filters: filters("ilike", "lam") },
    { filters: [{ columnId: type, op: "eq", value: "x" }] }
  ].map((input) => ({ entityTypeId: type, ...input }))
  const answers: Array<Answer> = []
  for (const input of inputs) answers.push(await callTool(at, tokens.here, "findEntities", input))
  for (const tool of ["listEntityTypes", "listColumnsForType"])
    answers.push(await callTool(at, tokens.here, tool, tool === "listEntityTypes" ? {} : { entityTypeId: type }))
  for (const input of inputs.slice(0, 2)) {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "findEntities", arguments: input } }
    const accept = "application/json, text/event-stream"
    const headers = { ...JSON_TYPE, accept, authorization: `Bearer ${tokens.here}` }
    answers.push(await ask(at.url, "/mcp", { body: JSON.stringify(call), headers }))
  }
  return answers
}

it("no answer has a byte of what a hostile owner's function returns, in running and in new processes", async () => {
  for (const { change, name, own, schema, type } of cases) {
    const before = await answersOf(server, type)
    expect(before.filter(({ text }) => text.includes("Lamp")).length, name).toBe(5)
    await server.run(make(change, own, schema))
    // Making an index may have run its function, in the owner's session.
    await server.run(Effect.flatMap(Database, ({ owner }) => owner`SELECT pg_advisory_unlock_all()`))
    const fresh = await startServer(databaseUrl)
    try {
      const answers = [...before, ...(await answersOf(server, type)), ...(await answersOf(fresh, type))]
      for (const canary of CANARIES)
        expect(answers.map(raw).filter((bytes) => bytes.includes(canary)).length, name).toBe(0)
      // Unavailable, never empty.
      expect(answers.filter(({ status }) => status === 503).length, name).toBe(12)
      expect(
        answers.slice(before.length).filter(({ text }) => text.includes("Lamp")),
        name
      ).toEqual([])
    } finally {
      await fresh.stop()
    }
    expect(await server.run(ran), name).toBe(false)
  }
})

it("a hostile owner's function returns every organization's names when the reading role runs it", async () => {
  const people = await callTool(server, tokens.there, "findEntities", { entityTypeId: "people", filters: [] })
  expect(people.text).toContain(CANARY.there)
  await server.run(script(hostileView("crm.unmapped")))
  const rows = await server.run(
    Effect.flatMap(Database, ({ owner }) =>
      owner.withTransaction(
        Effect.gen(function* () {
          const [database] = yield* owner<{ name: string }>`SELECT current_database()::text AS name`
          yield* owner.unsafe(`SET LOCAL ROLE ${rolesOf(database!.name).read}`).unprepared
          return yield* owner<{ name: string }>`SELECT name FROM crm.unmapped`
        })
      )
    )
  )
  for (const canary of CANARIES) expect(JSON.stringify(rows)).toContain(canary)
  expect(await server.run(ran)).toBe(true)
})
