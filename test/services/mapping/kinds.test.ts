/** Databases of other programs, from the proposal to the removal. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { sourcesOf } from "../../../src/services/mapping/drift.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { LONG } from "../../support/long.ts"
import { adventureworks } from "./kinds/adventureworks.ts"
import { discourse } from "./kinds/discourse.ts"
import { documenso } from "./kinds/documenso.ts"
import { erpnext } from "./kinds/erpnext.ts"
import { formbricks } from "./kinds/formbricks.ts"
import { gitlab } from "./kinds/gitlab.ts"
import { create, heldBackOf, journey } from "./kinds/journey.ts"
import { lago } from "./kinds/lago.ts"
import { mattermost } from "./kinds/mattermost.ts"
import { musicbrainz } from "./kinds/musicbrainz.ts"
import { northwind } from "./kinds/northwind.ts"
import { odoo } from "./kinds/odoo.ts"
import { openstreetmap } from "./kinds/openstreetmap.ts"
import { pagila } from "./kinds/pagila.ts"
import { plant, PLANT_TABLES } from "./kinds/plant.ts"
import { sourcegraph } from "./kinds/sourcegraph.ts"
import { supabase } from "./kinds/supabase.ts"
import { synapse } from "./kinds/synapse.ts"
import { umami } from "./kinds/umami.ts"

const KINDS = [
  northwind,
  adventureworks,
  pagila,
  musicbrainz,
  lago,
  openstreetmap,
  umami,
  formbricks,
  documenso,
  gitlab,
  discourse,
  odoo,
  mattermost,
  erpnext,
  supabase,
  sourcegraph,
  synapse
]
const SHORT = [northwind, lago, supabase]

for (const kind of LONG ? KINDS : SHORT)
  layer(TestServices, { excludeTestServices: true })(`a database like ${kind.name}`, (it) => {
    it.effect(
      "is mapped as proposed, answers two roles as hand-written SQL does, and survives a restore, a rename and a drop",
      () => journey(kind)
    )
  })

layer(TestServices, { excludeTestServices: true })("a proposal of the tables of all of these programs", (it) => {
  it.effect("shows no credential, and holds back at most 3 % of the harmless columns", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      for (const kind of KINDS) yield* create(owner, kind)
      const { file, notes } = yield* (yield* Mappings).propose(yield* makeOrganization("kinds"), [], true)
      const read = new Set(file.types.flatMap(sourcesOf))
      const harmless = { columns: 0, heldBack: new Array<string>() }
      for (const kind of KINDS) {
        const { credentials, heldBack = [], name, schemas } = kind
        const [counted] = yield* owner<{ columns: number }>`
            SELECT count(*)::int AS columns FROM information_schema.columns WHERE table_schema = ANY(${schemas}::text[])`
        expect(heldBackOf(kind, notes), name).toEqual([...credentials, ...heldBack].sort())
        const shown = (column: string) =>
          schemas.some((schema) => read.has(schemas.length === 1 ? `${schema}.${column}` : column))
        expect(credentials.filter(shown), name).toEqual([])
        harmless.columns += counted!.columns - credentials.length
        harmless.heldBack.push(...heldBack.map((column) => `${name}: ${column}`))
      }
      expect(harmless.columns).toBeGreaterThan(2000)
      expect(harmless.heldBack).toEqual([
        "formbricks: ContactAttributeKey.key",
        "odoo: account_move.inalterable_hash",
        "supabase: storage.objects.path_tokens"
      ])
      expect(harmless.heldBack.length / harmless.columns).toBeLessThanOrEqual(0.03)
    })
  )
})

if (LONG)
  layer(TestServices, { excludeTestServices: true })(
    `a database of ${PLANT_TABLES} tables beside all of these`,
    (it) => {
      it.effect(
        "is mapped as proposed, answers two roles as hand-written SQL does, and survives a restore, a rename and a drop",
        () => journey(plant, KINDS)
      )
    }
  )
