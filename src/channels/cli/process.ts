/** From an effect to a process: signals interrupt it, its number is the exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Exit } from "effect"
import { run } from "./run.ts"

export const start = (args: ReadonlyArray<string>): void => {
  // A reader that has seen enough (max … | head) closes the pipe: what comes after goes nowhere, and the program still
  // ends in order, so that nothing it started is left running.
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
