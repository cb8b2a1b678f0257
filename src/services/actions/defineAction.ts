/** Actions of a program that embeds Max: their fields are made from a schema, and a function carries them out. */
import { Data, type Effect, type Schema } from "effect"
import type { Confirmation } from "../../domain/Action.ts"
import type { DeclaredAction } from "../../domain/DeclaredAction.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { InvalidInput } from "../../domain/errors.ts"
import { PolicyProblems } from "../../permissions/PolicyProblems.ts"
import { checkInverse } from "./checkInverse.ts"
import { fieldsOf } from "./fieldsOf.ts"
import { type ActionsReading, readAction } from "./readActions.ts"

/** Not done: the reason is shown to people who see the change. */
export class ActionRefused extends Data.TaggedError("ActionRefused")<{ readonly message: string }> {}

/** Not done yet: it is run again, after so many seconds if they are given. */
export class ActionDelayed extends Data.TaggedError("ActionDelayed")<{ readonly seconds?: number | undefined }> {}

/** What a function is told beside its values. */
export interface Deed {
  /** The same for each attempt, and another one for each step of each change. */
  readonly idempotencyKey: string
  /** The id of the entity in People who confirmed it. */
  readonly person: string
  /** From 1. */
  readonly attempt: number
}

/** Texts, numbers and booleans of a result are shown. */
type ActionResult = Readonly<Record<string, unknown>> | void

/** What a program says of an action. */
export interface ActionOptions<Input> {
  readonly slug: string
  /** What people read; by default the slug in words. */
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly category: DeclaredAction["category"]
  /** The least confirmation; a policy only raises it. */
  readonly confirm?: Confirmation | undefined
  /** A flat struct of texts, numbers, booleans, lists of texts and lists of structs of these. */
  readonly input: Schema.Decoder<Input>
  readonly limits?: DeclaredAction["limits"] | undefined
  /** Seconds that the function has (10). */
  readonly seconds?: number | undefined
  /** The most runs (5). */
  readonly attempts?: number | undefined
  /** Whether the function does nothing again for a key that it knows. Otherwise, what may have been done is never run again. */
  readonly idempotent?: boolean | undefined
  /** Which action of the program takes this one back, and where each of its fields has its value from. */
  readonly inverse?: DeclaredAction["inverse"] | undefined
  readonly run: (values: Input, deed: Deed) => Effect.Effect<ActionResult, unknown> | Promise<ActionResult>
}

export interface ActionDefinition {
  readonly slug: string
  readonly input: Schema.Decoder<unknown>
  readonly run: (values: unknown, deed: Deed) => Effect.Effect<unknown, unknown> | Promise<unknown>
  /** @internal */
  readonly read: (catalog: Catalog, path: string, problems: PolicyProblems) => DeclaredAction
}

/** An action of this program. Throws InvalidInput for a schema that people can't fill in. */
export const defineAction = <Input>(options: ActionOptions<Input>): ActionDefinition => {
  const {
    attempts = 5,
    category,
    confirm,
    idempotent = false,
    input,
    inverse,
    limits,
    run,
    seconds = 10,
    slug
  } = options
  const fields = fieldsOf(input)
  for (const [name, value, most] of [
    ["seconds", seconds, 60],
    ["attempts", attempts, 20]
  ] as const)
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw InvalidInput.of(`${name} must be a whole number from 1 to ${most}.`)
  if (typeof run !== "function") throw InvalidInput.of("run must be a function.")
  const name = options.name ?? `${slug.slice(0, 1).toUpperCase()}${slug.slice(1).replaceAll("_", " ")}`
  const file = {
    slug,
    name,
    description: options.description ?? `${name}.`,
    category,
    fields,
    ...(confirm === undefined ? {} : { confirm }),
    ...(limits === undefined ? {} : { limits }),
    ...(inverse === undefined ? {} : { inverse })
  }
  return {
    slug,
    input,
    run: run as ActionDefinition["run"],
    read: (catalog, path, problems) =>
      readAction(file, () => ({ _tag: "Code", seconds, attempts, idempotent }), path, catalog, problems)
  }
}

/** The actions that a program declares, of version 0. */
export const readDefinitions = (definitions: ReadonlyArray<ActionDefinition>, catalog: Catalog): ActionsReading => {
  const problems = new PolicyProblems()
  const actions = definitions.map((one, at) => one.read(catalog, `actions[${at}]`, problems))
  for (const [at, { slug }] of actions.entries())
    if (actions.findIndex((one) => one.slug === slug) < at)
      problems.report(`actions[${at}].slug`, `Duplicate action "${slug}".`)
  for (const [at, action] of actions.entries()) checkInverse(action, actions, `actions[${at}].inverse`, problems)
  return problems.count > 0 ? { problems: problems.list } : { actions }
}
