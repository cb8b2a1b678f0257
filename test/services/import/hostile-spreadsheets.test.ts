/** Spreadsheets that would fill the memory or take minutes: refused by limits before a library parses them, in a process with limits of its own. */
import { Effect, Stream } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it, vi } from "vitest"
import type { FileRecord } from "../../../src/services/import/readers/FileRecord.ts"
import { openImportFile } from "../../../src/services/import/readers/ImportFile.ts"
import { spawnReader } from "../../../src/services/import/readers/spawnReader.ts"
import { fileOf } from "../../support/imports.ts"
import { sheetXml, workbook } from "../../support/xlsx.ts"

const READER = fileURLToPath(new URL("../../../src/services/import/readers/readerProcess.js", import.meta.url))
const LARGE = "book.xlsx: this spreadsheet is too large. Save the sheet as CSV (UTF-8), which may have any size."
const DAMAGED = "book.xlsx: this isn't a spreadsheet, or it is damaged."
const COMPLEX = "the spreadsheet is too complex to read. Save the sheet as CSV (UTF-8)."

/** A sheet with a header and one row, followed by more XML. */
const sheet = (more: string) =>
  sheetXml([
    ["id", "name"],
    ["a1", "Ada"]
  ]).replace("</sheetData>", `${more}</sheetData>`)
const row = (number: number, cells: string) => `<row r="${number}">${cells}</row>`
const cell = (place: string) => `<c r="${place}"><v>1</v></c>`

const records = (bytes: Buffer): Promise<ReadonlyArray<FileRecord>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const file = yield* openImportFile(fileOf("book.xlsx", bytes))
        return (yield* Stream.runCollect(file.batches)).flat()
      })
    )
  )

const refusal = (bytes: Buffer): Promise<string> =>
  records(bytes).then(
    () => "the file was read",
    (error: Error) => error.message
  )

/** The ids of the processes that read a spreadsheet for this one. */
const readers = (): ReadonlyArray<string> =>
  readdirSync("/proc").filter((id) => {
    try {
      const parent = / (\d+) /.exec(readFileSync(`/proc/${id}/stat`, "utf8").replace(/^.*\) \w/, ""))?.[1]
      return parent === String(process.pid) && readFileSync(`/proc/${id}/cmdline`, "utf8").includes("readerProcess.js")
    } catch {
      return false
    }
  })

describe("a spreadsheet is refused before it is parsed", () => {
  const hostile: Readonly<Record<string, readonly [string, string]>> = {
    "a cell of a column that no sheet has": [row(3, cell("XFDXFDX2")), LARGE],
    "the first column after the last": [row(3, cell("XFE3")), LARGE],
    "the first row after the last": [row(1_048_577, cell("A1048577")), LARGE],
    "an address of a row beyond all numbers": [row(3, cell(`A${"9".repeat(400)}`)), LARGE],
    "an address without letters": [row(3, cell("12")), LARGE],
    "an address in capital and small letters": [row(3, cell("xfd3")), LARGE],
    "one value in the last cell": [row(1_048_576, cell("XFD1048576")), LARGE],
    "more rows than a sheet has": ["<row/>".repeat(1_048_577), LARGE],
    "a tag of 4 MB of spaces": [`<row r="3"${" ".repeat(4_000_000)}/>`, LARGE],
    "an attribute of 4 MB": [`<row r="3" a="${"x".repeat(4_000_000)}"/>`, LARGE],
    "an element's name of 4 MB": [`<${"r".repeat(4_000_000)}/>`, LARGE],
    "a quote that is never closed": [`<row r="3" a="${"x".repeat(1000)}`, DAMAGED],
    "two million tags that never end": ["<row ".repeat(2_000_000), DAMAGED],
    "two million tags that begin in a quote": [`<row a="`.repeat(2_000_000), DAMAGED],
    "a comment that never ends": ["<!--".repeat(1_000_000), DAMAGED],
    "a document type": [`<!DOCTYPE a [<!ENTITY b "c">]>`, DAMAGED],
    "two addresses of one cell": [row(3, `<c r="A3" x:r="XFD9"><v>1</v></c>`), DAMAGED],
    "attributes without spaces between": [row(3, `<c r="A3"s="1"><v>1</v></c>`), DAMAGED],
    "elements nested a million deep": ["<a>".repeat(1_000_000), LARGE]
  }
  it.each(Object.entries(hostile))("for %s", async (_, [xml, message]) => {
    expect(await refusal(workbook({ One: sheet(xml) }))).toBe(message)
  })

  it("whatever the part of the sheet is named", async () => {
    const far = sheet(row(1_000_000, cell("XFD1000000")))
    for (const name of ["data.xml", "Sheet.XML.xml", "a/b/rows.xml"])
      expect(await refusal(workbook({ One: far }, { pathOf: () => name }))).toBe(LARGE)
  })

  it("for more parts, sheets or shared strings than the limits", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`xl/${at}.xml`, "<a/>"]))
    expect(await refusal(workbook({ One: sheet("") }, { entries: many }))).toBe(LARGE)
    const sheets = `<workbook><sheets>${`<sheet name="x" sheetId="1" r:id="r1"/>`.repeat(10_001)}</sheets></workbook>`
    expect(await refusal(workbook({ One: sheet("") }, { entries: { "xl/workbook.xml": sheets } }))).toBe(LARGE)
    const strings = `<sst>${"<si/>".repeat(5_000_001)}</sst>`
    expect(await refusal(workbook({ One: sheet("") }, { entries: { "xl/any.xml": strings } }))).toBe(LARGE)
  })

  it("for more columns than can be imported, naming how many there are", async () => {
    const wide = sheetXml([Array.from({ length: 1001 }, (_, at) => `c${at}`)])
    expect(await refusal(workbook({ One: wide }))).toBe(
      "book.xlsx, line 1: there are 1001 columns. At most 1000 can be imported."
    )
  })
})

describe("a spreadsheet is read", () => {
  it("without unpacking pictures and parts that aren't needed", async () => {
    const bytes = workbook(
      { One: sheet("") },
      {
        entries: { "xl/media/picture.png": "x", "xl/theme/theme1.xml": `<a:theme b="${"x".repeat(5_000)}"/>` },
        sizes: { "xl/media/picture.png": 4_000_000_000 },
        pathOf: () => "sheets/first.xml"
      }
    )
    expect((await records(bytes)).map(({ cells }) => cells)).toEqual([["a1", "Ada"]])
  })

  it("where the last cell is only formatted", async () => {
    const bytes = workbook({ One: sheet(row(1_048_576, `<c r="XFD1048576" s="1"/>`)) })
    expect((await records(bytes)).map(({ cells }) => cells)).toEqual([["a1", "Ada"]])
  })

  it("in bounded memory when a long text stands in many cells", async () => {
    const text = "x".repeat(5_000_000)
    const rows = Array.from({ length: 2000 }, (_, at) =>
      row(at + 3, `<c r="A${at + 3}"><v>${at}</v></c><c r="B${at + 3}" t="s"><v>0</v></c>`)
    )
    const bytes = workbook(
      { One: sheet(rows.join("")) },
      { entries: { "xl/sharedStrings.xml": `<sst><si><t>${text}</t></si></sst>` } }
    )
    const read = await records(bytes)
    expect(read).toHaveLength(2001)
    expect(new Set(read.slice(1).map(({ problem }) => problem))).toEqual(
      new Set([`"name" has more than 100000 characters`])
    )
  })
})

describe("the process that reads a spreadsheet", () => {
  it("ends at its limit of CPU time with an error of one line", async () => {
    // Number formats whose detection as dates is quadratic in their length.
    const formats = Array.from({ length: 3000 }, (_, at) => at + 200)
    const styles = `<styleSheet><numFmts>${formats.map((id) => `<numFmt numFmtId="${id}" formatCode="${"[".repeat(4000)}"/>`).join("")}</numFmts><cellXfs>${formats.map((id) => `<xf numFmtId="${id}"/>`).join("")}</cellXfs></styleSheet>`
    const rows = formats.map((_, at) => row(at + 3, `<c r="A${at + 3}" s="${at}"><v>1</v></c>`))
    const bytes = workbook({ One: sheet(rows.join("")) }, { entries: { "xl/styles.xml": styles } })
    const reader = spawnReader({ cpuSeconds: 2 })
    await expect(reader.open(fileOf("book.xlsx", bytes), 1)).rejects.toThrow(COMPLEX)
    await expect(reader.rows(0, 1)).rejects.toThrow(COMPLEX)
  })

  it("ends at its limit of memory with an error of one line", async () => {
    const rows = Array.from({ length: 19_000 }, (_, at) => row(at + 3, cell(`ALL${at + 3}`)))
    const reader = spawnReader({ heapMb: 64 })
    const path = fileOf("book.xlsx", workbook({ One: sheet(rows.join("")) }))
    await expect(reader.open(path, 1)).rejects.toThrow(COMPLEX)
  })

  it("has limits and may read only its own modules, and leaves nothing running", async () => {
    const path = fileOf("book.xlsx", workbook({ One: sheet("") }))
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          yield* openImportFile(path)
          const [id] = readers()
          const of = (name: string) => readFileSync(`/proc/${id}/${name}`, "utf8")
          expect(of("limits")).toMatch(/Max cpu time +60 +60 /)
          expect(of("limits")).toMatch(/Max data size +3221225472 +3221225472 /)
          expect(of("limits")).toMatch(/Max core file size +0 +0 /)
          expect(of("environ").replaceAll(/(NODE_CHANNEL_\w+|PWD|OLDPWD|SHLVL|_)=[^\0]*\0/g, "")).toBe("")
          const flags = of("cmdline").split("\0")
          expect(flags).toContain("--disallow-code-generation-from-strings")
          expect(flags.some((flag) => /^--(experimental-)?permission$/.test(flag))).toBe(true)
          expect(flags.filter((flag) => flag.startsWith("--allow") && !flag.startsWith("--allow-fs-read="))).toEqual([])
        })
      )
    )
    await vi.waitFor(() => expect(readers()).toEqual([]), { timeout: 60_000 })
  })

  it("ends when the process that started it is killed", async () => {
    const script = `const { fork } = require("node:child_process")
      const child = fork(${JSON.stringify(READER)}, { serialization: "advanced", stdio: ["pipe", "ignore", "ignore", "ipc"] })
      child.send({ from: 0, count: 1 }, () => {})
      child.on("message", () => process.send(child.pid))`
    const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "inherit", "ipc"] })
    const [reader] = (await once(parent, "message")) as [number]
    expect(process.kill(reader, 0)).toBe(true)
    parent.kill("SIGKILL")
    await vi.waitFor(() => expect(() => process.kill(reader, 0)).toThrow("ESRCH"), { timeout: 60_000 })
  })
})
