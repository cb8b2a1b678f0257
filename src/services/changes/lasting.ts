/** What can't be undone here: rows of mapped tables that are deleted, or added where none may be deleted. */
import { actionByKey } from "../../domain/Action.ts"
import type { ChangeDocument } from "../../domain/Change.ts"
import { type Catalog, typeByKey } from "../../domain/EntityType.ts"

const GONE = "A deleted row of a mapped table can't be brought back here, because Max doesn't read all of it."

const KEPT = "Rows of this mapped table can't be deleted here, so one that was added can't be taken back."

/** Why a change stays for good; undefined where its inverse can be proposed. */
export const whyLasting = ({ steps }: Pick<ChangeDocument, "steps">, catalog: Catalog): string | undefined => {
  const mapped = steps.filter(({ type }) => typeByKey(catalog, type)?.mapping !== undefined)
  const does = (op: "create" | "delete") =>
    mapped.filter(({ action }) => actionByKey(catalog, action)?.executor.op === op)
  if (does("delete").length > 0) return GONE
  const isKept = does("create").some(({ type }) => actionByKey(catalog, `${type}.delete`) === undefined)
  return isKept ? KEPT : undefined
}
