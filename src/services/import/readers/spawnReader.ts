/**
 * Starts the process that reads a spreadsheet, and sends it one request at a time. A worker thread that runs out of
 * memory can abort the whole process; a child process ends alone.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { quoted } from "../../../domain/text.ts"
import { DAMAGED, TOO_LARGE, Unreadable } from "./Unreadable.ts"

/** Opens a spreadsheet at a sheet, by name or by number from 1; then asks for rows of it. */
export type ReaderRequest =
  | { readonly bytes: Uint8Array; readonly sheet: string | number }
  | { readonly from: number; readonly count: number }

interface OpenedSheet {
  readonly sheet: string
  /** How many rows it has. */
  readonly count: number
}

interface SheetRows {
  readonly rows: ReadonlyArray<ReadonlyArray<string | null>>
}

interface ReaderError {
  /** The name of the error that reading ended with. */
  readonly error: string
  readonly sheets: ReadonlyArray<string>
}

export type ReaderResponse = OpenedSheet | SheetRows | ReaderError

export interface Reader {
  readonly open: (bytes: Uint8Array, sheet: string | number) => Promise<OpenedSheet>
  readonly rows: (from: number, count: number) => Promise<SheetRows["rows"]>
  readonly end: () => void
}

/** Beside this file in the sources, in `dist/lib`, and in the bundle. */
const ENTRY = fileURLToPath(new URL("./readerProcess.js", import.meta.url))
const HEAP_MB = 1024

export const spawnReader = (): Reader => {
  const child = fork(ENTRY, {
    env: {},
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })
  // A pending request listens for errors itself; between requests only the exit counts.
  child.on("error", () => {})
  // Only a pending request keeps the importing process running.
  child.unref()
  child.channel?.unref()
  const request = async <Response extends ReaderResponse>(message: ReaderRequest) => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Unreadable(TOO_LARGE)
    const settled = new AbortController()
    child.ref()
    child.channel?.ref()
    try {
      const answer = once(child, "message", settled)
      const exit = once(child, "exit", settled).then(() => Promise.reject(new Unreadable(TOO_LARGE)))
      child.send(message, () => {})
      const [response] = (await Promise.race([answer, exit])) as [Response | ReaderError]
      if ("error" in response) throw new Unreadable(problemOf(response))
      return response
    } finally {
      settled.abort()
      child.unref()
      child.channel?.unref()
    }
  }
  return {
    open: (bytes, sheet) => request<OpenedSheet>({ bytes, sheet }),
    rows: async (from, count) => (await request<SheetRows>({ from, count })).rows,
    end: () => void child.kill("SIGKILL")
  }
}

const problemOf = ({ error, sheets }: ReaderError): string =>
  error === "SheetNotFoundError"
    ? `there is no sheet of that name. It has: ${sheets.slice(0, 20).map(quoted).join(", ")}.`
    : DAMAGED
