/** The MCP server, the same over every transport: its name, what it says of itself and the protocols that it speaks. */
import { McpProtocol } from "effect/ai"
import { version } from "../../version.ts"
import { INSTRUCTIONS } from "./tools.ts"

/** The three eras of clients in use. */
const protocols = [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25, McpProtocol.v2025_06_18] as const

export const server = { name: "max", version, instructions: INSTRUCTIONS, protocols }
