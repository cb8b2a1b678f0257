import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { writeFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { CatalogWriter } from "../../src/services/CatalogWriter.ts"
import { Importer } from "../../src/services/Importer.ts"
import { Organizations } from "../../src/services/Organizations.ts"
import { TestServices } from "../support/database.ts"

const Live = Importer.layer.pipe(Layer.provideMerge(CatalogWriter.layer), Layer.provideMerge(TestServices))
const dir = mkdtempSync(join(tmpdir(), "max-perf-"))
const N = 100_000
const names = ["Ada", "Bob", "Carla", "Dmitri", "Eve", "Fatima", "Goran", "Hana", "Ivan", "José", "Kim", "Lena"]
const last = ["Smith", "García", "Novak", "Tanaka", "Okafor", "Larsen", "Rossi", "Dubois", "Kowalski", "Silva"]
const file = (extra: boolean) => {
  const path = join(dir, extra ? "extra.csv" : "plain.csv")
  const rows = ["id,name,email,phone,status" + (extra ? ",product,last_contact,score,notes" : "")]
  for (let i = 0; i < N; i++) {
    const n = names[i % 12] + " " + last[(i * 7) % 10] + " " + (i % 977)
    rows.push(`c-${i},${n},user${i}@example${i % 50}.com,(${200 + i % 700}) 555-${String(i % 10000).padStart(4, "0")},${i % 3 ? "Lead" : "Won"}` +
      (extra ? `,Product ${i % 20},2024-0${1 + i % 9}-1${i % 10},${i % 100}.5,"Had a call, then ${i} mails."` : ""))
  }
  writeFileSync(path, rows.join("\n"))
  return path
}
layer(Live)("perf", (it) => {
  it.effect("plain and extra", () => Effect.gen(function*() {
    const orgs = yield* Organizations
    const importer = yield* Importer
    for (const [slug, extra] of [["plain", false], ["extra", true]] as const) {
      const org = yield* orgs.create({ slug, country: "US", timeZone: "America/New_York" })
      const path = file(extra)
      for (const again of [0, 1]) {
        const t = performance.now()
        const r = yield* importer.import(org, { file: path, type: "people", create: extra })
        const s = (performance.now() - t) / 1000
        console.log(slug, again, r.inserted, r.updated, r.unchanged, s.toFixed(1) + "s", Math.round(N / s) + "/s", Math.round(process.memoryUsage().rss / 1e6) + "MB")
      }
    }
    expect(1).toBe(1)
  }), 300_000)
})
