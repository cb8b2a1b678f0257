/** Renders what an action takes and what a draft does, for a model: tab-separated lines, as results of lookups are. */
import type { Confirmation } from "../domain/Action.ts"
import type { Preview } from "../domain/Change.ts"
import type { OpenAction } from "../services/changes/Changes.ts"

const CONFIRMS: Readonly<Record<Confirmation, string>> = {
  none: "nothing to confirm",
  once: "the person confirms",
  twice: "the person confirms twice",
  second: "another person confirms"
}

/** The fields that the caller may set, and the least confirmation. */
export const renderTakes = ({ action, columns }: OpenAction): string =>
  [
    `takes${action.executor.op === "create" ? "" : " entityIds"}${action.executor.op === "delete" ? "" : " values"}; ${CONFIRMS[action.confirm]}`,
    ...action.fields
      .filter(({ key }) => columns.includes(key))
      .map(({ kind, name, needed, slug, values }) =>
        [slug, name, kind, ...(needed ? ["needed"] : []), ...(values === undefined ? [] : [values.join(", ")])].join(
          "\t"
        )
      )
  ].join("\n")

/** One line per cell; the line of a create ends with the id that the row will have. */
export const renderDraft = (changeId: string, { state, steps }: Preview): string =>
  [
    `draft ${changeId}: ${state === "waiting" ? "waits for another person" : "waits for the person"}`,
    ...steps.flatMap(({ actionId, cells, displayName = "", entityId }) =>
      cells.length === 0
        ? [[actionId, displayName, entityId].join("\t")]
        : cells.map(({ becomes = "", columnId, was = "" }) =>
            [actionId, displayName, columnId, was, becomes, ...(actionId.endsWith(".create") ? [entityId] : [])].join(
              "\t"
            )
          )
    )
  ].join("\n")
