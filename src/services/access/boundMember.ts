/** The member that a provider's proven identity is bound to. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { ProvenIdentity } from "./jwt.ts"

/** A subject binding overrides an e-mail match: the address must not admit a person whose subject is suspended. */
export const boundMember = (
  admission: PgClient.PgClient,
  { email, organizationId, subject }: Pick<ProvenIdentity, "email" | "organizationId" | "subject">
): Effect.Effect<string | undefined, Unavailable> =>
  Effect.map(
    orUnavailable(admission<{ anchor_id: string }>`/* max bound */
      SELECT anchor_id FROM max.identifiers WHERE organization_id = ${organizationId}
        AND ((kind = 'subject' AND key = ${subject ?? null}::text) OR (kind = 'email' AND key = ${email ?? null}::text))
      ORDER BY kind = 'subject' DESC LIMIT 1`),
    ([bound]) => bound?.anchor_id
  )
