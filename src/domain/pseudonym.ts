/** By what two traces of one caller are known as such, and nothing else: the mark is another one in every process. */
import { createHmac, randomBytes } from "node:crypto"
import type { Principal } from "./Principal.ts"

const key = randomBytes(32)

export const pseudonym = ({ anchorEntityId, organizationId }: Pick<Principal, "anchorEntityId" | "organizationId">) =>
  createHmac("sha256", key).update(`${organizationId} ${anchorEntityId}`).digest("hex").slice(0, 8)
