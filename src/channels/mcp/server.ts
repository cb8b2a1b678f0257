/** The MCP server's name, instructions and protocol versions, shared by every transport. */
import { McpProtocol } from "effect/ai"
import { version } from "../../version.ts"
import { INSTRUCTIONS } from "./tools.ts"

/** The newest version has no sessions; the two earlier ones start with `initialize`. */
export const NEWEST = McpProtocol.v2026_07_28
const EARLIER = [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18] as const

/** The versions that start with `initialize`, newest first. */
export const INITIALIZED: ReadonlyArray<string> = EARLIER.map(({ protocolVersion }) => protocolVersion)

export const identity = { name: "max", version, instructions: INSTRUCTIONS }

/** A server for all versions in use. */
export const server = { ...identity, protocols: [NEWEST, ...EARLIER] as const }
