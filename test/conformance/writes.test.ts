/**
 * Changes against the oracle, with random policies, hostile rows and random callers: on a real Postgres a proposal and an
 * application reach the oracle's verdict, and the row that is written is the expected one.
 */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { changedColumns } from "../../src/database/sql/RowChange.ts"
import { OrganizationState } from "../../src/services/catalog/OrganizationState.ts"
import { TestServices } from "../support/database.ts"
import { NOW } from "./generators.ts"
import { physicalRow } from "./load.ts"
import type { RuleJson } from "./oracle.ts"
import { caseText, floorOf, holds, makePlaces, partOf } from "./setting.ts"
import { ANCHORS, makeWorld, SHAPES, TABLES, type TypeName } from "./world.ts"
import { NEW_ID, writeCase } from "./writeCases.ts"
import { afterwards, expectedOf, ledTo, type WriteCase } from "./writeOracle.ts"
import { applied, isDenied, type Loaded, plannedChange, proposalOf, storedText } from "./writing.ts"

const CASES = partOf(2600)
const WORLDS = [31, 32].slice(0, partOf(2))
const SEED = 20261122

const kase = fc.record({ seed: fc.nat({ max: 2 ** 31 }), where: fc.nat({ max: WORLDS.length * 2 - 1 }) })

/** Whether the row and its links in the database are those of the organization after the change. */
const rowIsExpected = (one: WriteCase, { catalog, organization }: Loaded) => {
  const { entity, organization: later } = afterwards(one, organization, false)
  const table = `data.${TABLES[one.type]}`
  const links = one.type === "meetings" || one.type === "deals" ? one.type : undefined
  const [linkTable, from, relation] =
    links === "deals"
      ? (["data.t_deal_watchers", "deal_id", "watchers"] as const)
      : (["data.meeting_attendees", "meeting_id", "attendees"] as const)
  const wanted = entity && {
    ...physicalRow(one.type, entity, later),
    organization_id: catalog.organization.id.toString()
  }
  const wantedLinks =
    links === undefined
      ? []
      : later.links[relation]
          .filter(([id]) => id === one.id)
          .map(([, to]) => to.toString())
          .sort()
  return {
    text:
      `SELECT (SELECT count(*) FROM ${table} p WHERE p.organization_id = $1::bigint)::int AS rows, ` +
      `(SELECT p IS NOT DISTINCT FROM json_populate_record(NULL::${table}, $3::text::json) FROM ${table} p ` +
      `WHERE p.organization_id = $1::bigint AND p.id = $2::bigint) AS same, ` +
      (links === undefined
        ? `'{}'::text[] AS links`
        : `ARRAY(SELECT l.person_id::text FROM ${linkTable} l WHERE l.organization_id = $1::bigint AND l.${from} = $2::bigint ORDER BY 1) AS links`),
    parameters: [catalog.organization.id, one.id.toString(), JSON.stringify(wanted ?? null)],
    rows: later.entities[one.type].size,
    same: entity === undefined ? null : true,
    links: wantedLinks
  }
}

layer(TestServices, { excludeTestServices: true })("changes", (it) => {
  it.effect("a proposal and its application reach the oracle's verdict, and write the expected row", () =>
    Effect.gen(function* () {
      const states = yield* OrganizationState
      const loaded: Array<Loaded> = []
      for (const { organization, stored } of yield* makePlaces(WORLDS.flatMap(makeWorld)))
        loaded.push({ organization, catalog: (yield* states.read(stored.id, { by: "none" })).state.catalog })
      const tally = { cases: 0, allowed: 0, becomes: 0, decoupled: 0, unseen: 0 }
      yield* holds(
        kase,
        {
          name: "changes",
          cases: CASES,
          seed: SEED,
          queue: ({ where }) => where,
          text: ({ seed, where }) => {
            const { action, assigned, caller, id, policy, scope, type } = writeCase(seed, loaded[where]!.organization)
            const text = JSON.stringify({ action, assigned, id, scope, type }, (_, value: unknown) =>
              typeof value === "bigint" ? value.toString() : value
            )
            return caseText(caller, policy, text)
          }
        },
        Effect.fnUntraced(function* ({ seed, where }) {
          const place = loaded[where]!
          const one = writeCase(seed, place.organization)
          const proposed = expectedOf(one, place.organization, NOW, true)
          const wanted = expectedOf(one, place.organization, NOW, false)
          tally.cases += 1
          if (wanted.seen && wanted.allowed) tally.allowed += 1
          if (wanted.seen && !wanted.allowed && wanted.allowedBefore) tally.becomes += 1
          if (wanted.seen && !wanted.allowed && wanted.allowedDecoupled) tally.decoupled += 1
          if (!wanted.seen) tally.unseen += 1
          const change = plannedChange(one, place)
          if (change === undefined) {
            // A row is created only in a type that the person may read, of which the oracle knows no rows.
            const unreadable = one.action === "create" && isDenied(one, place)
            if (proposed.seen && proposed.allowed && !unreadable)
              throw new Error("The plan denies what the oracle allows")
            return
          }
          const { refusals, row, seen } = yield* proposalOf(change, place)
          if (seen !== proposed.seen) throw new Error(`The proposal sees ${seen}, the oracle ${proposed.seen}`)
          if (row === undefined) return
          if ((refusals.length === 0) !== proposed.allowed)
            throw new Error(`The proposal is ${JSON.stringify(refusals)}, the oracle's ${proposed.allowed}`)
          if (!seen) return
          const columns = changedColumns(change)
          const { entity } = afterwards(one, place.organization, true)
          for (const [index, { slug }] of columns.entries()) {
            const { kind } = SHAPES[one.type][slug]!
            if (one.action === "delete") continue
            const cell = kind === "many" ? one.assigned[slug]! : (entity!.cells[slug] ?? null)
            const text = storedText(kind, cell)
            if (row.after[index] !== text) throw new Error(`${slug} becomes ${row.after[index]}, not ${text}`)
            if (one.action === "create") continue
            const before = place.organization.entities[one.type].get(one.id)!
            const old =
              kind === "many" ? ledTo(one.type, one.id, slug, place.organization) : (before.cells[slug] ?? null)
            if (row.before[index] !== storedText(kind, old))
              throw new Error(`${slug} was ${row.before[index]}, not ${storedText(kind, old)}`)
          }
          const expected = rowIsExpected(one, place)
          const result = yield* applied(change, row, place, (run) => run<typeof expected>(expected))
          if (result.seen !== wanted.seen || result.allowed !== wanted.allowed)
            throw new Error(`The application is ${JSON.stringify(result)}, the oracle's ${JSON.stringify(wanted)}`)
          const [found] = result.looked
          for (const part of ["rows", "same", "links"] as const)
            if (JSON.stringify(found![part]) !== JSON.stringify(expected[part]))
              throw new Error(
                `${part} are ${JSON.stringify(found![part])}, not ${JSON.stringify(expected[part])}: ${expected.parameters[2]}`
              )
        })
      )
      const share = (part: number) => `${Math.round((100 * part) / tally.cases)} %`
      console.log(
        `changes: ${tally.cases} cases, ${share(tally.allowed)} allowed, ${share(tally.becomes)} refused by becomes alone, ` +
          `${share(tally.decoupled)} of them allowed if decoupled, ${share(tally.unseen)} unseen`
      )
      expect(tally.cases).toBe(CASES)
      expect(tally.allowed / tally.cases).toBeGreaterThanOrEqual(floorOf(0.3))
      expect(tally.becomes / tally.cases).toBeGreaterThanOrEqual(floorOf(0.3))
      expect(tally.decoupled / tally.cases).toBeGreaterThanOrEqual(floorOf(0.1))
    })
  )

  it.effect("a proposal is judged by the links that it sets, of a new row and of an existing one", () =>
    Effect.gen(function* () {
      const states = yield* OrganizationState
      const [at] = yield* makePlaces([{ ...makeWorld(33)[0]!, slug: "links-of-proposals" }])
      const { catalog } = (yield* states.read(at!.stored.id, { by: "none" })).state
      const { organization } = at!
      const me = ANCHORS[0]!
      const rule = (type: TypeName, action: string, more: object = {}): RuleJson => ({
        id: `${type}-${action}`,
        effect: "allow",
        role: "member",
        action,
        type,
        columns: "*",
        ...more
      })
      const rules = [
        rule("people", "read"),
        rule("meetings", "read"),
        rule("meetings", "create", { where: { attendees: "$me" } }),
        rule("meetings", "update", { becomes: { attendees: "$me" } })
      ]
      const [id] = organization.entities.meetings.keys()
      const verdict = Effect.fnUntraced(function* (action: "create" | "update", attendees: ReadonlyArray<bigint>) {
        const one: WriteCase = {
          policy: { version: 1, roles: { member: { inherits: [] } }, rules },
          caller: { me, roles: ["member"], attributes: {} },
          type: "meetings",
          action,
          id: action === "create" ? NEW_ID : id!,
          assigned: { name: "abc", attendees }
        }
        const place = { organization, catalog }
        const { refusals, seen } = yield* proposalOf(plannedChange(one, place)!, place)
        return seen && refusals.length === 0
      })
      for (const action of ["create", "update"] as const) {
        expect(yield* verdict(action, [me])).toBe(true)
        expect(yield* verdict(action, [ANCHORS[1]!])).toBe(false)
        expect(yield* verdict(action, [])).toBe(false)
      }
    })
  )
})
