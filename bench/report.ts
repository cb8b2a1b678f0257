/** Runs every benchmark of the store and the server and writes docs/performance/figures.md with its plots. */
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { type Measured, reached } from "./figures.ts"
import { growth } from "./growth.ts"
import { http } from "./http.ts"
import { mcpTokens } from "./mcpTokens.ts"
import { neighbour } from "./neighbour.ts"
import { soak } from "./soak.ts"
import { store } from "./store.ts"
import { tokens } from "./tokens.ts"
import { tracing } from "./tracing.ts"

const FOLDER = join("docs", "performance")

interface Section {
  readonly command: string
  readonly run: Effect.Effect<ReadonlyArray<Measured>, unknown>
}

/** `rows`: number of people; `minutes`: length of the soak test. */
export const report = (rows: number, minutes: number, keep: string | undefined, json: boolean) =>
  Effect.acquireUseRelease(
    Effect.sync(() => keep ?? mkdtempSync(join(tmpdir(), "max-bench-report-"))),
    (home) => {
      const at = (people: number) => ({ keep: join(home, String(people)) })
      const sizes = [10_000, 100_000, 1_000_000, 2_000_000].filter((size) => size <= rows)
      const small = Math.min(rows, 100_000)
      const sections: ReadonlyArray<Section> = [
        { command: `growth --sizes ${sizes.join(",")}`, run: growth(sizes, { keep: home }, json, FOLDER) },
        { command: `store --rows ${rows}`, run: store(rows, at(rows), json) },
        { command: `http --rows ${small}`, run: http(small, at(small), json) },
        { command: `tracing --rows ${small}`, run: tracing(small, at(small), json) },
        { command: `neighbour --rows ${rows}`, run: neighbour(rows, at(rows), json) },
        { command: `soak --rows ${rows} --minutes ${minutes}`, run: soak(rows, minutes, at(rows), json) },
        {
          command: "tokens",
          run: Effect.map(Effect.all([tokens(json), mcpTokens({}, json)]), (measured) => measured.flat())
        }
      ]
      return Effect.gen(function* () {
        const parts: Array<string> = []
        const all: Array<Measured> = []
        for (const { command, run } of sections) {
          if (!json) console.log(`\n# ${command}`)
          const measured = yield* run
          all.push(...measured)
          parts.push(table(command, measured))
        }
        mkdirSync(FOLDER, { recursive: true })
        writeFileSync(join(FOLDER, "figures.md"), page(rows, minutes, parts))
        return all
      })
    },
    (home) =>
      Effect.sync(() => {
        if (keep === undefined) rmSync(home, { recursive: true, force: true })
      })
  )

const page = (rows: number, minutes: number, parts: ReadonlyArray<string>): string =>
  [
    "# Figures of one run",
    "",
    `Written by \`npm run bench -- report --rows ${rows} --minutes ${minutes}\` on ${cpus().length} cores, ` +
      `${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.versions.node}, Postgres 18 (embedded). All figures are ratios between contestants that take turns in the same run.`,
    "",
    ...parts
  ].join("\n")

const table = (command: string, measured: ReadonlyArray<Measured>): string =>
  [
    `## \`npm run bench -- ${command}\``,
    "",
    "| | figure | target | |",
    "| --- | --- | --- | --- |",
    ...measured.map((one) => {
      const { atLeast, ratio, scenario, target } = one
      const bound = target === undefined ? "" : `${atLeast === true ? "≥" : "≤"} ${target}×`
      const verdict = target === undefined ? "" : reached(one) ? "ok" : "**miss**"
      return `| ${scenario.replaceAll("|", "\\|")} | ${ratio.toFixed(2)}× | ${bound} | ${verdict} |`
    }),
    ""
  ].join("\n")
