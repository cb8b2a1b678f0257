/** The MCP server's name, instructions and protocol versions, shared by every transport. */
import { McpProtocol } from "effect/ai"
import { version } from "../../version.ts"
import { instructionsFor, type Listing } from "./tools.ts"

/** The newest version has no sessions; the two earlier ones start with `initialize`. */
export const NEWEST = McpProtocol.v2026_07_28
const EARLIER = [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18] as const

/** The versions that start with `initialize`, newest first. */
export const INITIALIZED: ReadonlyArray<string> = EARLIER.map(({ protocolVersion }) => protocolVersion)

export const identityFor = (listing: Pick<Listing, "changes">) => ({
  name: "max",
  version,
  instructions: instructionsFor(listing)
})

/** A server for all versions in use. */
export const serverFor = (listing: Pick<Listing, "changes">) => ({
  ...identityFor(listing),
  protocols: [NEWEST, ...EARLIER] as const
})
