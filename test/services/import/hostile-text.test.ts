/** Text files with records of megabytes: read or refused, naming the line, in time linear in their size. */
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { openImportFile } from "../../../src/services/import/readers/ImportFile.ts"
import { fileOf } from "../../support/imports.ts"

const MB = 1_000_000

/** What the second record's problem is, or the file's; `read` if there is none. */
const outcome = (name: string, text: string): Promise<string> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const file = yield* openImportFile(fileOf(name, text))
        const records = (yield* Stream.runCollect(file.batches)).flat()
        return records.find(({ problem }) => problem !== undefined)?.problem ?? "read"
      })
    ).pipe(Effect.catch((error) => Effect.succeed(error.message)))
  )

const csv = (record: string) => `id,name\n1,Ada\n${record}`
const jsonl = (record: string) => `{"id":1,"name":"Ada"}\n${record}\n`
const keys = (size: number) => `{${Array.from({ length: Math.floor(size / 8) }, (_, at) => `"${at}":1`).join(",")}}`

const families: ReadonlyArray<readonly [string, string, (size: number) => string, string]> = [
  ["a cell of megabytes", "f.csv", (size) => csv(`2,${"x".repeat(size)}`), `"name" has more than 100000 characters`],
  ["a row of megabytes of commas", "f.csv", (size) => csv(",".repeat(size)), "cells; the limit is 1000"],
  [
    "a header of megabytes",
    "f.csv",
    (size) => `id,${"x".repeat(size)}`,
    "f.csv, line 1: the header of column 2 has more"
  ],
  ["a header of megabytes of commas", "f.csv", (size) => ",".repeat(size), "f.csv, line 1: there are "],
  [
    "a quote that is never closed",
    "f.csv",
    (size) => csv(`2,"${"x\n".repeat(size / 2)}`),
    "f.csv, line 3: a quote is opened"
  ],
  [
    "doubled quotes that are never closed",
    "f.csv",
    (size) => csv(`2,"${`""`.repeat(size / 2)}`),
    "f.csv, line 3: a quote is opened"
  ],
  [
    "a string of megabytes beside exact numbers",
    "f.jsonl",
    (size) => jsonl(`{"id":1.5,"name":"${"\\\\x".repeat(size / 3)}"}`),
    `"name" has more than 100000 characters`
  ],
  [
    "a string of megabytes that is never closed",
    "f.jsonl",
    (size) => jsonl(`{"id":1.5,"name":"${`\\"`.repeat(size / 2)}`),
    "not a JSON object"
  ],
  [
    "digits of megabytes",
    "f.jsonl",
    (size) => jsonl(`{"id":${"1".repeat(size)}}`),
    `"id" has more than 100000 characters`
  ],
  [
    "lists nested millions deep",
    "f.jsonl",
    (size) => jsonl(`{"id":1.5,"name":${"[".repeat(size / 2)}${"]".repeat(size / 2)}}`),
    "read"
  ],
  [
    "hundreds of thousands of keys",
    "f.jsonl",
    (size) => jsonl(keys(size)),
    "f.jsonl, line 2: the records have more than 1000 different names."
  ]
]

describe("a text file is read in linear time", () => {
  it.each(families)("with %s", async (_, name, make, expected) => {
    const times = []
    for (const size of [MB, 2 * MB, 4 * MB]) {
      const text = make(size)
      // Processor time: that of other processes doesn't count.
      const before = process.cpuUsage()
      expect(await outcome(name, text)).toContain(expected)
      const { system, user } = process.cpuUsage(before)
      times.push((system + user) / 1000)
    }
    // Four times the size takes sixteen times as long where time is quadratic; the constant absorbs noise of short runs.
    expect(times[2]!).toBeLessThan(10 * times[0]! + 500)
  })
})
