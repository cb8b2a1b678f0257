/** The input of `groups.ts`: a request for groups or figures whose names and values are resolved for one caller. */
import type { Column, EntityType } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import type { Bucket, Figure } from "../../domain/Query.ts"
import type { Condition } from "./Parameter.ts"

/** A hop through a reference, with the rows on which it is visible and the rows of the target that the caller may see. */
export interface GroupStep {
  readonly relation: Column
  readonly mask: Bound
  readonly to: EntityType
  readonly where: Bound
}

/** A column of the row itself or of what references lead to, with the rows on which its cell is visible. */
export interface GroupPath {
  readonly steps: ReadonlyArray<GroupStep>
  readonly at: EntityType
  readonly column: Column
  readonly mask: Bound
  /** Of a reference: the rows of the target that the caller may see, and those whose name it may see. */
  readonly target?: { readonly type: EntityType; readonly where: Bound; readonly name: Bound } | undefined
}

interface GroupBy {
  readonly path: GroupPath
  readonly bucket: Bucket | undefined
}

interface GroupFigure {
  readonly figure: Figure
  readonly path: GroupPath
}

/** A condition on groups: on their count, or on the figure with this index. */
export interface Having {
  readonly of: "count" | number
  readonly op: "eq" | "gte" | "lt"
  readonly value: string
}

export interface ResolvedGroups {
  readonly type: EntityType
  readonly plan: Bound
  /** Each under the mask of its column. */
  readonly filters: ReadonlyArray<Condition>
  readonly by: ReadonlyArray<GroupBy>
  readonly figures: ReadonlyArray<GroupFigure>
  /** The index of the figures that have a currency; all of them are of one column. */
  readonly money: ReadonlySet<number>
  readonly having: ReadonlyArray<Having>
  readonly upwards: boolean
  readonly limited: boolean
  /** In groups. */
  readonly limit: number
  readonly cursor: string | undefined
  readonly headings: ReadonlyArray<string>
  readonly label: string
}
