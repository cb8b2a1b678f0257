/**
 * The fourth tool: it drafts a change for the person to confirm, or says what an action takes. No tool confirms. It is offered
 * beside the three to callers who may change something.
 */
import { Context, Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import type { Action, Confirmation } from "../domain/Action.ts"
import { stricter } from "../domain/Action.ts"
import type { Preview } from "../domain/Change.ts"
import { READ } from "../domain/DeclaredAction.ts"
import { InvalidInput, Unclear } from "../domain/errors.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import { quoted } from "../domain/text.ts"
import type { Changes, OpenAction, Via } from "../services/changes/Changes.ts"
import type { Pointer } from "../services/changes/writePointers.ts"
import type { ToolOutcome } from "./call.ts"
import { compactSchema, toolDefinitions, type ToolDefinition } from "./definitions.ts"
import { describeIssue } from "./describeIssue.ts"
import { renderDraft, renderRead, renderTakes } from "./renderChange.ts"

const { optionalKey } = Schema

const ActionRequest = Schema.Struct({
  actionId: Schema.String,
  entityIds: optionalKey(Schema.Array(Schema.String)),
  values: optionalKey(Schema.Array(Schema.String).annotate({ description: "columnId=value" }))
})

export const CHANGE_TOOL = "requestAction"

const RequestAction = Tool.make(CHANGE_TOOL, {
  description:
    "Drafts a change for the person to confirm; nothing is changed before. Without values it says what the action takes",
  parameters: ActionRequest,
  dependencies: [CurrentPrincipal]
}).annotateMerge(
  Context.empty().pipe(
    Context.add(Tool.Readonly, false),
    Context.add(Tool.Destructive, false),
    Context.add(Tool.Idempotent, true),
    Context.add(Tool.OpenWorld, false)
  )
)

/** The definitions for a caller who may change something: the three, byte for byte, and the fourth. */
export const changeDefinitions: ReadonlyArray<ToolDefinition> = [
  ...toolDefinitions,
  {
    name: RequestAction.name,
    description: RequestAction.description ?? "",
    inputSchema: compactSchema(Tool.getJsonSchema(RequestAction))
  }
]

/** The definition of the fourth tool alone. */
export const changeDefinition = changeDefinitions[changeDefinitions.length - 1]!

const decode = Schema.decodeUnknownResult(ActionRequest, { onExcessProperty: "error" })

/** A value as the model writes it, parted at the first `=`. */
export interface SetValue {
  readonly columnId: string
  readonly value: string
}

/** A value that is filled in with what an earlier call of the same answer is answered. */
const POINTER = /^@([a-z][a-z0-9_]*)\.(.+)$/

/** What a draft may be made of: `atLeast` raises its confirmation, `notes` stand on its card. */
export type Judged =
  | { readonly _tag: "Passes"; readonly atLeast?: Confirmation; readonly notes?: ReadonlyArray<string> }
  | { readonly _tag: "Refused"; readonly message: string }

export interface DraftsOptions {
  readonly changes: Changes["Service"]
  readonly via: Via
  readonly sessionId: string
  readonly reference: string
  /** The actions that are open to the caller. */
  readonly actions: ReadonlyArray<OpenAction>
  /** Judges a request before it is proposed. */
  readonly judge: (action: OpenAction, entityIds: ReadonlyArray<string>, values: ReadonlyArray<SetValue>) => Judged
}

/** A change that this answer has drafted. */
interface Drafted {
  readonly changeId: string
  readonly preview: Preview
}

const needs = (message: string, unavailable = false): ToolOutcome => ({
  text: unavailable ? message : `needs: ${message}`,
  failed: true,
  unavailable
})

/** What a request asks for. */
export interface RequestedStep {
  readonly actionId: string
  readonly entityIds: ReadonlyArray<string>
  readonly values: ReadonlyArray<SetValue>
}

/** Reads a call of the tool: its step and the open action, or the outcome that says what the action takes or what is wrong. */
export const readRequest = (
  input: unknown,
  actions: ReadonlyArray<OpenAction>
): ToolOutcome | { readonly step: RequestedStep; readonly open: OpenAction | undefined } => {
  const decoded = decode(input)
  if (decoded._tag === "Failure") return needs(describeIssue(decoded.failure.issue))
  const { actionId, entityIds = [], values = [] } = decoded.success
  const open = actions.find(({ action }) => action.slug === actionId)
  const op = open?.type === undefined ? undefined : open.action.executor.op
  const takesNothing = open?.type === undefined && open?.action.fields.length === 0
  if (open !== undefined && !takesNothing && (op === "delete" ? entityIds.length === 0 : values.length === 0))
    return { text: renderTakes(open), failed: false, unavailable: false, value: {} }
  const malformed = values.find((value) => value.indexOf("=") < 1)
  if (malformed !== undefined) return needs(`Write a value as columnId=value, not ${quoted(malformed)}.`)
  const set = values.map((value): SetValue => {
    const end = value.indexOf("=")
    return { columnId: value.slice(0, end).trim(), value: value.slice(end + 1).trim() }
  })
  return { step: { actionId, entityIds, values: set }, open }
}

/** The failures of a proposal or a decision as outcomes that a model can read. */
export const asOutcome = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A | ToolOutcome, never, R> =>
  Effect.catch(effect, (error) => {
    if (error._tag === "Unavailable") return Effect.succeed(needs(error.message, true))
    if (!(error instanceof Unclear)) return Effect.succeed(needs(error.message))
    const { choices, message } = error
    return Effect.succeed({
      text: [`needs: ${message}`, ...choices.map(({ id, name }) => `${name}\t${id}`)].join("\n"),
      failed: false,
      unavailable: false,
      // What a name begins with is no secret id, such as the number of an item.
      value: { choices: choices.map(({ id, name }) => (name.startsWith(id) ? { value: id, name } : { id, name })) }
    } satisfies ToolOutcome)
  })

/** An action with the values that the person has said. */
interface RequestedForm {
  readonly actionId: string
  readonly values: Readonly<Record<string, string>>
}

/** Whether an action has a form: it changes something, and takes no rows. */
const hasForm = ({ action, type }: OpenAction): boolean =>
  type === undefined ? action.category !== READ : (action as Action).executor.op === "create"

/** A value whose draft would say where it comes from isn't filled in: submitted, it would be the person's own. */
const formOf = (
  { actionId, values }: RequestedStep,
  { atLeast, notes = [] }: Extract<Judged, { _tag: "Passes" }>
): RequestedForm => ({
  actionId,
  values:
    atLeast === undefined && notes.length === 0
      ? Object.fromEntries(values.map(({ columnId, value }) => [columnId, value]))
      : {}
})

/** The drafts of one answer, in call order: all of them are one change, unless a part was proposed before. */
export class Drafts {
  readonly options: DraftsOptions
  readonly #drafted: Array<Drafted> = []
  #atLeast: Confirmation = "none"
  /** The last request that lacked something. */
  #lacking: RequestedForm | undefined
  readonly notes: Array<string> = []

  constructor(options: DraftsOptions) {
    this.options = options
  }

  get changes(): ReadonlyArray<Drafted> {
    return this.#drafted
  }

  /** The form of what was asked for and lacks values; undefined when something was drafted, or for what has no form. */
  get form(): RequestedForm | undefined {
    const open = this.options.actions.find(({ action }) => action.slug === this.#lacking?.actionId)
    return this.#drafted.length === 0 && open !== undefined && hasForm(open) ? this.#lacking : undefined
  }

  /** Forgets the drafts, so that none is opened. */
  clear(): void {
    this.#drafted.length = 0
  }

  /** Answers a call of the tool. Calls of one answer must not overlap. */
  readonly request = (input: unknown): Effect.Effect<ToolOutcome, never, CurrentPrincipal> => {
    const read = readRequest(input, this.options.actions)
    if ("text" in read) {
      // What an action takes was asked for.
      if (!read.failed) this.#lacking = { actionId: (input as RequestedForm).actionId, values: {} }
      return Effect.succeed(read)
    }
    // An action that isn't open is refused by the service, in the same words as one that doesn't exist.
    const { open, step } = read
    // The person can't have said what an earlier call will be answered: the card says where it comes from.
    const said = step.values.filter(({ value }) => this.#pointerOf(value) === undefined)
    const judged: Judged = open === undefined ? { _tag: "Passes" } : this.options.judge(open, step.entityIds, said)
    if (judged._tag === "Refused") return Effect.succeed(needs(judged.message))
    return open?.action.category === READ ? this.#read(step) : this.#propose(step, judged)
  }

  get #last(): Drafted | undefined {
    return this.#drafted.findLast(({ preview }) => preview.state === "drafted")
  }

  /** What `@action.Result` points at: the answer to the latest drafted call of that action. */
  readonly #pointerOf = (value: string): Pointer | undefined => {
    const [, actionId, result] = POINTER.exec(value) ?? []
    const step = this.#last?.preview.steps.findLastIndex((one) => one.actionId === actionId && one.call !== undefined)
    return result === undefined || step === undefined || step < 0 ? undefined : { step, result }
  }

  readonly #read = Effect.fnUntraced(function* (this: Drafts, step: RequestedStep) {
    const read = yield* asOutcome(this.options.changes.read(step))
    if ("text" in read) return read
    const text = renderRead(read)
    return { text, failed: false, unavailable: false, value: { read: read.rows } } satisfies ToolOutcome
  })

  readonly #propose = Effect.fnUntraced(function* (
    this: Drafts,
    step: RequestedStep,
    judged: Extract<Judged, { _tag: "Passes" }>
  ) {
    const { changes, reference, sessionId, via } = this.options
    const last = this.#last
    const atLeast = stricter(this.#atLeast, judged.atLeast ?? "none")
    const proposed = yield* changes
      .propose({
        steps: [
          {
            ...step,
            values: step.values.map(({ columnId, value }) => ({ columnId, value: this.#pointerOf(value) ?? value }))
          }
        ],
        via,
        drafted: true,
        sessionId,
        reference,
        atLeast,
        ...(last === undefined ? {} : { continues: last.changeId })
      })
      .pipe(
        Effect.tapError((error) =>
          Effect.sync(() => {
            const isLacking =
              error instanceof Unclear || (error instanceof InvalidInput && error.problems !== undefined)
            if (isLacking) this.#lacking = formOf(step, judged)
          })
        ),
        asOutcome
      )
    if ("text" in proposed) return proposed
    this.#atLeast = atLeast
    this.notes.push(...(judged.notes ?? []).filter((note) => !this.notes.includes(note)))
    const { changeId, preview } = proposed
    const index = this.#drafted.findIndex((one) => one === last || one.changeId === changeId)
    this.#drafted.splice(index < 0 ? this.#drafted.length : index, 1, { changeId, preview })
    return {
      text: renderDraft(changeId, preview, this.options.actions),
      failed: false,
      unavailable: false,
      value: { steps: preview.steps }
    } satisfies ToolOutcome
  })
}
