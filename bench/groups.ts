/** Groups and figures against the statement that one would write by hand, and lookups while another connection adds up. */
import { Effect, Fiber } from "effect"
import { Database } from "../src/database/Database.ts"
import { decodeId } from "../src/domain/ids.ts"
import type { FindQuery } from "../src/domain/Query.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { median, race, raceTable } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld, type Role, type WorldOrganization } from "./world/load.ts"
import { byPhone } from "./world/questions.ts"

const ROUNDS = 40
/** Lookups of a block, with and without a figure under way, and blocks of each. */
const LOOKUPS = 200
const BLOCKS = 20

export const groups = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(scenarios(rows, quiet)))

interface Compared {
  readonly name: string
  readonly role: Role
  readonly query: FindQuery
  /** The statement of a careful programmer; $1 is the organization, $2 the person who asks. */
  readonly hand: string
  readonly target: number
}

const OWN = `(p.owner_id = $2::bigint OR p.company_id IN (SELECT c.id FROM data.companies c WHERE c.organization_id = $1::bigint AND c.status = 'Partner'))`
const FIRST = "ORDER BY count(*) DESC LIMIT 26"

const people = (...selectColumns: ReadonlyArray<string>): FindQuery => ({
  entityTypeId: "people",
  filters: [],
  selectColumns
})

const COMPARED: ReadonlyArray<Compared> = [
  {
    name: "people by status",
    role: "everything",
    query: people("by status"),
    hand: `SELECT p.status, count(*) FROM data.people p WHERE p.organization_id = $1::bigint GROUP BY p.status ${FIRST}`,
    target: 1.3
  },
  {
    name: "people by status, under a plan by references",
    role: "company",
    query: people("by status"),
    hand: `SELECT p.status, count(*) FROM data.people p WHERE p.organization_id = $1::bigint AND ${OWN} GROUP BY p.status ${FIRST}`,
    target: 1.5
  },
  {
    name: "people by owner",
    role: "everything",
    query: people("by owner"),
    hand: `SELECT o.id, o.name, count(*) FROM data.people p LEFT JOIN data.people o ON o.organization_id = p.organization_id AND o.id = p.owner_id
      WHERE p.organization_id = $1::bigint GROUP BY o.id, o.name ${FIRST}`,
    target: 0.6
  },
  {
    name: "people by the status of their company",
    role: "everything",
    query: people("by company.status"),
    hand: `SELECT c.status, count(*) FROM data.people p LEFT JOIN data.companies c ON c.organization_id = p.organization_id AND c.id = p.company_id
      WHERE p.organization_id = $1::bigint GROUP BY c.status ${FIRST}`,
    target: 1.2
  },
  {
    name: "meetings by attendees",
    role: "everything",
    query: { entityTypeId: "meetings", filters: [], selectColumns: ["by attendees"] },
    hand: `SELECT a.id, a.name, count(*) FROM data.meetings m LEFT JOIN (data.meeting_attendees l JOIN data.people a ON a.organization_id = l.organization_id AND a.id = l.person_id)
      ON l.organization_id = m.organization_id AND l.meeting_id = m.id WHERE m.organization_id = $1::bigint GROUP BY a.id, a.name ${FIRST}`,
    target: 1.5
  },
  {
    name: "meetings by month",
    role: "everything",
    query: { entityTypeId: "meetings", filters: [], selectColumns: ["by month start"] },
    hand: `SELECT date_trunc('month', m.start_at, 'Europe/Berlin') AS month, count(*) FROM data.meetings m
      WHERE m.organization_id = $1::bigint GROUP BY month ORDER BY month LIMIT 26`,
    target: 1.5
  }
]

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { huge } = (yield* openWorld(rows)).organizations
  const say = (text: string) => {
    if (!quiet) console.log(text)
  }
  const measured: Array<Measured> = []
  for (const compared of COMPARED) measured.push(yield* against(compared, huge, say))
  return [...measured, ...(yield* beside(huge, say))] satisfies ReadonlyArray<Measured>
})

type Say = (text: string) => void

const against = Effect.fnUntraced(function* (
  { hand, name, query, role, target }: Compared,
  of: WorldOrganization,
  say: Say
) {
  const { figures } = yield* Database
  if (figures === undefined) return yield* Effect.die(new Error("Figures are off"))
  const { find, principal } = yield* asking(of, role)
  const found = yield* find(query)
  if ((found.groups ?? []).length === 0) return yield* Effect.die(new Error(`There are no ${name}`))
  const parameters = [of.organization.id, ...(hand.includes("$2") ? [decodeId(principal.anchorEntityId)] : [])]
  const raced = yield* race(
    [
      { name: "by hand", run: () => figures.unsafe(hand, parameters) },
      { name: "Max", run: () => find(query) }
    ],
    { rounds: ROUNDS, seconds: 30 }
  )
  say(raceTable(`${name}, ${of.people} people`, raced))
  return { scenario: `${name} against the statement by hand`, ratio: raced[1]!.ms / raced[0]!.ms, target }
})

/** Lookups while figures are under way all the time, block by block with those without. */
const beside = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const { find } = yield* asking(of, "everything")
  const adding = Effect.forever(find(people("by owner", "by status")))
  let asked = 0
  const block = Effect.gen(function* () {
    const times: Array<number> = []
    for (let at = 0; at < LOOKUPS; at++) {
      const started = performance.now()
      yield* find(byPhone(of, asked++))
      times.push(performance.now() - started)
    }
    return median(times)
  })
  yield* block
  const ratios: Array<number> = []
  for (let at = 0; at < BLOCKS; at++) {
    const quiet = yield* block
    const fiber = yield* Effect.forkScoped(adding)
    const busy = yield* block
    yield* Fiber.interrupt(fiber)
    ratios.push(busy / quiet)
  }
  say(`lookups while figures are added up: ${median(ratios).toFixed(2)}× of alone`)
  return [{ scenario: "lookups while figures are added up against alone", ratio: median(ratios), target: 1.05 }]
})
