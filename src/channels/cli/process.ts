/** Process entry of the command line: signals interrupt the running effect, whose result is the exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Exit } from "effect"
import { run } from "./run.ts"

export const start = (args: ReadonlyArray<string>): void => {
  // Ignore EPIPE when a reader such as `head` closes the pipe, so that the program still shuts down its resources.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
    })
  }
  NodeRuntime.runMain(run(args), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? Number(exit.value) : Number(process.exitCode ?? 130))
  })
}
