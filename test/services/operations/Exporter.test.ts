import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "csv-parse/sync"
import { afterAll, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { OperatorError } from "../../../src/domain/errors.ts"
import type { ExportFormat } from "../../../src/services/operations/export/cells.ts"
import { Exporter } from "../../../src/services/operations/Exporter.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const folder = mkdtempSync(join(tmpdir(), "max-export-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, rows: ReadonlyArray<object> | string) => {
  const path = join(folder, name)
  writeFileSync(path, typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n"))
  return path
}

const imported = (organization: Organization, path: string, type: string, map: Record<string, string> = {}) =>
  Effect.flatMap(Importer, (importer) =>
    importer.import(organization, { files: [path], type, map, ignore: [], create: true })
  )

const exported = Effect.fnUntraced(function* (organization: Organization, type: string, format: ExportFormat) {
  const exporter = yield* Exporter
  let text = ""
  yield* exporter.export(organization, { type, format }, (some) => Effect.sync(() => void (text += some)))
  return text
})

const PEOPLE = [
  {
    id: "a",
    name: "Ada",
    email: "ada@example.com",
    phone: "+1 212 555 0100",
    score: -12.5,
    big: "12345678901234567.25",
    yes: true,
    on: "2024-02-29",
    at: "2025-11-02T05:59:59.123456Z",
    tags: ["x;y", "z"]
  },
  { id: "b", name: 'Bo\n"B", Jr.', owner: "a", note: "a;b", tags: ["one", "two"] }
]

layer(TestServices)("an export", (it) => {
  it.effect("as JSON lines imports again without loss", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* makeOrganization("json-from"), yield* makeOrganization("json-to")]
      yield* imported(from, file("people.jsonl", PEOPLE), "people")
      const first = yield* exported(from, "people", "jsonl")
      const rows = first
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(rows).toMatchObject([
        {
          id: "a",
          name: "Ada",
          phone: "+1 212 555 0100",
          score: -12.5,
          yes: true,
          on: "2024-02-29",
          at: "2025-11-02T05:59:59.123456Z",
          tags: ["x;y", "z"],
          owner: null
        },
        { id: "b", name: PEOPLE[1]!.name, owner: "a", tags: ["one", "two"] }
      ])
      yield* imported(to, file("again.jsonl", first), "people")
      expect(yield* exported(to, "people", "jsonl")).toBe(first)
    })
  )

  it.effect("as CSV includes the names of references and parses with a standard reader", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("csv")
      yield* imported(organization, file("csv.jsonl", PEOPLE), "people")
      const rows: ReadonlyArray<Record<string, string>> = parse(yield* exported(organization, "people", "csv"), {
        columns: true
      })
      expect(rows).toMatchObject([
        { id: "a", name: "Ada", score: "-12.5", tags: '["x;y","z"]', owner: "" },
        { id: "b", name: PEOPLE[1]!.name, owner: "a", "owner.name": "Ada", tags: "one;two" }
      ])
      yield* imported(
        organization,
        file("meetings.jsonl", [{ id: "m", name: "Talk", attendees: ["a", "b"] }]),
        "meetings"
      )
      const [meeting] = parse(yield* exported(organization, "meetings", "csv"), { columns: true }) as ReadonlyArray<
        Record<string, string>
      >
      expect(meeting).toMatchObject({ id: "m", attendees: "a;b" })
    })
  )

  it.effect("as CSV has no cell that a spreadsheet evaluates", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("formulas")
      const attacks = [
        "=cmd|' /C calc'!A0",
        "+1+cmd|x",
        "-2+3+cmd|x",
        "@SUM(1)",
        "\t=1",
        " =1",
        "\r=1",
        "＝1",
        '="x"\n=1'
      ]
      const rows = attacks.map((text, id) => ({
        id: `${text}${id}`,
        name: text,
        phone: text,
        note: text,
        tags: [text]
      }))
      yield* imported(organization, file("attacks.jsonl", rows), "people")
      const text = yield* exported(organization, "people", "csv")
      const cells = (parse(text) as ReadonlyArray<ReadonlyArray<string>>).flat()
      expect(cells.filter((cell) => /^\s*[=+\-@＝]/.test(cell))).toEqual([])
      expect(cells.filter((cell) => cell.startsWith("'")).length).toBeGreaterThan(attacks.length * 3)
      // Numbers and phone numbers stay unchanged.
      yield* imported(
        organization,
        file("plain.jsonl", [{ id: "n", name: "N", phone: "+49 (711) 28-42", score: -1 }]),
        "people"
      )
      const [, ...lines] = (yield* exported(organization, "people", "csv")).trimEnd().split("\r\n")
      expect(lines.at(-1)).toContain("+49 (711) 28-42")
      expect(lines.at(-1)).toMatch(/,-1(,|$)/)
    })
  )

  it.effect("is recorded before the first row is written, and has no row of another organization", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const [one, other] = [yield* makeOrganization("audited"), yield* makeOrganization("audited-other")]
      yield* imported(one, file("one.jsonl", [{ id: "x", name: "KANARIENVOGEL" }]), "people")
      yield* imported(other, file("other.jsonl", [{ id: "x", name: "ZITRONENFALTER" }]), "people")
      const exporter = yield* Exporter
      const failure = yield* Effect.flip(
        exporter.export(one, { type: "people", format: "csv" }, () =>
          Effect.fail(new OperatorError({ message: "full" }))
        )
      )
      expect(failure).toMatchObject({ message: "full" })
      const records = owner`SELECT subject, details FROM max.audit_log
        WHERE organization_id = ${one.id} AND action = 'data.exported'`
      expect(yield* records).toHaveLength(1)
      for (const format of ["csv", "jsonl"] as const) {
        const text = yield* exported(one, "people", format)
        expect(text).toContain("KANARIENVOGEL")
        expect(text).not.toContain("ZITRONENFALTER")
      }
      expect(yield* records).toHaveLength(3)
      expect(JSON.stringify(yield* records)).not.toContain("KANARIENVOGEL")
      expect(
        yield* Effect.flip(exporter.export(one, { type: "peple", format: "csv" }, () => Effect.void))
      ).toMatchObject({
        message: expect.stringContaining("Did you mean people?")
      })
      expect(yield* records).toHaveLength(3)
    })
  )
})
