/** Adds Max to an MCP client's configuration: backs the file up, writes it, then calls the server to verify it. */
import { Effect } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { ChildProcess } from "effect/process"
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname } from "node:path"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { version } from "../../version.ts"
import { type Client, type ServerEntry, withServer } from "./clients.ts"

export interface Installed {
  readonly file: string
  /** The backup of the previous file; undefined if there was none. */
  readonly backup: string | undefined
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT"

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Replaces a file atomically: a concurrent reader sees the old file or the new one. */
const replace = (file: string, text: string): void => {
  const temporary = `${file}.max-${process.pid}`
  try {
    writeFileSync(temporary, text, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600, flag: "wx" })
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Adds the server to a client's file, with a backup of the previous file next to it. */
export const install = (client: Client, file: string, name: string, entry: ServerEntry) =>
  Effect.try({
    try: (): Installed => {
      const text = readIfThere(file)
      const target = text === undefined ? file : realpathSync(file)
      const merged = withServer(client, text ?? "", name, entry)
      mkdirSync(dirname(target), { recursive: true })
      const backup =
        text === undefined ? undefined : `${target}.before-max-${new Date().toISOString().replaceAll(":", "-")}`
      if (backup !== undefined) copyFileSync(target, backup)
      replace(target, merged)
      return { file: target, backup }
    },
    catch: (error) =>
      error instanceof OperatorError
        ? error
        : OperatorError.of(`${quoted(file)} can't be written: ${(error as NodeJS.ErrnoException).code ?? "unknown"}.`)
  })

/** Restores the client's previous file. */
export const undo = ({ backup, file }: Installed) =>
  Effect.sync(() => (backup === undefined ? rmSync(file, { force: true }) : renameSync(backup, file)))

/** Starts the server as the client will, and returns the number of its tools and the names of the visible types. */
export const tryOut = Effect.fnUntraced(
  function* ({ args, command, env }: ServerEntry) {
    const transport = yield* McpClient.stdio({
      command: ChildProcess.make(command, args, { env, extendEnv: true, stderr: "inherit" }),
      protocol: McpProtocol.v2025_11_25
    })
    const client = yield* Effect.provideService(
      McpClient.make({ name: "max", version, timeout: "30 seconds" }),
      McpClient.Transport,
      transport
    )
    const tools = yield* client.listTools()
    const tool = tools.find(({ name }) => name === "listEntityTypes")
    if (tool === undefined) return yield* NO_ANSWER
    const { content } = yield* client.callTool({ tool }, { timeout: "30 seconds" })
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
    return {
      tools: tools.length,
      types: text
        .split("\n")
        .slice(1)
        .map((line) => line.split("\t")[2] ?? line)
    }
  },
  Effect.scoped,
  Effect.catchTag("McpClientError", () => NO_ANSWER)
)

const NO_ANSWER = Effect.fail(
  OperatorError.of("The server that the client would start doesn't respond; its output is above.")
)
