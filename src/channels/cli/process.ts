/** From an effect to a process: signals interrupt it, its number is the exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Exit } from "effect"
import { run } from "./run.ts"

export const start = (args: ReadonlyArray<string>): void =>
  NodeRuntime.runMain(run(args), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? Number(exit.value) : 130)
  })
