/** The process: runs the command line and ends with its exit code. */
import { version } from "./version.ts"

const args = process.argv.slice(2)

// The version is asked for by scripts, often: it doesn't wait for everything else to load.
if (args.length === 1 && args[0] === "--version") {
  process.stdout.write(`max v${version}\n`)
} else {
  const { start } = await import("./channels/cli/process.ts")
  start(args)
}
