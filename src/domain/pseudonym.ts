/** Pseudonyms of callers in span attributes. The key is random per process, so they can't be linked across processes. */
import { createHmac, randomBytes } from "node:crypto"
import type { Principal } from "./Principal.ts"

const key = randomBytes(32)

export const pseudonym = ({ anchorEntityId, organizationId }: Pick<Principal, "anchorEntityId" | "organizationId">) =>
  createHmac("sha256", key).update(`${organizationId} ${anchorEntityId}`).digest("hex").slice(0, 8)
