/**
 * Starts the process that reads a spreadsheet, and sends it one request at a time. A worker thread that runs out of
 * memory can abort the whole process; a child process ends alone, and the system limits its memory and CPU time.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createReadStream, lstatSync, readlinkSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { quoted } from "../../../domain/text.ts"
import { DAMAGED, TOO_COMPLEX, TOO_LARGE, Unreadable } from "./Unreadable.ts"

/** Opens the spreadsheet on standard input at a sheet, by name or by number from 1; then asks for rows of it. */
export type ReaderRequest = { readonly sheet: string | number } | { readonly from: number; readonly count: number }

interface OpenedSheet {
  readonly sheet: string
  /** How many rows it has. */
  readonly count: number
  /** How many columns it has. */
  readonly width: number
}

interface SheetRows {
  /** Fewer than asked for if they are long; null for a row that exceeds the limit of a response. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | null> | null>
}

interface ReaderError {
  /** The name of the error that reading ended with. */
  readonly error: string
  readonly sheets: ReadonlyArray<string>
}

export type ReaderResponse = OpenedSheet | SheetRows | ReaderError

export interface Reader {
  readonly open: (path: string, sheet: string | number) => Promise<OpenedSheet>
  readonly rows: (from: number, count: number) => Promise<SheetRows["rows"]>
  readonly end: () => void
}

/** Beside this file in the sources, in `dist/lib`, and in the bundle. */
const ENTRY = fileURLToPath(new URL("./readerProcess.js", import.meta.url))
const LIMITS = {
  heapMb: 1024,
  dataMb: 3072,
  cpuSeconds: 60,
  /** For platforms without a limit of CPU time. */
  requestMs: 10 * 60_000
}

/** No core file; CPU time; memory. Without effect on systems that don't know a limit, where the heap's limit remains. */
const limited = ({ cpuSeconds, dataMb }: typeof LIMITS) =>
  `ulimit -c 0; ulimit -t ${cpuSeconds}; ulimit -d ${dataMb * 1024} 2>/dev/null; exec "$0" "$@"`

/** The folders that the reader may read: its own, and those of its packages. */
const readable = (): ReadonlyArray<string> => {
  const own = realpathSync(dirname(ENTRY))
  const packages: Array<string> = []
  try {
    let from = ENTRY
    for (const name of ["read-excel-file", "fflate"]) {
      from = createRequire(from).resolve(`${name}/package.json`)
      packages.push(dirname(realpathSync(from)))
    }
  } catch {
    // The bundle contains its packages.
  }
  // Node looks at each link of a module's path itself, one after the other.
  const links: Array<string> = []
  const follow = (path: string) => {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return
    links.push(path)
    follow(resolve(dirname(path), readlinkSync(path)))
  }
  for (let folder = own; folder !== dirname(folder); folder = dirname(folder)) {
    follow(join(folder, "node_modules"))
    follow(join(folder, "node_modules", "read-excel-file"))
  }
  return [...links, ...[own, ...packages].map((path) => join(path, "/"))]
}

const flags = (heapMb: number): ReadonlyArray<string> => {
  const permission = ["--permission", "--experimental-permission"].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag)
  )
  return [
    "--no-warnings",
    `--max-old-space-size=${heapMb}`,
    "--disallow-code-generation-from-strings",
    ...(permission === undefined ? [] : [permission, ...readable().map((path) => `--allow-fs-read=${path}`)])
  ]
}

export const spawnReader = (change: Partial<typeof LIMITS> = {}): Reader => {
  const limits = { ...LIMITS, ...change }
  const shell = process.platform === "win32" ? undefined : "/bin/sh"
  const child = fork(ENTRY, {
    env: {},
    ...(shell === undefined ? {} : { execPath: shell }),
    execArgv: [...(shell === undefined ? [] : ["-c", limited(limits), process.execPath]), ...flags(limits.heapMb)],
    serialization: "advanced",
    stdio: ["pipe", "ignore", "ignore", "ipc"]
  })
  // A pending request listens for errors itself; between requests only the exit counts.
  child.on("error", () => {})
  // Only a pending request keeps the importing process running.
  child.unref()
  child.channel?.unref()
  const request = async <Response extends ReaderResponse>(message: ReaderRequest, file?: string) => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Unreadable(TOO_COMPLEX)
    const settled = new AbortController()
    child.ref()
    child.channel?.ref()
    const overdue = setTimeout(() => child.kill("SIGKILL"), limits.requestMs)
    try {
      const answer = once(child, "message", settled)
      const exit = once(child, "exit", settled).then(() => Promise.reject(new Unreadable(TOO_COMPLEX)))
      child.send(message, () => {})
      const sent =
        file === undefined
          ? answer
          : pipeline(createReadStream(file), child.stdin!).then(
              () => answer,
              // The process ended, or answered before it had read everything.
              (error) =>
                "code" in error && /EPIPE|PREMATURE|RESET/.test(String(error.code)) ? answer : Promise.reject(error)
            )
      const [response] = (await Promise.race([answer, sent, exit])) as [Response | ReaderError]
      if ("error" in response) throw new Unreadable(problemOf(response))
      return response
    } finally {
      clearTimeout(overdue)
      settled.abort()
      child.unref()
      child.channel?.unref()
    }
  }
  return {
    open: (path, sheet) => request<OpenedSheet>({ sheet }, path),
    rows: async (from, count) => (await request<SheetRows>({ from, count })).rows,
    end: () => void child.kill("SIGKILL")
  }
}

const problemOf = ({ error, sheets }: ReaderError): string => {
  switch (error) {
    case "SheetNotFoundError":
      return `there is no sheet of that name. It has: ${sheets.map(quoted).join(", ")}.`
    case "TooLarge":
      return TOO_LARGE
    // An allocation that the limits refuse.
    case "RangeError":
      return TOO_COMPLEX
    default:
      return DAMAGED
  }
}
