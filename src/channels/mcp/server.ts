/** The MCP server, the same over every transport: its name, what it says of itself and the protocols that it speaks. */
import { McpProtocol } from "effect/ai"
import { version } from "../../version.ts"
import { INSTRUCTIONS } from "./tools.ts"

/** The newest era has no sessions; the two before begin with `initialize`. */
export const NEWEST = McpProtocol.v2026_07_28
const BEFORE = [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18] as const

/** The versions that begin with `initialize`, the newest first. */
export const INITIALIZED: ReadonlyArray<string> = BEFORE.map(({ protocolVersion }) => protocolVersion)

export const identity = { name: "max", version, instructions: INSTRUCTIONS }

/** The three eras of clients in use. */
export const server = { ...identity, protocols: [NEWEST, ...BEFORE] as const }
