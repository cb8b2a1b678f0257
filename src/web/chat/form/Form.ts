/** The state of one form: what was filled in, what is wrong with it, and its proposal. */
import { batch, type Signal, signal } from "@preact/signals"
import type { Draft, FieldChoices, FormField, OpenAction } from "../../../wire/changes.ts"
import { Problem, type Request } from "../../shared/api.ts"
import { checkFields, type FieldProblem, type Values } from "./checkFields.ts"

export type Choice = FieldChoices["choices"][number]

/** A field of the form, or a field of a group's entry. */
export interface Place {
  readonly field: FormField
  /** `order`, or `items/0/quantity`. */
  readonly path: string
}

/** Attributes that every input of a field has. */
export interface Described {
  readonly id: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid"?: true
  readonly "aria-required"?: true
}

const startOf = (fields: ReadonlyArray<FormField>, given: Readonly<Record<string, string>>): Values =>
  Object.fromEntries(
    fields.map((field) => {
      const text = given[field.slug] ?? field.default ?? ""
      if (field.kind !== "group") return [field.slug, text]
      const entries = entriesOf(text)
      return [field.slug, entries.length > 0 ? entries : field.needed ? [{}] : []]
    })
  )

/** The entries of a group's text, which a model may have written. */
const entriesOf = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  try {
    const list: unknown = JSON.parse(text)
    if (!Array.isArray(list)) return []
    return list.map((entry: unknown) =>
      Object.fromEntries(Object.entries(entry ?? {}).map(([slug, value]) => [slug, String(value)]))
    )
  } catch {
    return []
  }
}

/** The row that a form changes, with its values as a form shows them. */
export interface FormRow {
  readonly id: string
  readonly values: Readonly<Record<string, string>>
  /** The entities that its references stand for, by field. */
  readonly chosen: Readonly<Record<string, Choice>>
}

export class Form {
  readonly action: OpenAction
  /** Undefined for a form that changes no row. */
  readonly row: FormRow | undefined
  readonly values: Signal<Values>
  readonly problems: Signal<ReadonlyArray<FieldProblem>> = signal([])
  /** A problem that belongs to no field. */
  readonly trouble = signal("")
  readonly busy = signal(false)
  /** Entities that the server offers for a field whose text fits several. */
  readonly offered: Signal<{ readonly field: string; readonly choices: ReadonlyArray<Choice> } | undefined> =
    signal(undefined)
  /** What was chosen for a field: its value is sent while the field shows its name. */
  readonly #chosen = new Map<string, Choice>()
  readonly #request: Request

  constructor(action: OpenAction, given: Readonly<Record<string, string>>, request: Request, row?: FormRow) {
    this.action = action
    this.row = row
    this.values = signal(startOf(action.fields, row?.values ?? given))
    for (const [slug, choice] of Object.entries(row?.chosen ?? {})) this.#chosen.set(slug, choice)
    this.#request = request
  }

  get(path: string): string {
    const [slug = "", at, inner = ""] = path.split("/")
    const value = this.values.value[slug]
    return (typeof value === "string" || value === undefined ? value : value[Number(at)]?.[inner]) ?? ""
  }

  set(path: string, text: string): void {
    const [slug = "", at, inner = ""] = path.split("/")
    const value = this.values.value[slug]
    const next =
      at === undefined || typeof value === "string" || value === undefined
        ? text
        : value.map((entry, index) => (index === Number(at) ? { ...entry, [inner]: text } : entry))
    this.#put(slug, next)
    this.problems.value = this.problems.value.filter(({ field }) => field !== path)
  }

  #put(slug: string, value: Values[string]): void {
    this.values.value = { ...this.values.value, [slug]: value }
  }

  entries(slug: string): ReadonlyArray<Readonly<Record<string, string>>> {
    const value = this.values.value[slug]
    return typeof value === "string" || value === undefined ? [] : value
  }

  addEntry(slug: string): void {
    this.#put(slug, [...this.entries(slug), {}])
  }

  removeEntry(slug: string, at: number): void {
    batch(() => {
      this.#put(
        slug,
        this.entries(slug).filter((_, index) => index !== at)
      )
      // Places of later entries have moved.
      this.problems.value = this.problems.value.filter(({ field }) => !field.startsWith(`${slug}/`))
    })
  }

  choose(path: string, choice: Choice): void {
    this.set(path, choice.name)
    this.#chosen.set(path, choice)
    if (this.offered.value?.field === path) this.offered.value = undefined
  }

  /** The texts that are sent, without empty ones. */
  #sent(): Record<string, string> {
    const sent: Record<string, string> = {}
    for (const [slug, value] of Object.entries(this.values.value)) {
      if (typeof value === "string") {
        const chosen = this.#chosen.get(slug)
        // Of a row, what was changed; an empty text empties the cell.
        if (this.row === undefined ? value.trim() !== "" : value !== (this.row.values[slug] ?? ""))
          sent[slug] = chosen?.name === value ? chosen.value : value
        continue
      }
      const entries = value.map((entry) =>
        Object.fromEntries(Object.entries(entry).filter(([, text]) => text.trim() !== ""))
      )
      if (entries.length > 0) sent[slug] = JSON.stringify(entries)
    }
    return sent
  }

  /** What can be chosen for a field, by a part of its name. */
  async choices(field: string, text: string): Promise<ReadonlyArray<Choice>> {
    const { [field]: _, ...values } = this.#sent()
    const path = `/v1/actions/${encodeURIComponent(this.action.id)}/choices`
    const response = await this.#request("POST", path, { field, text, values })
    return ((await response.json()) as FieldChoices).choices
  }

  /** Proposes what was filled in; the draft's id, or undefined when something is wrong. */
  async propose(): Promise<string | undefined> {
    if (this.busy.value) return undefined
    const problems = checkFields(this.action.fields, this.values.value)
    batch(() => {
      this.trouble.value = ""
      this.problems.value = problems
    })
    if (problems.length > 0) return undefined
    const { row } = this
    const values = this.#sent()
    if (row !== undefined && Object.keys(values).length === 0) {
      this.trouble.value = "Nothing is different yet."
      return undefined
    }
    this.busy.value = true
    try {
      const steps = [{ actionId: this.action.id, values, ...(row === undefined ? {} : { entityIds: [row.id] }) }]
      const response = await this.#request("POST", "/v1/changes", { steps })
      return ((await response.json()) as Draft).changeId
    } catch (error) {
      this.#refused(error)
      return undefined
    } finally {
      this.busy.value = false
    }
  }

  #refused(error: unknown): void {
    const { message, more } =
      error instanceof Problem ? error : new Problem("internal", 0, "Something went wrong on this page.")
    const field = typeof more["field"] === "string" ? more["field"] : undefined
    const named = more["problems"] as ReadonlyArray<FieldProblem> | undefined
    const choices = more["choices"] as ReadonlyArray<{ readonly id: string; readonly name: string }> | undefined
    const isHere = (path: string) => this.action.fields.some(({ slug }) => slug === path.split("/")[0])
    const at = (path: string) => (message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message)
    const problems = (named ?? (field === undefined ? [] : [{ field, message: at(field) }])).filter((one) =>
      isHere(one.field)
    )
    batch(() => {
      this.problems.value = problems
      this.trouble.value = problems.length === 0 ? message : ""
      if (field !== undefined && choices !== undefined)
        this.offered.value = { field, choices: choices.map(({ id, name }) => ({ value: id, name })) }
    })
  }
}
