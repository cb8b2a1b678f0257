/** The health of the installation, in words. */
import { Schema } from "effect"
import { Strings, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const Finding = Schema.Struct({
  check: Schema.String,
  state: Schema.Literals(["ok", "warn", "fail", "operator"]).annotate({
    description: "warn: works, but slower or less safely than it should. operator: only operators see the finding."
  }),
  message: Schema.String,
  mend: Strings.annotate({
    description: "Commands, settings, and SQL statements that end with a semicolon, for an operator"
  })
})
export type Finding = typeof Finding.Encoded

export const Health = Schema.Struct({
  at: Timestamp.annotate({ description: "When it was examined: at most 5 seconds ago." }),
  findings: Schema.Array(Finding),
  mayBackUp: Schema.Boolean.annotate({ description: "Whether a backup can be made with POST /v1/admin/backup." }),
  lastBackup: optionalKey(Timestamp.annotate({ description: "Omitted if no backup is in the audit log." }))
})
export type Health = typeof Health.Encoded

export const BackedUp = Schema.Struct({ rows: Schema.Int, bytes: Schema.Int })
export type BackedUp = typeof BackedUp.Encoded
