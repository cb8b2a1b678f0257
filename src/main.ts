/** The process entry point: runs the command line and exits with its code. */
import { version } from "./version.ts"

const args = process.argv.slice(2)

// Scripts call --version often, so it skips loading everything else.
if (args.length === 1 && args[0] === "--version") {
  process.stdout.write(`max v${version}\n`)
} else {
  const { start } = await import("./channels/cli/process.ts")
  start(args)
}
