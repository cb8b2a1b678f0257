/** Checks that the sealed secrets of organizations open with the sealing key that this machine has. */
import { Effect } from "effect"
import { unseal } from "../../secrets/seal.ts"
import { type Check, fail, ok, some } from "./Finding.ts"

const NAME = "secrets"
/** The migration that has secrets. */
const SECRETS = 42

interface Row {
  readonly slug: string
  readonly id: bigint
  readonly name: string
  readonly sealed: Uint8Array
}

const MEND = [
  "Bring the sealing key: the file seal.key of MAX_STATE_DIR, or MAX_SEAL_KEY, from where the secrets were sealed,",
  "or paste them again, on the pages Model, Phone and Access: /admin"
]

export const secrets: Check = Effect.fnUntraced(function* ({ inspection, owner, sealingKey }) {
  if (inspection.schemaVersion < SECRETS || sealingKey === undefined) return []
  const rows = yield* owner<Row>`SELECT o.slug, s.organization_id AS id, s.name, s.sealed
    FROM max.secrets s JOIN max.organizations o ON o.organization_id = s.organization_id
    WHERE s.sealed IS NOT NULL ORDER BY o.slug, s.name`
  if (rows.length === 0) return []
  const key = yield* Effect.result(sealingKey)
  if (key._tag === "Failure") return [fail(NAME, key.failure.message)]
  const opens = ({ id, name, sealed }: Row) =>
    key.success !== undefined && unseal(key.success, { organizationId: id, name }, sealed) !== undefined
  const closed = rows.filter((row) => !opens(row))
  if (closed.length === 0) return [ok(NAME, `${counted(rows.length)} with this machine's sealing key.`)]
  const names = some([...new Set(closed.map(({ slug }) => slug))])
  return [
    key.success === undefined
      ? fail(NAME, `There is no sealing key on this machine, and secrets are sealed: those of ${names}.`, ...MEND)
      : fail(NAME, `Secrets are sealed with another key than this machine's: ${closed.length} of ${names}.`, ...MEND)
  ]
})

const counted = (number: number) => (number === 1 ? "1 sealed secret opens" : `${number} sealed secrets open`)
