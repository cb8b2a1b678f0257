/** Changes of what a caller can't see: hidden cells, rows, targets and links. */
import { encodeId } from "../../src/domain/ids.ts"
import { NOW } from "./generators.ts"
import { type Caller, type PolicyJson, shownCell, visibleRelated, type Views, viewsOf } from "./oracle.ts"
import {
  cellMaker,
  computed,
  type Entity,
  FIRST_ID,
  type Organization,
  random,
  READABLE,
  SHAPES,
  TYPE_NAMES
} from "./world.ts"

/** Changes tried per scenario; a change to visible data is dropped. */
const ATTEMPTS = 40

/** All visible data of a caller. */
const picture = (views: Views, organization: Organization): string =>
  JSON.stringify(
    TYPE_NAMES.map((type) =>
      [...views[type]]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, columns]) => {
          const entity = organization.entities[type].get(id)!
          return [
            encodeId(id),
            [...columns].map((column) => {
              const { kind } = READABLE[type][column]!
              const cell = entity.cells[column] ?? null
              if (kind === "many") return [column, visibleRelated(type, column, entity, views, organization)]
              // The stored cell, because filters can distinguish values that display alike.
              return [column, kind === "one" ? shownCell(type, column, entity, views, organization) : cell]
            })
          ]
        })
    )
  )

/** A random change of one row, cell or link; hidden data changes more often. */
const changed = (organization: Organization, views: Views, next: () => number): Organization => {
  const { cell, pick, reference, row } = cellMaker(next)
  const type = pick(TYPE_NAMES)
  const rows = new Map(organization.entities[type])
  const put = () => ({ ...organization, entities: { ...organization.entities, [type]: rows } })
  const hidden = [...rows.values()].filter(({ id }) => !views[type].has(id))
  const some: Entity = hidden.length > 0 && next() < 0.5 ? pick(hidden) : pick([...rows.values()])
  const kind = next()
  if (kind < 0.2) {
    const id = next() < 0.5 ? FIRST_ID + BigInt(Math.floor(next() * 40)) : FIRST_ID + 900n
    rows.set(id, computed(type, row(type, id), organization.timeZone))
    return put()
  }
  if (kind < 0.3) {
    rows.delete(some.id)
    return put()
  }
  if (kind < 0.5) {
    const relation = next() < 0.5 ? ("attendees" as const) : ("watchers" as const)
    const from = relation === "attendees" ? ("meetings" as const) : ("deals" as const)
    const links = organization.links[relation]
    const pair = [reference(from), reference("people")] as const
    const has = (other: readonly [bigint, bigint]) => (one: readonly [bigint, bigint]) =>
      one[0] === other[0] && one[1] === other[1]
    const gone = pick(links)
    const after = next() < 0.5 || links.some(has(pair)) ? links.filter((one) => !has(gone)(one)) : [...links, pair]
    return { ...organization, links: { ...organization.links, [relation]: after } }
  }
  const columns = Object.entries(SHAPES[type]).filter(([, shape]) => shape.kind !== "many")
  const masked = columns.filter(([name]) => views[type].get(some.id)?.has(name) === false)
  const [name, shape] = pick(masked.length > 0 ? masked : columns)
  const cells = { ...some.cells, [name]: cell(name, shape) }
  rows.set(some.id, computed(type, { id: some.id, cells }, organization.timeZone))
  return put()
}

/** The organization after the changes that leave all visible data the same. */
export const changedUnseen = (
  one: { readonly policy: PolicyJson; readonly caller: Caller; readonly changes: number },
  organization: Organization
): { readonly after: Organization; readonly kept: number } => {
  const next = random(one.changes)
  const look = (at: Organization) => {
    const views = viewsOf(one.policy, one.caller, at, NOW)
    return { views, seen: picture(views, at) }
  }
  const before = look(organization)
  let after = organization
  let kept = 0
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const candidate = changed(after, before.views, next)
    if (look(candidate).seen !== before.seen) continue
    after = candidate
    kept += 1
  }
  return { after, kept }
}
