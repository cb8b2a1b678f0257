/** Files against pages: under random policies that hide rows, cells and targets, an export holds what paging shows, and no more. */
import { layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Result, Stream } from "effect"
import * as fc from "fast-check"
import { Database } from "../../src/database/Database.ts"
import type { Entity, ReferenceCell } from "../../src/domain/Page.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { Exports } from "../../src/services/exports/Exports.ts"
import { TestServices } from "../support/database.ts"
import { generousPolicy, member, NOW } from "./generators.ts"
import { type Caller, type PolicyJson, viewsOf } from "./oracle.ts"
import { admit, caseText, count, holds, makePlaces, makeTally, partOf, type Place, tallied } from "./setting.ts"
import { filterOf, type Question, question } from "./shownTable.ts"
import { makeWorld, type TypeName, READABLE } from "./world.ts"

const SCENARIOS = partOf(60)
const QUESTIONS = 8
const SEED = 20261126
const WORLDS = [51, 52, 53]

interface Scenario {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly questions: ReadonlyArray<Question>
  readonly where: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  policy: generousPolicy,
  caller: member,
  questions: fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS }),
  where: fc.nat({ max: 2 * WORLDS.length - 1 })
})

const refused = (result: Result.Result<unknown, { readonly _tag: string }>) =>
  Result.isFailure(result) ? result.failure._tag : undefined

/** Every page of a question, with all columns that the caller may see, five per lookup. */
const paged = Effect.fnUntraced(function* (
  { organizationId }: Principal,
  { asked, type }: Question,
  columns: ReadonlyArray<string>
) {
  const queries = yield* EntityQueryService
  const rows = new Map<string, Entity>()
  for (let from = 0; from < Math.max(1, columns.length); from += 5) {
    let cursorEntityId: string | undefined
    do {
      const page = yield* queries.findEntities({
        organizationId,
        entityTypeId: type,
        filters: asked.map(filterOf),
        limit: 25,
        selectColumns: columns.slice(from, from + 5),
        cursorEntityId
      })
      for (const entity of page.entities)
        rows.set(entity.entityId, {
          ...entity,
          columns: { ...rows.get(entity.entityId)?.columns, ...entity.columns }
        })
      cursorEntityId = page.nextCursorEntityId
    } while (cursorEntityId !== undefined)
  }
  return rows
})

type Cell = ReferenceCell | { readonly more: true }

/** A cell as the file writes it, before quoting; the inverse of what `csv-parse` reads. */
const written = (cell: unknown, part: (one: ReferenceCell) => string): string => {
  if (cell === undefined) return ""
  const list = (Array.isArray(cell) ? cell : [cell]).map((one: unknown) => {
    if (typeof one !== "object" || one === null) return String(one)
    return "more" in (one as Cell & object) ? "…" : part(one as ReferenceCell)
  })
  const text = Array.isArray(cell) && list.some((one) => one.includes(";")) ? JSON.stringify(list) : list.join(";")
  return text
}

/** Removes the apostrophe that keeps a spreadsheet from evaluating a cell. */
const unguarded = (text: string): string => (/^'(?:[\t\r]|\s*[=+\-@＝＋－＠])/.test(text) ? text.slice(1) : text)

const runScenario = Effect.fnUntraced(function* (one: Scenario, place: Place, tally: ReturnType<typeof makeTally>) {
  const principal = yield* admit(place, one.policy, one.caller)
  const { owner } = yield* Database
  yield* owner`DELETE FROM max.calls WHERE organization_id = ${place.stored.id}`
  yield* Effect.gen(function* () {
    const queries = yield* EntityQueryService
    const exports = yield* Exports
    const views = viewsOf(one.policy, one.caller, place.organization, NOW)
    for (const asked of one.questions) {
      const filters = asked.asked.map(filterOf)
      const about = `${asked.type} ${JSON.stringify(filters)}`
      const listed = yield* Effect.result(
        queries.listColumnsForType({ organizationId: principal.organizationId, entityTypeId: asked.type })
      )
      const begun = yield* Effect.result(exports.begin({ entityTypeId: asked.type, filters }))
      const shownColumns = Result.isSuccess(listed) ? listed.success.columns.map(({ id }) => id) : []
      const pages = yield* Effect.result(paged(principal, asked, shownColumns))
      if (refused(pages) !== refused(begun))
        throw new Error(`${about}: paging ends in ${refused(pages)}, the export in ${refused(begun)}`)
      if (Result.isFailure(begun) || Result.isFailure(pages)) continue
      const text = yield* Stream.mkString(begun.success.text)
      const [names, ...rows] = parse(text, { relax_column_count: false }) as ReadonlyArray<ReadonlyArray<string>>
      const wanted = [...pages.success.values()]
      const id = (cell: ReferenceCell) => cell.id
      const name = (cell: ReferenceCell) => cell.name ?? ""
      const expected = wanted.map(({ columns = {}, entityId }) => [
        entityId,
        ...names!
          .slice(1)
          .map((column) =>
            column.endsWith(".name") ? written(columns[column.slice(0, -5)], name) : written(columns[column], id)
          )
      ])
      const found = rows.map((row) => row.map(unguarded))
      if (JSON.stringify(found) !== JSON.stringify(expected))
        throw new Error(`${about}\n  file   ${JSON.stringify(found)}\n  paged  ${JSON.stringify(expected)}`)
      const hidden =
        views[asked.type].size < place.organization.entities[asked.type].size ||
        [...views[asked.type].values()].some(
          (cells) => cells.size < Object.keys(READABLE[asked.type as TypeName]).length
        )
      count(tally, rows.length > 0, hidden)
    }
  }).pipe(Effect.provideService(CurrentPrincipal, principal))
})

layer(TestServices, { excludeTestServices: true })("files of what one may see", (it) => {
  it.effect("hold the rows and cells that paging shows, in the same order", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(WORLDS.flatMap(makeWorld))
      const tally = makeTally()
      yield* holds(
        scenario,
        {
          name: "exports",
          cases: SCENARIOS,
          seed: SEED,
          queue: ({ where }) => where,
          text: ({ caller, policy, where }) => caseText(caller, policy, places[where]!.organization.slug)
        },
        (one) => runScenario(one, places[one.where]!, tally)
      )
      tallied("exports", 200, tally)
    })
  )
})
