import * as fc from "fast-check"
import { Result } from "effect"
import { expect, it } from "vitest"
import type { ActionField } from "../../src/domain/DeclaredAction.ts"
import { readValues } from "../../src/services/actions/fieldValues.ts"
import { checkFields, type FieldProblem, type Values } from "../../src/web/chat/form/checkFields.ts"
import { systemCatalog } from "../support/catalog.ts"

type Shown = Omit<ActionField, "from" | "within">

const KINDS = ["text", "email", "phone", "integer", "number", "boolean", "date", "timestamp", "list"] as const

const inner: fc.Arbitrary<Shown> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    needed: fc.boolean(),
    limits: fc.constantFrom<Partial<Shown>>(
      {},
      { min: 1, max: 40 },
      { maxLength: 3 },
      { pattern: "[0-9]{2}" },
      { values: ["Low", "High"] },
      { check: "path" },
      { default: "12" }
    )
  })
  .map(({ kind, limits, needed }) => {
    const isNumber = kind === "integer" || kind === "number"
    const fits = "min" in limits ? isNumber : "default" in limits ? true : kind === "text"
    return { slug: "f", name: "F", kind, needed, ...(fits ? limits : {}) }
  })

const text = fc.oneof(
  fc.constantFrom("", " ", "12", "0", "41", "1.5", "007", "+5", "1e3", "Low", " High ", "low", "../x", "a/b", "true", "a;b", "\u0000", "x\r\ny", "\u202ex", "2026-03-31", "😀😀", "😀😀😀😀"), // prettier-ignore
  fc.string({ maxLength: 6 }),
  fc.string({ minLength: 1990, maxLength: 2010 }),
  fc.integer({ min: -50, max: 50 }).map(String)
)

/** Without the value, of which a problem shows the printable part. */
const plain = ({ field, message }: FieldProblem) => ({
  field,
  message: message.replace(/^".*" (?=isn't|doesn't)/su, "")
})

it("the page refuses no value of a form that the server takes, and says what the server says", () => {
  let [refused, taken] = [0, 0]
  fc.assert(
    fc.property(inner, inner, text, fc.array(text, { maxLength: 3 }), (field, nested, value, entries) => {
      const group: Shown = {
        slug: "g",
        name: "G",
        kind: "group",
        needed: false,
        maxLength: 2,
        fields: [{ ...nested, slug: "n", name: "N" }]
      }
      const fields: ReadonlyArray<Shown> = [field, group]
      const values: Values = { f: value, g: entries.map((one) => ({ n: one })) }
      const given = [
        { columnId: "f", value },
        ...(entries.length === 0 ? [] : [{ columnId: "g", value: JSON.stringify(values["g"]) }])
      ]
      const server = readValues(fields, given, systemCatalog.organization)
      const said = Result.isFailure(server) ? (server.failure.problems ?? []).map(plain) : []
      const page = checkFields(fields, values)
      for (const problem of page) {
        const same = said.filter(({ field }) => field === problem.field || field === "g")
        expect(same, JSON.stringify([fields, values])).not.toEqual([])
        // The page leaves it to the server what can't be shown.
        const isHidden = same.some(({ message }) => message.startsWith("it contains"))
        expect(isHidden ? [plain(problem)] : same).toContainEqual(plain(problem))
      }
      if (page.length > 0) refused += 1
      if (said.length === 0) taken += 1
    }),
    { numRuns: 10_000 }
  )
  expect(refused).toBeGreaterThan(2000)
  expect(taken).toBeGreaterThan(500)
})
