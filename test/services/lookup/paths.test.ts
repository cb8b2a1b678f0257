/** The grammar of a filter's column, against a reader of its own over the same visible names. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { EntityType } from "../../../src/domain/EntityType.ts"
import { ALWAYS } from "../../../src/domain/Predicate.ts"
import type { Granted } from "../../../src/permissions/permissionPlan.ts"
import { resolvePath } from "../../../src/services/lookup/paths.ts"
import type { Visible } from "../../../src/services/lookup/visible.ts"
import { catalog, policyOf } from "../../permissions/support.ts"
import { series } from "../../support/long.ts"

/** A caller who sees all rows of these types, with all columns but these. */
const caller = (types: ReadonlyArray<string>, hidden: ReadonlyArray<string> = []): Visible => {
  const plans = new Map(
    catalog.types
      .filter(({ slug }) => types.includes(slug))
      .map(({ columns, key, slug }): [string, Granted] => [
        key,
        {
          _tag: "Granted",
          where: ALWAYS,
          cells: new Map(
            columns.filter((column) => !hidden.includes(`${slug}.${column.slug}`)).map((column) => [column.key, ALWAYS])
          ),
          ruleIds: [],
          limited: false,
          expiresAt: Infinity
        }
      ])
  )
  return {
    state: { catalog, policy: policyOf([]), policyHash: "" },
    planOf: ({ key }: EntityType) => plans.get(key)
  }
}

const CALLERS = [
  caller(["people", "companies", "meetings"]),
  caller(["people", "meetings"], ["meetings.attendees", "people.phone"]),
  caller(["people"])
]

/** A visible column of a type, with the slug of what it leads to. */
interface Named {
  readonly type: string
  readonly name: string
  readonly to: string | undefined
}

const namesOf = (visible: Visible): ReadonlyArray<Named> => {
  const seen = catalog.types.filter((type) => visible.planOf(type) !== undefined)
  return seen.flatMap((type) =>
    type.columns.flatMap((column): ReadonlyArray<Named> => {
      if (visible.planOf(type)!.cells.get(column.key) === undefined) return []
      const { storage } = column
      if (storage._tag === "Value") return [{ type: type.slug, name: column.slug, to: undefined }]
      const target = seen.find(({ key }) => key === storage.target)
      return target === undefined ? [] : [{ type: type.slug, name: column.slug, to: target.slug }]
    })
  )
}

/** Where a path leads, as text: its hops and its column; or the tag of the error. It reads one character at a time. */
const reader = (written: string, names: ReadonlyArray<Named>): string => {
  const words = [""]
  for (const character of written) {
    if (character === ".") words.push("")
    else words[words.length - 1] += character
  }
  if (words.length > 3) return "InvalidInput"
  let at = "people"
  let text = ""
  for (const [index, word] of words.entries()) {
    const last = index === words.length - 1
    const column = names.find(({ name, type }) => type === at && name === word)
    if (last && (word === "id" || column !== undefined)) return `${text}=${word}`
    if (word === "id") return "UnknownName"
    if (column !== undefined) {
      if (column.to === undefined) return "UnknownName"
      text += `>${word}`
      at = column.to
      continue
    }
    const signs = [...word].filter((character) => character === "@").length
    const [slug, by] = signs === 1 ? [word.slice(0, word.indexOf("@")), word.slice(word.indexOf("@") + 1)] : [word]
    const here = at
    const leading = names.filter(
      ({ name, to, type }) => to === here && type === slug && (by === undefined || name === by)
    )
    if (signs > 1 || leading.length === 0) return "UnknownName"
    if (leading.length > 1) return "InvalidInput"
    text += `<${leading[0]!.type}.${leading[0]!.name}`
    at = leading[0]!.type
  }
  return text
}

const read = (written: string, visible: Visible): string => {
  const people = catalog.types[0]!
  const found = resolvePath(written, { type: people, plan: visible.planOf(people)! }, visible)
  if (Result.isFailure(found)) return found.failure._tag
  const { column, steps } = found.success
  const hops = steps.map(({ back, of, relation }) => (back ? `<${of.type.slug}.${relation.slug}` : `>${relation.slug}`))
  return `${hops.join("")}${column === undefined ? "" : `=${column.slug}`}`
}

const WORDS = [
  ..."id name status phone owner company attendees people companies meetings nothing Owner __proto__ constructor".split(
    " "
  ),
  "",
  " ",
  "*",
  "|",
  "'",
  "$1",
  "😀"
]
const word = fc.constantFrom(...WORDS)
const piece = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 6, arbitrary: fc.constantFrom("owner", "company", "companies", "meetings", "name", "status") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) }
)
const name = fc.oneof(
  { weight: 3, arbitrary: piece },
  { weight: 2, arbitrary: fc.tuple(piece, piece).map((parts) => parts.join("@")) },
  { weight: 1, arbitrary: fc.array(piece, { maxLength: 3 }).map((parts) => parts.join("@")) }
)
const hop = fc.constantFrom("owner", "company", "companies", "people@owner", "meetings@attendees", "meetings@owner")
const path = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(hop, name).map((parts) => parts.join(".")) },
  { weight: 6, arbitrary: fc.tuple(hop, hop, name).map((parts) => parts.join(".")) },
  { weight: 8, arbitrary: fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")) },
  { weight: 1, arbitrary: fc.array(name, { maxLength: 6 }).map((parts) => parts.join(".")) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(".", "@", "*", "..", "owner"), { maxLength: 8 }).map((parts) => parts.join(""))
  }
)

describe("a filter's column", () => {
  it("leads where a reader of its own finds that it leads, for every caller, or is refused with the same error", () => {
    const led = new Map<string, number>()
    fc.assert(
      fc.property(path, fc.constantFrom(...CALLERS), (written, visible) => {
        const expected = reader(written, namesOf(visible))
        expect(read(written, visible)).toBe(expected)
        const kind = /^[A-Z]/.test(expected) ? expected : `${expected.replace(/[^<>=]/g, "").slice(0, 2)}`
        led.set(kind, (led.get(kind) ?? 0) + 1)
      }),
      { numRuns: series({ short: 15_000, long: 100_000 }) }
    )
    // Hops in both directions, columns at their end, and both errors come up.
    for (const kind of ["=", ">=", "<", "<=", ">>", "><", "<>", "UnknownName", "InvalidInput"])
      expect(led.get(kind) ?? 0, kind).toBeGreaterThan(10)
  })

  it("has two dots at most, so that no path goes in circles", () => {
    const visible = CALLERS[0]!
    expect(read("owner.owner.owner", visible)).toBe(">owner>owner=owner")
    for (const written of ["owner.owner.owner.owner", "owner.owner.owner.name", "....", ".".repeat(4096)])
      expect(read(written, visible)).toBe("InvalidInput")
  })
})
