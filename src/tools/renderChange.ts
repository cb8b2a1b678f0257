/** Renders what an action takes and what a draft does, for a model: tab-separated lines, as results of lookups are. */
import type { Confirmation } from "../domain/Action.ts"
import type { Preview } from "../domain/Change.ts"
import type { DeclaredAction } from "../domain/DeclaredAction.ts"
import type { ReadResult } from "../services/changes/calls/readAction.ts"
import type { OpenAction } from "../services/changes/Changes.ts"

const CONFIRMS: Readonly<Record<Confirmation, string>> = {
  none: "nothing to confirm",
  once: "the person confirms",
  twice: "the person confirms twice",
  second: "another person confirms"
}

/** The fields that the caller may set, and the least confirmation. */
export const renderTakes = (open: OpenAction): string => {
  if (open.type === undefined) return renderFields(open.action)
  const { action, columns } = open
  return [
    `takes${action.executor.op === "create" ? "" : " entityIds"}${action.executor.op === "delete" ? "" : " values"}; ${CONFIRMS[action.confirm]}`,
    ...action.fields
      .filter(({ key }) => columns.includes(key))
      .map(({ kind, name, needed, slug, values }) =>
        [slug, name, kind, ...(needed ? ["needed"] : []), ...(values === undefined ? [] : [values.join(", ")])].join(
          "\t"
        )
      )
  ].join("\n")
}

/** What a declared action takes. */
const renderFields = ({ confirm, fields }: DeclaredAction): string =>
  [
    `takes values; ${CONFIRMS[confirm]}`,
    ...fields.map(({ default: standard, description, fields: inner = [], kind, name, needed, slug, values }) =>
      [
        slug,
        name,
        inner.length === 0
          ? kind
          : `JSON list of {${inner.map((field) => `${field.slug}${field.needed ? "" : "?"}`).join(", ")}}`,
        ...(needed && standard === undefined ? ["needed"] : []),
        ...(values === undefined ? [] : [values.join(", ")]),
        ...(description === undefined ? [] : [description])
      ].join("\t")
    )
  ].join("\n")

const MAX_READ = 25

/** What an action read: the names of its texts, and a line per entry. */
export const renderRead = ({ action, rows }: ReadResult): string => {
  const names = action.executor._tag === "Http" ? Object.keys(action.executor.result ?? {}) : []
  const more = rows.length - MAX_READ
  return [
    `done: read ${rows.length}${more > 0 ? `, of which the first ${MAX_READ} are here` : ""}`,
    names.join("\t"),
    ...rows.slice(0, MAX_READ).map((row) => names.map((name) => row[name] ?? "").join("\t"))
  ].join("\n")
}

/** One line per cell; the line of a create ends with the id that the row will have, and a call's answers have names for later calls. */
export const renderDraft = (
  changeId: string,
  { state, steps }: Preview,
  actions: ReadonlyArray<OpenAction> = []
): string =>
  [
    `draft ${changeId}: ${state === "waiting" ? "waits for another person" : "waits for the person"}`,
    ...steps.flatMap(({ actionId, cells, displayName = "", entityId }) =>
      cells.length === 0
        ? [[actionId, displayName, entityId].join("\t").trimEnd()]
        : cells.map(({ becomes = "", columnId, was = "" }) =>
            [actionId, displayName, columnId, was, becomes, ...(actionId.endsWith(".create") ? [entityId] : [])].join(
              "\t"
            )
          )
    ),
    ...new Set(steps.flatMap(({ actionId, call }) => (call === undefined ? [] : answersOf(actionId, actions))))
  ].join("\n")

/** How a later call of the same answer takes what this one is answered. */
const answersOf = (slug: string, actions: ReadonlyArray<OpenAction>): ReadonlyArray<string> => {
  const open = actions.find(({ action }) => action.slug === slug)
  const { executor } = open?.type === undefined && open !== undefined ? open.action : {}
  const results = executor?._tag === "Http" ? Object.entries(executor.result ?? {}) : []
  const names = results.filter(([, pointer]) => !pointer.split("/").includes("*")).map(([name]) => `@${slug}.${name}`)
  return names.length === 0 ? [] : [`a later action can take its answer: ${names.join(", ")}`]
}
