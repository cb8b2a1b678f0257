/** Databases of other programs, from the proposal to the removal. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { TestServices } from "../../support/database.ts"
import { LONG } from "../../support/long.ts"
import { adventureworks } from "./kinds/adventureworks.ts"
import { discourse } from "./kinds/discourse.ts"
import { documenso } from "./kinds/documenso.ts"
import { erpnext } from "./kinds/erpnext.ts"
import { formbricks } from "./kinds/formbricks.ts"
import { gitlab } from "./kinds/gitlab.ts"
import { journey } from "./kinds/journey.ts"
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

/** The columns of all mapped kinds, and the harmless ones that proposals held back. */
const counts = { columns: 0, heldBack: 0 }

for (const kind of LONG ? KINDS : SHORT)
  layer(TestServices, { excludeTestServices: true })(`a database like ${kind.name}`, (it) => {
    it.effect(
      "is mapped as proposed, answers two roles as hand-written SQL does, and survives a restore, a rename and a drop",
      () =>
        Effect.map(journey(kind), (columns) => {
          counts.columns += columns - kind.credentials.length
          counts.heldBack += kind.heldBack?.length ?? 0
        }),
      600_000
    )
  })

it("proposals hold back at most 3 % of the harmless columns", () => {
  expect(counts.columns).toBeGreaterThan(100)
  expect(counts.heldBack / counts.columns).toBeLessThanOrEqual(0.03)
})

if (LONG)
  layer(TestServices, { excludeTestServices: true })(
    `a database of ${PLANT_TABLES} tables beside all of these`,
    (it) => {
      it.effect(
        "is mapped as proposed, answers two roles as hand-written SQL does, and survives a restore, a rename and a drop",
        () => journey(plant, KINDS),
        600_000
      )
    }
  )
