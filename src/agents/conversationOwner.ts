import { createHash } from "node:crypto"
import type { Principal } from "../domain/Principal.ts"

/**
 * The owner of a principal's conversations. It includes the roles and attributes that a host asserts, because they can
 * shrink: an answer given with more rights must not be continued with fewer. Without an anchor no conversation continues.
 */
export const conversationOwner = ({ anchorEntityId, vouched }: Principal): string =>
  vouched === undefined
    ? anchorEntityId
    : `vouched:${createHash("sha256")
        .update(
          JSON.stringify([anchorEntityId, vouched.roles.toSorted(), Object.entries(vouched.attributes).toSorted()])
        )
        .digest("base64url")}`
