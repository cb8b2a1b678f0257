/** The outcome of one policy test, and how its failures name rows. */
import { printable } from "../../domain/text.ts"
import { listed } from "../../permissions/describe.ts"
import type { PolicyTest } from "../../permissions/Policy.ts"
import type { EvaluatedRow } from "./rowEvaluator.ts"

export interface TestOutcome {
  readonly path: string
  /** The person and the type, as a sentence. */
  readonly title: string
  /** Expected and actual results; empty when the test passed. */
  readonly failures: ReadonlyArray<string>
}

export const titleOf = ({ action, as, roles }: PolicyTest, type: string): string =>
  `${as}${roles === undefined ? "" : ` as ${listed(roles) || "a person without roles"}`} ${action}s ${type}`

export const label = (row: Pick<EvaluatedRow, "externalId" | "id" | "name">): string => {
  const id = printable(row.externalId ?? row.id)
  return row.name === "" ? id : `${id} (${row.name})`
}
