/** Rows per second and memory of an import, on an embedded database created for the run. */
import { Effect, Layer } from "effect"
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { Importer, type ImportRequest } from "../src/services/import/Importer.ts"
import { Organizations } from "../src/services/organizations/Organizations.ts"

const TARGET_ROWS_PER_SECOND = 10_000

interface Figure {
  readonly scenario: string
  readonly rows: number
  readonly megabytes: number
  readonly rowsPerSecond: number
  /** Of this process, without the database's. */
  readonly peakRssMb: number
}

/** People as a CRM exports them, each with a unique phone number and address. */
const writeFile = (path: string, rows: number, columns: "known" | "new") => {
  const file = openSync(path, "w")
  writeSync(file, `id,name,email,phone,status${columns === "new" ? ",product,last contact,score" : ""}\n`)
  for (let from = 0; from < rows; from += 10_000) {
    const lines = Array.from({ length: Math.min(10_000, rows - from) }, (_, index) => {
      const row = from + index
      const phone = `(${201 + (row % 700)}) ${200 + ((row * 7) % 800)}-${String((row * 13) % 10_000).padStart(4, "0")}`
      const known = `c${row},Person ${row} Müller,p${row}@example.com,${phone},${["Lead", "Won", "Lost"][row % 3]}`
      return columns === "known" ? known : `${known},Product ${row % 50},2024-0${1 + (row % 9)}-1${row % 10},${row}`
    })
    writeSync(file, `${lines.join("\n")}\n`)
  }
  closeSync(file)
  return path
}

/** Runs an effect and measures its duration and this process's peak memory. */
const watched = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  const started = performance.now()
  yield* Effect.ensuring(
    effect,
    Effect.sync(() => clearInterval(timer))
  )
  return { seconds: (performance.now() - started) / 1000, peakRssMb: Math.round(peak / 1024 / 1024) }
})

export const importing = (rows: number, json: boolean) => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-import-"))
  chmodSync(home, 0o755)
  const services = Services.pipe(
    Layer.provideMerge(ConfiguredDatabase),
    Layer.provideMerge(
      Env.layerWith({ databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") })
    )
  )
  return Effect.gen(function* () {
    const importer = yield* Importer
    const organizations = yield* Organizations
    const measure = Effect.fnUntraced(function* (
      scenario: string,
      slug: string,
      files: ReadonlyArray<string>,
      options: Partial<ImportRequest> = {}
    ) {
      const organization =
        (yield* organizations.list).find((each) => each.slug === slug) ??
        (yield* organizations.create({ slug, country: "US", timeZone: "UTC" }))
      const path = files[0]!
      const count = path.endsWith("long.csv") ? rows * 4 : rows
      const { peakRssMb, seconds } = yield* watched(
        importer.import(organization, { files, type: "people", ...options })
      )
      return {
        scenario,
        rows: count,
        megabytes: Math.round(statSync(path).size / 1024 / 1024),
        rowsPerSecond: Math.round(count / seconds),
        peakRssMb
      } satisfies Figure
    })
    const file = writeFile(join(home, "people.csv"), rows, "known")
    const more = writeFile(join(home, "more.csv"), rows, "new")
    const long = writeFile(join(home, "long.csv"), rows * 4, "known")
    print(
      [
        yield* measure("new rows", "one", [file]),
        yield* measure("the same rows again", "one", [file]),
        yield* measure("new rows and three new columns", "two", [more], { create: true }),
        yield* measure("four times as many new rows", "three", [long])
      ],
      json
    )
  }).pipe(Effect.provide(services), Effect.ensuring(Effect.sync(() => rmSync(home, { recursive: true, force: true }))))
}

const print = (figures: ReadonlyArray<Figure>, json: boolean) => {
  if (json) return console.log(JSON.stringify(figures, null, 2))
  for (const { megabytes, peakRssMb, rows, rowsPerSecond, scenario } of figures) {
    console.log(
      `${rowsPerSecond >= TARGET_ROWS_PER_SECOND ? "ok  " : "MISS"} import, ${scenario} (${rows} rows, ${megabytes} MB)`.padEnd(
        72
      ) + `${rowsPerSecond} rows/s (target ≥ ${TARGET_ROWS_PER_SECOND}), peak RSS ${peakRssMb} MB`
    )
  }
}
