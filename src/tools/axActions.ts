/**
 * Actions for Ax programs: a typed signature for each, and a program that fills several from one text. The model only reads the
 * text; code says how each field was resolved, and what is complete becomes one draft through the person's own changes.
 */
import { ax, type AxAIService, AxSignature } from "@ax-llm/ax"
import { isJsonObject } from "../domain/json.ts"
import { foldText } from "../domain/keys.ts"
import type { Draft, FieldChoices, FormField, OpenAction, Step } from "../wire/changes.ts"

/** The changes of one person, as `max.as(proof)` has them. */
export interface ActionCaller {
  readonly actions: () => Promise<ReadonlyArray<OpenAction>>
  readonly choices: (
    actionId: string,
    asked: { readonly field: string; readonly text: string; readonly values?: Readonly<Record<string, string>> }
  ) => Promise<FieldChoices["choices"]>
  readonly propose: (steps: ReadonlyArray<Step>) => Promise<Pick<Draft, "changeId">>
}

/** How code resolved what the text says for a field. */
export type Resolution = "exact" | "only match" | "several" | "none"

export interface FilledField {
  readonly field: string
  /** The text as it was said. */
  readonly said?: string
  readonly resolution: Resolution
  /** Of `several`: what it may stand for. */
  readonly choices?: FieldChoices["choices"]
}

export interface FilledAction {
  readonly actionId: string
  readonly fields: ReadonlyArray<FilledField>
  /** Whether the draft has it. */
  readonly drafted: boolean
}

export interface Filled {
  readonly actions: ReadonlyArray<FilledAction>
  /** What the text says beside. */
  readonly unhandledContent: string
  /** The draft of all complete actions, which a person confirms. */
  readonly changeId?: string
  /** Why there is none, though something is complete. */
  readonly refused?: string
}

/** Ax refuses generic names such as `text`, so each has an ending. */
const ENDING = "_value"
const MAX_REQUESTS = 20

const typeOf = ({ kind, values }: FormField) => {
  if (values !== undefined && kind !== "list") return { name: "class" as const, options: [...values] }
  if (kind === "number" || kind === "integer") return { name: "number" as const }
  if (kind === "boolean" || kind === "date") return { name: kind } as const
  return kind === "list" ? { name: "string" as const, isArray: true } : { name: kind === "group" ? ("json" as const) : ("string" as const) } // prettier-ignore
}

/** The typed signature of an action: from a message to its fields, each of which the message may lack. */
export const actionSignature = ({ description, fields }: OpenAction): AxSignature => {
  const signature: AxSignature = AxSignature.create("personMessage:string -> unhandledContent?:string")
  signature.setDescription(description)
  for (const field of fields) {
    const { description: said = field.name, fields: inner = [], slug } = field
    const about = inner.length === 0 ? said : `${said}; a list of {${inner.map((one) => one.slug).join(", ")}}`
    signature.addOutputField({ name: `${slug}${ENDING}`, description: about, type: typeOf(field), isOptional: true })
  }
  return signature
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim()
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (!Array.isArray(value)) return undefined
  return value.every((one) => typeof one === "string") ? value.join("; ") : JSON.stringify(value)
}

/** What the model read: known actions with the texts of known fields. Everything else, such as a confidence, is dropped. */
const readRequests = (given: unknown, actions: ReadonlyArray<OpenAction>) =>
  (Array.isArray(given) ? given : []).slice(0, MAX_REQUESTS).flatMap((one: unknown) => {
    if (!isJsonObject(one)) return []
    const action = actions.find(({ id }) => id === one["actionId"])
    const values = one["values"]
    if (action === undefined || !isJsonObject(values)) return []
    const said: Record<string, string> = {}
    for (const { slug } of action.fields) {
      const text = textOf(values[`${slug}${ENDING}`] ?? values[slug])
      if (text !== undefined) said[slug] = text
    }
    return [{ action, said }]
  })

const resolveField = async (
  { chosen, slug }: FormField,
  actionId: string,
  values: Readonly<Record<string, string>>,
  person: ActionCaller
): Promise<FilledField & { readonly value?: string }> => {
  const said = values[slug]
  if (said === undefined) return { field: slug, resolution: "none" }
  if (chosen !== true) return { field: slug, said, resolution: "exact", value: said }
  const found = await person.choices(actionId, { field: slug, text: said, values })
  const exact = found.filter(({ name, value }) => value === said || foldText(name) === foldText(said))
  const [one] = exact.length === 1 ? exact : found.length === 1 ? found : []
  if (one !== undefined)
    return { field: slug, said, resolution: exact.length === 1 ? "exact" : "only match", value: one.value }
  return found.length === 0 ? { field: slug, said, resolution: "none" } : { field: slug, said, resolution: "several", choices: found } // prettier-ignore
}

/** A field after those that it lies within, which its choices need. */
const inOrder = (fields: ReadonlyArray<FormField>): ReadonlyArray<FormField> => [
  ...fields.filter(({ chosen }) => chosen !== true),
  ...fields.filter(({ chosen, within }) => chosen === true && within === undefined),
  ...fields.filter(({ chosen, within }) => chosen === true && within !== undefined)
]

/** Whether an action can be filled in: it changes something, and takes no rows. */
const isFillable = ({ category, entityTypeId, id }: OpenAction): boolean =>
  entityTypeId === undefined ? category !== "read" : id.endsWith(".create")

/** A program that fills several actions from one text. It drafts what is complete, and confirms nothing. */
export const fillActions = (person: ActionCaller) => ({
  forward: async (model: AxAIService, text: string): Promise<Filled> => {
    const actions = (await person.actions()).filter(isFillable)
    const program = ax(
      'personMessage:string, availableActions:json "each with its signature" -> requests:json "a list of {actionId, values}: values by output field, only what the message says; one entry for each thing that is asked for", unhandledContent?:string "what the message asks for beside"'
    )
    const availableActions = actions.map((action) => ({
      actionId: action.id,
      signature: actionSignature(action).toString(),
      needed: action.fields.flatMap(({ needed, slug }) => (needed ? [`${slug}${ENDING}`] : []))
    }))
    const answer = await program.forward(model, { personMessage: text, availableActions }, { stream: true })
    const filled: Array<FilledAction> = []
    const steps: Array<Step> = []
    for (const { action, said } of readRequests(answer["requests"], actions)) {
      const values = { ...said }
      const fields: Array<FilledField> = []
      for (const field of inOrder(action.fields)) {
        const { value, ...resolved } = await resolveField(field, action.id, values, person)
        if (value !== undefined) values[field.slug] = value
        if (resolved.said !== undefined || field.needed) fields.push(resolved)
      }
      const isComplete = fields.every(({ field, resolution }) =>
        resolution === "none"
          ? action.fields.some(({ default: standard, slug }) => slug === field && standard !== undefined && said[slug] === undefined) // prettier-ignore
          : resolution !== "several"
      )
      if (isComplete) steps.push({ actionId: action.id, values })
      filled.push({ actionId: action.id, fields, drafted: isComplete })
    }
    const unhandledContent = textOf(answer["unhandledContent"]) ?? ""
    if (steps.length === 0) return { actions: filled, unhandledContent }
    try {
      const { changeId } = await person.propose(steps)
      return { actions: filled, unhandledContent, changeId }
    } catch (error) {
      const refused = error instanceof Error ? error.message : "It can't be drafted."
      return { actions: filled.map((one) => ({ ...one, drafted: false })), unhandledContent, refused }
    }
  }
})
