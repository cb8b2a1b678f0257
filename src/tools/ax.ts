/**
 * The three tools for your own Ax programs: functions that validate their input and never throw, and a ready program.
 * Max's own turns do not run on Ax's loop.
 */
import { ax, type AxFunction } from "@ax-llm/ax"
import type { ToolCaller } from "./caller.ts"
import { toolDefinitions } from "./definitions.ts"
import { SYSTEM_PROMPT } from "./prompt.ts"

/** The three tools as Ax functions; a failed call returns a message that the model can read. */
export const axFunctions = (call: ToolCaller): Array<AxFunction> =>
  toolDefinitions.map(({ description, inputSchema, name }) => ({
    name,
    description,
    parameters: inputSchema as NonNullable<AxFunction["parameters"]>,
    func: async (input?: unknown): Promise<string> => (await call(name, input ?? {})).text
  }))

export {
  type ActionCaller,
  actionSignature,
  type Filled,
  fillActions,
  type FilledAction,
  type FilledField,
  type Resolution
} from "./axActions.ts"

const MAX_STEPS = 6

/** An Ax program from a question, with the context as JSON, to a reply. It has neither the guards nor the budgets of a turn. */
export const maxProgram = (call: ToolCaller) => {
  const program = ax('question:string, context?:json "who asks, today, what can be looked up" -> reply:string', {
    functions: axFunctions(call),
    maxSteps: MAX_STEPS
  })
  program.setInstruction(SYSTEM_PROMPT)
  return program
}
