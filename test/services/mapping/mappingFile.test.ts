/** Mapping files that would take seconds or overflow the stack: refused with the limit's name. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { readMappingFile } from "../../../src/services/mapping/mappingFile.ts"

const TYPE = { table: "public.t", type: "t", id: "id", columns: {} }
const many = (count: number) => Array.from({ length: count }, (_, index) => index)
const text = (types: ReadonlyArray<unknown>) => JSON.stringify({ version: 1, types })
const columns = (count: number) => Object.fromEntries(many(count).map((at) => [`c${at}`, { from: "x" }]))
const nested = (count: number) => `${"[".repeat(count)}${"]".repeat(count)}`

const read = (file: string) => Effect.runSync(Effect.result(readMappingFile(file)))
const refusal = (file: string) => {
  const result = read(file)
  return result._tag === "Failure" ? [result.failure._tag, ...(result.failure.details ?? [])] : []
}
/** The least CPU time of three runs, in milliseconds; the time that other processes take doesn't count. */
const time = (run: () => unknown): number =>
  Math.min(
    ...many(3).map(() => {
      const from = process.cpuUsage()
      run()
      const { system, user } = process.cpuUsage(from)
      return (user + system) / 1000
    })
  )

const REFUSED: ReadonlyArray<readonly [string, string, string]> = [
  [
    "200,000 types",
    text(many(200_000).map((at) => ({ ...TYPE, type: `t${at}` }))),
    "The file must have at most 10000000 characters."
  ],
  ["30,000 types in few characters", text(many(30_000).map(() => ({}))), "`types` must have at most 3000 entries."],
  ["30,000 types of one name", text(many(30_000).map(() => TYPE)), "`types` must have at most 3000 entries."],
  [
    "100,000 columns of one type",
    text([{ ...TYPE, columns: columns(100_000) }]).replaceAll(`"from":"x"`, ""),
    "The types of the file must have at most 60000 columns together."
  ],
  [
    "a column nested 100,000 deep",
    `{"version":1,"types":[${nested(100_000)}]}`,
    "It must be nested at most 8 levels deep."
  ],
  [
    "an unknown property nested 100,000 deep",
    `{"version":1,"types":[],"x":${nested(100_000)}}`,
    "It must be nested at most 8 levels deep."
  ]
]

describe("a mapping file", () => {
  it.each(REFUSED)(
    "is refused with the limit that it exceeds, in the time of parsing its JSON, for %s",
    (_, file, limit) => {
      expect(refusal(file)).toEqual(["OperatorError", limit])
      const parsing = time(() => JSON.parse(file))
      expect(time(() => read(file))).toBeLessThan(20 * parsing + 50)
    }
  )

  it("lists at most twenty of its faults", () => {
    expect(refusal(text(many(1000).map(() => ({ wrong: 1 }))))).toHaveLength(21)
  })

  it("is read at its limits", () => {
    const types = many(1000).map((at) => ({ ...TYPE, type: `t${at}`, columns: columns(10) }))
    expect(read(text(types))).toMatchObject({ _tag: "Success" })
  })
})
