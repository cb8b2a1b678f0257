/** Golden statements of changes of mapped relations, and of callers who don't see the name of a row. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Statement } from "../../../src/database/sql/ResolvedQuery.ts"
import type { Assignment, RowChange } from "../../../src/database/sql/RowChange.ts"
import {
  compileDelete,
  compileInsert,
  compileLock,
  compilePropose,
  compileRestore,
  compileSeen,
  compileUpdate,
  compileVerify
} from "../../../src/database/sql/write.ts"
import { type Column, columnByKey, type EntityType, type MappedWrite, Storage } from "../../../src/domain/EntityType.ts"
import { ALWAYS, Bound } from "../../../src/domain/Predicate.ts"
import type { Granted } from "../../../src/permissions/permissionPlan.ts"
import type { WriteAction, WriteGranted } from "../../../src/permissions/WritePlan.ts"
import { laidOut } from "../../support/goldenStatements.ts"
import { agents, catalog, tickets as unwritable } from "../../support/mappedCatalog.ts"

const written: MappedWrite = {
  columns: ["name", "status", "fee", "opened", "due", "agent", "kind", "closed_at"],
  create: { needed: ["name"], sequences: [] },
  delete: true,
  cascades: ["host.note"]
}
/** An enumeration of the host's. */
const kind: Column = {
  key: "kind",
  slug: "kind",
  name: "kind",
  kind: "text",
  storage: Storage.Value({ column: "kind", source: { columns: ["kind"], type: "other" } })
}
/** A time without a zone, which is read as UTC. */
const closedAt: Column = {
  key: "closed_at",
  slug: "closed_at",
  name: "closed_at",
  kind: "timestamp",
  storage: Storage.Value({ column: "closed_at", source: { columns: ["closed_at"], type: "timestamp" } })
}
const writable = (write: MappedWrite): EntityType => ({
  ...unwritable,
  columns: [...unwritable.columns, kind, closedAt],
  mapping: { ...unwritable.mapping!, shape: "the shape", write }
})
const tickets = writable(written)
const kept = writable({
  ...written,
  removal: [
    { column: "gone", is: true },
    { column: "removed_at", is: "now" }
  ]
})
/** All its rows are the organization's, and those are shown that aren't closed. */
const exclusive = {
  ...tickets,
  mapping: { id: tickets.mapping!.id, where: [{ column: "closed", is: null }], unique: true, write: written }
}

const open = Bound.Compare({ column: "status", side: "value", op: "eq", value: "open" })
const read: Granted = {
  _tag: "Granted",
  where: open,
  cells: new Map(tickets.columns.map(({ key }) => [key, key === "due" ? open : ALWAYS])),
  ruleIds: [],
  limited: true,
  expiresAt: Number.POSITIVE_INFINITY
}
const nameless: Granted = { ...read, cells: new Map([["status", ALWAYS]]) }
const writing = (action: WriteAction): WriteGranted => ({
  _tag: "Granted",
  action,
  before: [open],
  after: action === "delete" ? [] : [open],
  parties: [],
  columns: tickets.columns.map(({ key }) => key),
  whole: true,
  expiresAt: Number.POSITIVE_INFINITY
})

const A = "11111111-2222-3333-4444-555555555555"
const B = "66666666-7777-8888-9999-000000000000"
const set = (key: string, ...texts: ReadonlyArray<string | null>): Assignment => ({
  column: columnByKey(tickets, key)!,
  texts
})
const values = [
  set("name", "Broken lamp"),
  set("due", "2026-03-31"),
  { ...set("agent", B), target: { type: agents, where: ALWAYS } }
]
const changeOf = (
  action: WriteAction,
  ids: ReadonlyArray<string>,
  assignments: ReadonlyArray<Assignment>,
  seen = read
): RowChange => ({ type: tickets, ids, assignments, read: seen, write: writing(action) })

const update = changeOf("update", [A], values)
const person = catalog.types[0]!

const STATEMENTS: Readonly<Record<string, Statement>> = {
  "mapped-propose-create": compilePropose(changeOf("create", [A], values), catalog),
  "mapped-propose-update": compilePropose(update, catalog),
  "mapped-propose-update-to-empty": compilePropose(
    changeOf("update", [A], [{ ...set("agent", null), target: { type: agents, where: ALWAYS } }]),
    catalog
  ),
  "mapped-propose-delete": compilePropose(changeOf("delete", [A, B], []), catalog),
  "mapped-lock": compileLock(update, [{ id: A, before: [null, null, B], name: "Lamp" }], catalog),
  "mapped-lock-delete": compileLock(
    changeOf("delete", [A], []),
    [{ id: A, before: tickets.columns.slice(1).map(() => null), name: "Lamp" }],
    catalog
  ),
  "mapped-seen": compileSeen(tickets, [A, B], tickets.columns, read, catalog),
  "mapped-create": compileInsert(tickets, A, values, catalog),
  "mapped-update": compileUpdate(tickets, [A, B], values, catalog),
  "mapped-update-of-an-enumeration": compileUpdate(
    tickets,
    [A],
    [set("status", "open"), set("kind", "urgent"), set("agent", null)],
    catalog
  ),
  "mapped-update-of-times-and-numbers": compileUpdate(
    tickets,
    [A],
    [set("fee", "12.50"), set("opened", "2026-03-31T14:00"), set("closed_at", "2026-04-01T09:00")],
    catalog
  ),
  "mapped-create-in-a-relation-of-one-organization": compileInsert(exclusive, A, values.slice(0, 1), catalog),
  "mapped-delete": compileDelete(tickets, [A], catalog),
  "mapped-delete-that-keeps-the-row": compileDelete(kept, [A], catalog),
  "mapped-verify": compileVerify(tickets, [A], [columnByKey(tickets, "due")!], writing("update"), catalog),
  "propose-under-a-hidden-name": compilePropose(changeOf("update", [A], [set("status", "closed")], nameless), catalog, {
    type: person,
    id: "13",
    read: { ...read, where: ALWAYS, cells: new Map([["status", ALWAYS]]) }
  })
}

describe("the statement of a change of a mapped relation", () => {
  for (const [name, statement] of Object.entries(STATEMENTS)) {
    it(`matches its golden file: ${name}`, async () => {
      await expect(laidOut(statement)).toMatchFileSnapshot(join("golden", "write", `${name}.sql`))
    })
  }

  it("compares the relations with their mapping first, and names them for lookups", () => {
    for (const [name, { mapped, relations, text }] of Object.entries(STATEMENTS)) {
      expect(text, name).toMatch(/^\/\* max [\w ]+ \*\/ WITH g AS MATERIALIZED \(SELECT max\.held\(/)
      expect(relations, name).toContain('"host"."tickets"')
      expect(mapped === true, name).toBe(name.includes("propose"))
    }
  })

  it("keeps each write to rows that the mapping shows as the organization's", () => {
    for (const name of [
      "mapped-update",
      "mapped-update-of-an-enumeration",
      "mapped-delete",
      "mapped-delete-that-keeps-the-row"
    ]) {
      const { parameters, text } = STATEMENTS[name]!
      expect(text, name).toMatch(/WHERE \(SELECT g\.held FROM g\) AND p\."tenant" = \$\d+::text AND p\."gone" = \$\d+/)
      expect(parameters, name).toContain("acme")
    }
  })

  it("isn't compiled for what the mapping doesn't permit", () => {
    const only = (more: MappedWrite) => writable(more)
    expect(() => compileInsert(only({ columns: ["name"] }), A, values, catalog)).toThrow("read only")
    expect(() => compileUpdate(only({ ...written, columns: [] }), [A], values, catalog)).toThrow("read only")
    expect(() => compileDelete(only({ columns: ["name"] }), [A], catalog)).toThrow("read only")
    expect(() => compileRestore(only({ columns: ["name"] }), A, "{}", [], catalog)).toThrow("read only")
  })
})
