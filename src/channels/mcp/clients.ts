/** MCP clients and their configuration files: where they are, and how a server is added without changing anything else. */
import { posix, win32 } from "node:path"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"

export const CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode"] as const
export type Client = (typeof CLIENTS)[number]

/** The command with which a client starts a server. */
export interface ServerEntry {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

export interface Machine {
  readonly platform: NodeJS.Platform
  readonly home: string
  /** %APPDATA% of Windows. */
  readonly appData?: string | undefined
}

/** The client's user-level configuration file, which applies to every project. */
export const configurationFile = (client: Client, { appData, home, platform }: Machine): string => {
  const { join } = platform === "win32" ? win32 : posix
  const applications =
    platform === "win32"
      ? (appData ?? join(home, "AppData", "Roaming"))
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : join(home, ".config")
  switch (client) {
    case "claude-code":
      return join(home, ".claude.json")
    case "claude-desktop":
      return join(applications, "Claude", "claude_desktop_config.json")
    case "cursor":
      return join(home, ".cursor", "mcp.json")
    case "vscode":
      return join(applications, "Code", "User", "mcp.json")
  }
}

const listOf = (client: Client): string => (client === "vscode" ? "servers" : "mcpServers")

const written = (client: Client, { args, command, env }: ServerEntry) => ({
  ...(client === "claude-code" || client === "vscode" ? { type: "stdio" } : {}),
  command,
  args,
  env
})

/** The entry of a server in a client's file, for adding it by hand. */
export const snippet = (client: Client, name: string, entry: ServerEntry): string =>
  JSON.stringify({ [listOf(client)]: { [name]: written(client, entry) } }, null, 2)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Adds the server to a client's file; throws an `OperatorError` if rewriting the file would lose something. */
export const withServer = (client: Client, text: string, name: string, entry: ServerEntry): string => {
  const list = listOf(client)
  const unreadable = (fault: string) =>
    OperatorError.of(`${fault} Nothing was changed. Add this to it by hand:`, [snippet(client, name, entry)])
  let document: unknown
  try {
    document = text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    throw unreadable("The client's file isn't plain JSON; rewriting it would lose its comments.")
  }
  if (!isObject(document)) throw unreadable("The client's file isn't a JSON object.")
  const servers = document[list] ?? {}
  if (!isObject(servers)) throw unreadable(`${quoted(list)} in the client's file isn't an object.`)
  const indentation = /^[ \t]+(?=")/m.exec(text)?.[0] ?? "  "
  const merged = { ...document, [list]: { ...servers, [name]: written(client, entry) } }
  return `${JSON.stringify(merged, null, indentation)}\n`
}
