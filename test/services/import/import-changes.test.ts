/** An import after people have changed rows: it says what it overwrites, and leaves it if asked to. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { encodeId } from "../../../src/domain/ids.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { changing, confirmed, forgetLimits } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { importFile, importFiles, typeOf } from "../../support/imports.ts"

const FILE = ["id,name,status,boss,tags", "1,Ada,Lead,,a;b", "2,Bob,Lead,1,", "3,Cy,Lead,1,"]
const OTHER = ["id,name,status,boss,tags", "1,Ada,Customer,,x", "2,Bob,Customer,3,", "3,Cy,Customer,1,"]
const options = { create: true, map: { boss: "boss:people.id" } }

/** Stored cells by the row's id in the file; a table of the organization's own has its columns. */
const cellsOf = Effect.fnUntraced(function* (organization: Organization, column: string) {
  const { owner } = yield* Database
  const { relation } = yield* typeOf(organization, "people")
  const rows = yield* owner.unsafe<{ external_id: string; cell: string | null }>(
    `SELECT external_id, ${column}::text AS cell FROM ${relation.schema}.${relation.table} WHERE organization_id = $1::bigint AND external_id IS NOT NULL`,
    [organization.id]
  )
  return Object.fromEntries(rows.map(({ cell, external_id }) => [external_id, cell]))
})
const idsOf = (organization: Organization) =>
  Effect.map(cellsOf(organization, "id"), (cells) =>
    Object.fromEntries(Object.entries(cells).map(([id, cell]) => [id, encodeId(BigInt(cell!))]))
  )

/** An import, then changes by a person: the status of row 1 and the boss of row 2. */
const changedHere = Effect.fnUntraced(function* (slug: string) {
  const { admin, organization } = yield* changing(slug)
  expect((yield* importFile(organization, FILE, options)).changedHere).toEqual({ cells: 0, kept: false })
  const ids = yield* idsOf(organization)
  const change = (id: string, values: Record<string, string>) =>
    Effect.gen(function* () {
      expect((yield* confirmed(admin, yield* admin.update("people.update", [ids[id]!], values)))._tag).toBe("Applied")
    })
  yield* change("1", { status: "Won" })
  yield* change("2", { owner: ids["3"]! })
  yield* forgetLimits(organization)
  return { organization, admin, ids, change }
})
const statuses = (organization: Organization) => cellsOf(organization, "status")

layer(TestServices, { excludeTestServices: true })("an import of rows that people have changed here", (it) => {
  it.effect("says in a dry run and in an import how many of their cells it overwrites", () =>
    Effect.gen(function* () {
      const { organization } = yield* changedHere("overwrites")
      // The same file again would overwrite the status of row 1 only: it doesn't have the owner.
      expect((yield* importFile(organization, FILE, { ...options, dryRun: true })).changedHere).toEqual({
        cells: 1,
        kept: false
      })
      const owners = ["id,name,owner", "2,Bob,1"]
      const owned = { map: { owner: "owner:people.id" } }
      expect((yield* importFile(organization, owners, { ...owned, dryRun: true })).changedHere.cells).toBe(1)
      const done = yield* importFile(organization, OTHER, options)
      expect(done).toMatchObject({ updated: 3, changedHere: { cells: 1, kept: false } })
      expect(yield* statuses(organization)).toEqual({ "1": "Customer", "2": "Customer", "3": "Customer" })
      // The file has won: what it left isn't the people's change any more.
      expect((yield* importFile(organization, FILE, options)).changedHere.cells).toBe(0)
    })
  )

  it.effect("leaves those cells with keepChanges, and writes all others", () =>
    Effect.gen(function* () {
      const { organization } = yield* changedHere("keeps")
      const keep = { ...options, keepChanges: true }
      const dry = yield* importFile(organization, OTHER, { ...keep, dryRun: true })
      expect(dry.changedHere).toEqual({ cells: 1, kept: true })
      expect(dry.preview!.columns.find(({ column }) => column === "status")).toEqual({ column: "status", rows: 2 })
      expect((yield* importFile(organization, OTHER, keep)).changedHere).toEqual({ cells: 1, kept: true })
      expect(yield* statuses(organization)).toEqual({ "1": "Won", "2": "Customer", "3": "Customer" })
      expect((yield* cellsOf(organization, "status_k"))["1"]).toBe("won")
      // Again: nothing to write.
      expect(yield* importFile(organization, OTHER, keep)).toMatchObject({ updated: 0, changedHere: { cells: 1 } })
      const owners = ["id,name,owner", "2,Bob,1", "3,Cy,1"]
      const owned = { map: { owner: "owner:people.id" }, keepChanges: true }
      expect(yield* importFile(organization, owners, owned)).toMatchObject({ updated: 1, changedHere: { cells: 1 } })
    })
  )

  it.effect("also keeps a reference that the file resolves to a row of its own", () =>
    Effect.gen(function* () {
      const { organization, ids } = yield* changedHere("self")
      const files = { "a.csv": ["id,name,owner", "2,Bob,9"], "b.csv": ["id,name,owner", "9,Zed,"] }
      const done = yield* importFiles(organization, files, { map: { owner: "owner:people.id" }, keepChanges: true })
      expect(done).toMatchObject({ inserted: 1, updated: 0, changedHere: { cells: 1, kept: true } })
      expect(encodeId(BigInt((yield* cellsOf(organization, "owner_id"))["2"]!))).toBe(ids["3"])
    })
  )

  it.effect("counts a cell that was emptied, and none whose change was undone", () =>
    Effect.gen(function* () {
      const { admin, change, organization } = yield* changedHere("undone")
      yield* change("3", { status: "" })
      const cells = Effect.map(
        importFile(organization, FILE, { ...options, dryRun: true }),
        ({ changedHere: { cells: found } }) => found
      )
      expect(yield* cells).toBe(2)
      const [last] = yield* admin.list("mine")
      yield* confirmed(admin, yield* admin.undo(last!.changeId))
      expect(yield* cells).toBe(1)
    })
  )
})
