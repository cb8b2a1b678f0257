/**
 * Provenance of a draft that a model makes: each subject and each value must come from the person's own words, or from a row
 * that they point at. The text of a row can lead a model, but it can't put words into the person's message. ADR 19.
 */
import type { Preview } from "../../domain/Change.ts"
import { READ } from "../../domain/DeclaredAction.ts"
import type { Entity, Page } from "../../domain/Page.ts"
import { labelFrom } from "../../domain/names.ts"
import type { Filter } from "../../domain/Query.ts"
import { quoted } from "../../domain/text.ts"
import type { OpenAction } from "../../services/changes/Changes.ts"
import type { Judged, SetValue } from "../../tools/ChangeTool.ts"
import { renderCell } from "../../tools/render.ts"
import { asksFor, isVerb, onlyTells } from "./changeVerbs.ts"
import type { Locale } from "./claims.ts"
import { normalize, wordsOf } from "./normalize.ts"
import { Said, temporal } from "./Said.ts"

/** A value with more words may be put together from words that were said. */
const MAX_EXACT_WORDS = 6
const WORDED_SHARE = 0.8

/** A cell that a lookup has shown, with the entity and the slug of its column. */
interface Cell {
  readonly entity: Entity
  readonly column: string
  /** Its words, with a space before, between and after them. */
  readonly words: string
}

/** Words that alone name nothing. */
const COMMON = new Set(
  `the a an of to in on for and or with from by at as it its this that these those my your his her our their me you him them us all any every each
some new old next last first name status phone email mail address owner number value field column row list date time person people please now
der die das dem den des ein eine einen einem von zu im am und mit fur auf el la los las un una de del al en y con por para le les du des et avec pour
o os as um uma do da dos das e com il lo gli i di della per het een van met voor`.split(/\s+/)
)
const QUOTES = [
  ['"', '"'],
  ["“", "”"],
  ["'", "'"],
  ["‘", "’"],
  ["„", "“"],
  ["«", "»"],
  ["「", "」"]
] as const

const REFUSED_SUBJECT =
  "The person didn't ask to change this. Look up what they name, by their own words, or ask them which one they mean."
const REFUSED_REMOVAL = "The person didn't ask to delete anything. Ask them."

type Origin =
  | { readonly from: "said" }
  | { readonly from: "worded" }
  | { readonly from: "row"; readonly cell: Cell }
  | undefined

export class Provenance {
  readonly #said: Said
  /** The words of the message that is being answered. */
  readonly #now: ReadonlyArray<string>
  /** Entities that the person named, or found by what they said. */
  readonly #named = new Set<string>()
  readonly #asked: string
  readonly #self: string
  /** The names of each type that the person sees, by its slug. */
  #types: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
  readonly #cells: Array<Cell> = []
  /** Minutes of the dates and times in rows. */
  readonly #times: Array<number> = []

  /** `self`: the entity id of the person. */
  constructor(locale: Locale, self: string, asked: string) {
    this.#said = new Said(locale).add(asked)
    this.#now = wordsOf(normalize(asked))
    this.#asked = normalize(asked)
    this.#self = self
    if (self !== "") this.#named.add(self)
  }

  /** Whether the message that is being answered asks for a change. */
  get asksForChange(): boolean {
    return asksFor("change", this.#now) || asksFor("removal", this.#now)
  }

  /** Sets the names of the types that the person sees, by slug. */
  setTypes(types: ReadonlyMap<string, ReadonlyArray<string>>): void {
    this.#types = types
  }

  /** Adds an earlier message of the person. */
  addSaid(text: string): void {
    this.#said.add(text)
  }

  /** Adds an entity that the last answer presented. */
  addFocus(page: Page): void {
    for (const entity of page.entities) {
      this.#named.add(entity.entityId)
      this.#addCells(entity)
    }
  }

  /** Adds the result of a lookup. What all its filters name was asked for if the person said each of their values. */
  addLookup(filters: ReadonlyArray<Filter>, typeNames: ReadonlyArray<string>, page: Page): void {
    const isAskedFor = this.#saidAll(filters, typeNames)
    for (const entity of page.entities) {
      const isNamed =
        isAskedFor ||
        (entity.displayName !== undefined && this.#said.has(entity.displayName) && this.#isName(entity.displayName))
      if (isNamed) {
        this.#named.add(entity.entityId)
        // What a cell of a named entity refers to can be pointed at by its column: "Ada's manager".
        for (const [column, value] of Object.entries(entity.columns ?? {}))
          if (this.#said.mentions(column)) for (const id of referencesIn(value)) this.#named.add(id)
      }
      this.#addCells(entity)
    }
  }

  /** Adds what this answer has drafted, so that a later step can refer to a row that an earlier one creates. */
  addDrafted(steps: Preview["steps"]): void {
    for (const { actionId, entityId } of steps) if (actionId.endsWith(".create")) this.#named.add(entityId)
  }

  /** Whether the message names types, but not this one: "cancel my meeting with Bob" deletes no person. */
  #namesAnotherType(slug: string): boolean {
    const now = new Said(this.#said.locale).add(this.#now.join(" "))
    const named = [...this.#types].filter(([, names]) => names.some((name) => now.has(name))).map(([type]) => type)
    return named.length > 0 && !named.includes(slug)
  }

  /** Whether a name stands for something: it has a word of its own, or the person wrote it between quotation marks. */
  #isName(name: string): boolean {
    const columns = new Set([...this.#cells].flatMap(({ column }) => wordsOf(column.replaceAll("_", " "))))
    const types = new Set([...this.#types.values()].flat().flatMap((one) => wordsOf(one)))
    const isCommon = (word: string) => COMMON.has(word) || columns.has(word) || types.has(word)
    const own = wordsOf(normalize(name)).filter((word) => !isCommon(word))
    const clean = normalize(name).trim()
    if (own.some((word) => !isVerb(word))) return true
    if (QUOTES.some(([open, close]) => this.#asked.includes(`${open}${clean}${close}`))) return true
    // "mark Ada as Won" doesn't name Mark; "give it to Mark" does.
    return own.length > 0 && this.#asked.indexOf(clean) > 0
  }

  /** Whether the message only asks or tells; a verb within the name of a row asks for nothing. */
  get #onlyTells(): boolean {
    let text = ` ${this.#now.join(" ")} `
    for (const { column, words } of this.#cells)
      if (column === "name" && words.trim() !== "") text = text.replaceAll(words, " — ")
    return onlyTells(this.#asked, text.trim().split(" "))
  }

  #saidAll(filters: ReadonlyArray<Filter>, typeNames: ReadonlyArray<string>): boolean {
    const valuesOf = (some: ReadonlyArray<Filter>) =>
      some.flatMap(({ value }) => value.split("|")).filter((value) => value !== "*" && value !== "")
    const values = valuesOf(filters)
    const isSelf = (value: string) => value === this.#self && value !== ""
    if (values.some((value) => !isSelf(value) && !this.#named.has(value) && !this.#saidFilter(value))) return false
    const names = valuesOf(filters.filter(({ columnId }) => columnId === "name"))
    if (names.some((name) => !this.#isName(name))) return false
    // A comparison, and a filter by the person alone, name nothing: the type must be said with it ("my meetings").
    const naming = valuesOf(filters.filter(({ op, value }) => (op === "eq" || op === "ilike") && !value.includes("..")))
    return (
      naming.some((value) => !isSelf(value)) ||
      (values.length > 0 && typeNames.some((name) => this.#said.mentions(name)))
    )
  }

  #saidFilter(value: string): boolean {
    const ends = value.split("..").filter((end) => end !== "")
    return (
      ends.length > 0 &&
      ends.every((end) => this.#said.has(end) || (temporal(end) !== undefined && this.#said.hasDay(end.slice(0, 10))))
    )
  }

  #addCells(entity: Entity): void {
    for (const [column, value] of Object.entries({
      name: entity.displayName,
      status: entity.status,
      ...entity.columns
    })) {
      if (value === undefined || value === null) continue
      const text = renderCell(nameOf(value))
      this.#cells.push({ entity, column, words: ` ${wordsOf(normalize(text)).join(" ")} ` })
      const found = temporal(text)
      if (found !== undefined) this.#times.push(found.minutes)
    }
  }

  /** Judges a request of the model. */
  readonly judge = (open: OpenAction, entityIds: ReadonlyArray<string>, values: ReadonlyArray<SetValue>): Judged => {
    const op = open.type === undefined ? undefined : open.action.executor.op
    const isRemoval = open.action.category === "destructive"
    if (this.#onlyTells && open.action.category !== READ) return { _tag: "Refused", message: REFUSED_SUBJECT }
    if (isRemoval && !asksFor("removal", this.#now)) return { _tag: "Refused", message: REFUSED_REMOVAL }
    if (open.type !== undefined && isRemoval && this.#namesAnotherType(open.type.slug))
      return { _tag: "Refused", message: REFUSED_REMOVAL }
    if (op !== "create" && entityIds.some((id) => !this.#named.has(id)))
      return { _tag: "Refused", message: REFUSED_SUBJECT }
    // All that it takes is filled in with answers to earlier calls: then the person must have said the deed.
    const isFilledIn = open.type === undefined && open.action.fields.length > 0 && values.length === 0
    if (isFilledIn && !this.#now.includes(wordsOf(normalize(open.action.name))[0] ?? ""))
      return { _tag: "Refused", message: REFUSED_SUBJECT }
    const notes: Array<string> = []
    let isFromRow = false
    for (const { columnId, value } of values) {
      const field = open.action.fields.find(({ slug }) => slug === columnId)
      const origin = this.#originOf({ columnId, value }, field?.kind ?? "text", field?.name ?? columnId, entityIds)
      if (origin === undefined)
        return {
          _tag: "Refused",
          message: `The person hasn't said ${value === "" ? `to empty ${columnId}` : quoted(value)}: ask them for it.`
        }
      if (origin.from === "worded") notes.push(`Max worded “${labelFrom(field?.name ?? columnId)}” from what you said.`)
      if (origin.from === "row") {
        isFromRow = true
        const { column, entity } = origin.cell
        notes.push(
          `“${labelFrom(value)}” is from ${labelFrom(entity.displayName ?? column)} (${labelFrom(column)}), not from you.`
        )
      }
    }
    return { _tag: "Passes", notes, ...(isFromRow ? { atLeast: "twice" } : {}) }
  }

  #originOf({ columnId, value }: SetValue, kind: string, columnName: string, entityIds: ReadonlyArray<string>): Origin {
    const saysColumn = this.#said.mentions(columnName) || this.#said.mentions(columnId)
    // An empty value and a yes or no have no word of their own, so the column must be named.
    const hasNoWord = value === "" || kind === "boolean"
    if (hasNoWord && saysColumn && (asksFor("change", this.#now) || asksFor("removal", this.#now))) return SAID
    if (value === "") return undefined
    const parts = kind === "list" || kind === "references" ? value.split(";").map((part) => part.trim()) : [value]
    if (parts.every((part) => this.#isSaid(part, kind))) return SAID
    const words = wordsOf(normalize(value))
    if (words.length > MAX_EXACT_WORDS && this.#said.share(value) >= WORDED_SHARE) return { from: "worded" }
    const cell = this.#pointedAt(words, entityIds, columnId, saysColumn || kind === "reference")
    return cell === undefined ? undefined : { from: "row", cell }
  }

  #isSaid(value: string, kind: string): boolean {
    if ((kind === "reference" || kind === "references") && this.#named.has(value)) return true
    if (kind === "date" || kind === "timestamp") return this.#said.hasTemporal(value, this.#times)
    if (kind === "integer" || kind === "number") return this.#said.hasNumber(value)
    return wordsOf(normalize(value)).length <= MAX_EXACT_WORDS && this.#said.has(value)
  }

  /** A cell with the value, if the person asks for a change and names the cell's column, and an entity other than the subject or another column. */
  #pointedAt(
    words: ReadonlyArray<string>,
    entityIds: ReadonlyArray<string>,
    columnId: string,
    saysTarget: boolean
  ): Cell | undefined {
    if (words.length === 0 || !saysTarget || !asksFor("change", this.#now)) return undefined
    const wanted = ` ${words.join(" ")} `
    return this.#cells.find(
      ({ column, entity, words: found }) =>
        found.includes(wanted) &&
        this.#named.has(entity.entityId) &&
        (column === columnId ? !entityIds.includes(entity.entityId) : this.#said.mentions(column))
    )
  }
}

const SAID: Origin = { from: "said" }

/** A reference's name, without its id. */
const nameOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "name" in value ? value.name : value

/** The entity ids in a cell. */
const referencesIn = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap(referencesIn)
    : typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
      ? [value.id]
      : []
