// A process that has loaded the built command line and runs one command after another, because loading takes longer than most
// commands. Each command gets its own arguments and environment, and ends as a process does: by its exit code, or with an empty event loop.
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

const program = process.argv[2] ?? ""
const entry = readdirSync(dirname(program)).find((name) => /^process-.*\.js$/.test(name)) ?? ""
const { start } = await import(pathToFileURL(join(dirname(program), entry)).href)

/** How long a command that has failed may take to close what it opened, in milliseconds. */
const CLOSING = 5000
class Exited extends Error {}

let text = { stdout: "", stderr: "" }
for (const name of /** @type {const} */ (["stdout", "stderr"])) {
  process[name].setMaxListeners(0)
  process[name].write = (
    /** @type {string | Uint8Array} */ chunk,
    /** @type {unknown} */ encoding,
    done = encoding
  ) => {
    text[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()
    if (typeof done === "function") process.nextTick(done)
    return true
  }
}

/** @type {string | number | null | undefined} */
let exited
/** @type {NodeJS.Timeout | undefined} */
let closing
const exit = process.exit
process.exit = (code = process.exitCode ?? 0) => {
  exited ??= code
  // An event loop that doesn't empty would disturb the next command: this process is replaced.
  closing = setTimeout(() => answer(false), CLOSING).unref()
  throw new Exited()
}
process.on("uncaughtException", (error) => {
  if (error instanceof Exited) return
  text.stderr += String(error.stack)
  exited ??= 1
  answer(false)
})

let running = false
const answer = (/** @type {boolean} */ isReusable) => {
  if (!running) return
  running = false
  clearTimeout(closing)
  process.channel?.ref()
  process.send?.({ code: exited ?? process.exitCode ?? 0, ...text, isReusable })
}
process.on("beforeExit", () => answer(true))
process.on("disconnect", () => exit(0))
process.on("message", (/** @type {{ args: Array<string>, env: NodeJS.ProcessEnv }} */ { args, env }) => {
  text = { stdout: "", stderr: "" }
  exited = undefined
  process.exitCode = undefined
  process.env = env
  process.argv = [process.execPath, program, ...args]
  running = true
  process.channel?.unref()
  setImmediate(start, args)
})
