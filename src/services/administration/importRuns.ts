/** Past imports, as the audit log has them. What tells whether rows existed is for administrators who see the whole type. */
import { Option, Schema } from "effect"
import { typeBySlug } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { ImportRun } from "../../wire/admin/import.ts"
import type { AuditRecord } from "../audit/AuditLog.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { seesWhole } from "./reach.ts"

/** The action of an import's record. */
export const IMPORTED = "data.imported"

const decodeCounts = Schema.decodeUnknownOption(
  Schema.Struct({
    rows: Schema.Int,
    inserted: Schema.Int,
    updated: Schema.Int,
    unchanged: Schema.Int,
    leftOut: Schema.Int
  })
)

/** The counts of an import, as far as they say nothing of rows that the administrator doesn't see. */
const countsFor = ({ catalog, policy }: State, { roles }: Principal, { details, subject }: AuditRecord) => {
  const type = typeBySlug(catalog, subject)
  return Option.map(decodeCounts(details), ({ leftOut, rows, ...outcome }) => ({
    rows,
    leftOut,
    ...(type !== undefined && seesWhole(policy, roles, type) ? { outcome } : {})
  }))
}

/** A record of the audit log without what an import's counts say of rows that the administrator doesn't see. */
export const withinReach = (state: State, administrator: Principal, record: AuditRecord): AuditRecord => {
  if (record.action !== IMPORTED) return record
  const counts = countsFor(state, administrator, record)
  if (Option.isNone(counts)) return { ...record, details: {} }
  const { outcome, ...details } = counts.value
  return { ...record, details: { ...details, ...outcome } }
}

export const runOf = (
  state: State,
  administrator: Principal,
  named: (id: string) => string | undefined,
  record: AuditRecord
): ImportRun => {
  const { actor, at, sequence, subject } = record
  const name = named(actor)
  const type = typeBySlug(state.catalog, subject)
  return {
    record: Number(sequence),
    at,
    by: actor,
    ...(name === undefined ? {} : { byName: name }),
    type: subject,
    ...(type === undefined ? {} : { typeName: type.pluralName }),
    ...Option.getOrElse(countsFor(state, administrator, record), () => ({}))
  }
}
