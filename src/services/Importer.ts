/**
 * Files into entities: all of a file in one transaction, or none of it. The file is read as a stream, each batch is
 * one upsert and one look-up per reference; columns that the organization doesn't have become columns of its own
 * version of the type, in the same transaction. Identifiers of members are another thing and never touched.
 */
import { PgTypes, type PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { Database } from "../database/Database.ts"
import { orUnavailableInTheEnd } from "../database/read.ts"
import { identifier, qualified, SqlWriter } from "../database/sql/SqlWriter.ts"
import {
  type Catalog,
  type Column,
  columnBySlug,
  type ColumnKind,
  DISPLAY_NAME,
  type EntityType,
  type Organization,
  type Relation,
  STATUS,
  type Storage,
  targetOf,
  typeBySlug
} from "../domain/EntityType.ts"
import { NotAdmitted, OperatorError, Unavailable } from "../domain/errors.ts"
import { nextId } from "../domain/ids.ts"
import { emailKey, foldText, phoneKey } from "../domain/keys.ts"
import { closest, printable, quoted } from "../domain/text.ts"
import { bindScalar, isoDate, isoTimestamp } from "../domain/values.ts"
import {
  EntityTypeCatalog,
  CHANGED,
  holdImports,
  isReservedSlug,
  isSlug,
  labelFrom,
  MANAGED,
  type NewColumn,
  slugFrom
} from "./EntityTypeCatalog.ts"
import {
  type Cell,
  type FileRecord,
  type ImportFile,
  inferKinds,
  type InferredKind,
  NESTED,
  openImportFile
} from "./importFile.ts"
import { OrganizationState } from "./OrganizationState.ts"

export interface ImportRequest {
  /** Path of a CSV or JSONL file. */
  readonly file: string
  /** Slug of the type. */
  readonly type: string
  /** Header → column slug, `id`, or `column:type.column` for a reference found by another type's column. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Headers that are left out. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** Makes the type and the columns that the organization doesn't have. */
  readonly create?: boolean | undefined
}

export interface Imported {
  /** The type's slug and names, as they are now. */
  readonly type: {
    readonly slug: string
    readonly name: string
    readonly pluralName: string
    readonly created: boolean
  }
  readonly rows: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  /** What became of each header. */
  readonly mapped: ReadonlyArray<{ readonly header: string; readonly to: string }>
  readonly createdColumns: ReadonlyArray<{ readonly slug: string; readonly name: string; readonly kind: ColumnKind }>
  /** What no role may see until the policy shows it, as `people.product`. */
  readonly hiddenColumns: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

type Fault = OperatorError | NotAdmitted | Unavailable

export class Importer extends Context.Service<
  Importer,
  {
    /** Imports a file: everything in it, or nothing and the lines that stand in the way. */
    readonly import: (organization: Organization, request: ImportRequest) => Effect.Effect<Imported, Fault>
  }
>()("max/services/Importer") {
  static readonly layer = Layer.effect(
    Importer,
    Effect.gen(function* () {
      const { app, owner } = yield* Database
      const catalogs = yield* EntityTypeCatalog
      const states = yield* OrganizationState

      const catalogOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "nobody" }), ({ state }) => state.catalog)

      /** Statistics are for speed alone: a failure here doesn't undo what was imported. */
      const analyze = (relations: ReadonlyArray<Relation>) =>
        Effect.forEach(relations, (relation) => owner.unsafe(`ANALYZE ${qualified(relation)}`).unprepared, {
          discard: true
        }).pipe(Effect.timeout("1 minute"), Effect.ignore)

      return Importer.of({
        import: Effect.fn("Importer.import")(function* (organization, request) {
          const file = yield* openImportFile(request.file)
          const first = yield* planImport(file, request, yield* catalogOf(organization))
          const changes = first.type === undefined || first.created.length > 0
          const kinds = yield* inferKinds(
            file,
            first.created.filter((column) => column.target === undefined),
            organization.country
          )
          const sql = changes ? owner : app

          const done = yield* orUnavailableInTheEnd(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* holdImports(sql, organization.id)
                // No other import changes the catalog from here on; what changed before is planned for again.
                const catalog = yield* catalogOf(organization)
                const plan = yield* planImport(file, request, catalog)
                const created = plan.created.map((column) => newColumn(column, kinds.get(column.index)))
                const changed = plan.type === undefined || created.length > 0
                // Types and columns are never taken away, so this can't be; made on another connection, it wouldn't be undone.
                if (changed && !changes) return yield* fault(CHANGED)
                const published = changed
                  ? yield* catalogs.publish(catalog, { slug: request.type, columns: created })
                  : undefined
                const type = published?.type ?? plan.type!
                const fields = yield* bindFields(plan, type, withType(catalog, type))
                const { counts, warnings } = yield* writeRows(sql, organization, type, fields, file)
                if (published !== undefined) yield* catalogs.putInForce(catalog, published)
                return { changed, counts, warnings, fields, plan, type, created }
              })
            )
          )

          const { changed, counts, created, fields, plan, type, warnings } = done
          if (changed || counts.inserted + counts.updated >= ANALYZE_FROM) {
            yield* analyze([
              type.relation,
              ...fields.references.flatMap(({ storage }) => (storage._tag === "Many" ? [storage.link] : []))
            ])
          }
          return {
            type: { slug: type.slug, name: type.name, pluralName: type.pluralName, created: plan.type === undefined },
            ...counts,
            mapped: plan.mapped.map(({ header, slug, via }) => ({
              header,
              to: via === undefined ? slug : `${slug}:${via.type}.${via.column}`
            })),
            createdColumns: created.map(({ kind, slug }) => ({ slug, name: columnBySlug(type, slug)!.name, kind })),
            hiddenColumns: (plan.type === undefined ? type.columns : created).map(({ slug }) => `${type.slug}.${slug}`),
            warnings
          }
        })
      })
    })
  )
}

const ANALYZE_FROM = 1000

const withType = (catalog: Catalog, type: EntityType): Catalog => ({
  ...catalog,
  types: [...catalog.types.filter((known) => known.key !== type.key), type]
})

// ---- plan: which header goes where

/** The column of another type by which a reference is found; `id` is what that type was imported by. */
interface Via {
  readonly type: string
  readonly column: string
}

interface Mapped {
  readonly header: string
  readonly index: number
  /** The column's slug, or `id`. */
  readonly slug: string
  readonly via?: Via
}

interface Created {
  readonly slug: string
  readonly name: string
  readonly index: number
  /** The type that it leads to; without one its kind is inferred. */
  readonly target?: string
}

interface Plan {
  /** The type as it is, where there is one. */
  readonly type: EntityType | undefined
  readonly mapped: ReadonlyArray<Mapped>
  readonly created: ReadonlyArray<Created>
}

const ID = "id"
const TARGET = /^([^:.\s]+)(?::([^:.\s]+)\.([^:.\s]+))?$/

const planImport = Effect.fnUntraced(function* (
  { headers, name: fileName }: ImportFile,
  request: ImportRequest,
  catalog: Catalog
): Effect.fn.Return<Plan, OperatorError> {
  const type = typeBySlug(catalog, request.type)
  const types = catalog.types.map((known) => known.slug)
  if (type === undefined && (request.create !== true || types.includes(slugFrom(request.type)))) {
    const way = request.create === true ? "" : " To make one, also give --create"
    return yield* fault(`There is no type ${quoted(request.type)}.${suggestion(request.type, types)}${way}`)
  }
  if (type !== undefined && type.relation.schema !== MANAGED) {
    return yield* fault(
      `${type.pluralName} are read from ${printable(type.relation.table)}, which isn't Max's: put the rows there`
    )
  }
  const indexOf = Effect.fnUntraced(function* (header: string, option: string) {
    const exact = headers.indexOf(header.trim())
    const index = exact >= 0 ? exact : headers.findIndex((known) => foldText(known) === foldText(header))
    return index >= 0
      ? index
      : yield* fault(
          `${option}: ${fileName} has no header ${quoted(header)}.${suggestion(header, headers)} It has: ${list(headers)}`
        )
  })
  const explicit = new Map<number, string>()
  for (const [header, to] of Object.entries(request.map ?? {})) explicit.set(yield* indexOf(header, "--map"), to)
  const ignored = new Set<number>()
  for (const header of request.ignore ?? []) ignored.add(yield* indexOf(header, "--ignore"))

  const mapped: Array<Mapped> = []
  const created: Array<Created> = []
  const unknown: Array<string> = []
  const taken = new Map<string, string>()
  const add = Effect.fnUntraced(function* (entry: Mapped) {
    const other = taken.get(entry.slug)
    if (other !== undefined) {
      return yield* fault(
        `${quoted(other)} and ${quoted(entry.header)} would both go into ${entry.slug}. ` +
          `Leave one out (--ignore ${word(entry.header)}) or say where it goes (--map ${word(entry.header)}=COLUMN)`
      )
    }
    taken.set(entry.slug, entry.header)
    mapped.push(entry)
  })
  const create = (slug: string, name: string, index: number, target?: string) =>
    created.push({ slug, name, index, ...(target === undefined ? {} : { target }) })

  for (const [index, header] of headers.entries()) {
    const to = explicit.get(index)
    if (to !== undefined) {
      const [, slug, viaType, viaColumn] = TARGET.exec(to.trim()) ?? []
      if (slug === undefined) {
        return yield* fault(
          `--map ${word(header)}=${printable(to)}: after = stands a column, id, or column:type.column, such as owner:people.email`
        )
      }
      const via = viaType === undefined || viaColumn === undefined ? undefined : { type: viaType, column: viaColumn }
      const column = type === undefined ? undefined : columnBySlug(type, slug)
      if (slug !== ID && slug !== DISPLAY_NAME && column === undefined) {
        if (request.create !== true) {
          return yield* fault(
            `${type!.pluralName} have no column ${quoted(slug)}.${suggestion(
              slug,
              type!.columns.map((known) => known.slug)
            )} To make one, also give --create`
          )
        }
        if (!isSlug(slug) || isReservedSlug(slug)) return yield* badSlug(header, slug)
        create(slug, slug, index, via?.type)
      } else if (via !== undefined) {
        const target = column && targetOf(catalog, column)?.slug
        if (target === undefined)
          return yield* fault(
            `--map ${word(header)}=${to}: ${slug} isn't a reference. Write --map ${word(header)}=${slug}`
          )
        if (target !== via.type)
          return yield* fault(
            `--map ${word(header)}=${to}: ${slug} leads to ${target}. Write --map ${word(header)}=${slug}:${target}.COLUMN`
          )
      }
      yield* add({ header, index, slug, ...(via === undefined ? {} : { via }) })
      continue
    }
    if (ignored.has(index)) continue
    const own = ownColumn(header, type)
    if (own !== undefined) {
      yield* add({ header, index, slug: own })
    } else if (request.create === true) {
      const slug = slugFrom(header)
      if (!isSlug(slug) || isReservedSlug(slug)) return yield* badSlug(header, slug)
      yield* add({ header, index, slug })
      create(slug, header, index)
    } else {
      unknown.push(header)
    }
  }
  for (const index of explicit.keys()) {
    if (ignored.has(index)) return yield* fault(`${quoted(headers[index]!)} is both mapped and ignored`)
  }
  if (unknown.length > 0) return yield* unknownHeaders(unknown, type!)
  if (!taken.has(DISPLAY_NAME)) {
    return yield* fault(
      `No header is the name, and every record has one. Say which it is: --map HEADER=name. The file has: ${list(headers)}`
    )
  }
  for (const { header, slug, via } of mapped) {
    if (via === undefined) continue
    const target = typeBySlug(catalog, via.type)
    if (target === undefined && via.type !== request.type) {
      return yield* fault(
        `--map ${word(header)}=${slug}:${via.type}.${via.column}: there is no type ${quoted(via.type)}.${suggestion(via.type, types)}`
      )
    }
    const known = [...(target?.columns ?? []), ...(via.type === request.type ? mapped : [])].map(
      (column) => column.slug
    )
    if (![ID, DISPLAY_NAME, ...known].includes(via.column)) {
      return yield* fault(
        `--map ${word(header)}=${slug}:${via.type}.${via.column}: ${via.type} have no column ${quoted(via.column)}.${suggestion(via.column, known)}`
      )
    }
  }
  return { type, mapped, created }
})

const fault = (message: string) => new OperatorError({ message: `${message}${/[.?!]$/.test(message) ? "" : "."}` })

/** A header as it is typed on a command line. */
const word = (header: string): string => (/^[\w.@-]+$/.test(header) ? header : quoted(header))

const list = (headers: ReadonlyArray<string>): string =>
  headers
    .slice(0, 12)
    .map((header) => quoted(header).slice(1, -1))
    .join(", ") + (headers.length > 12 ? ", …" : "")

const suggestion = (given: string, known: ReadonlyArray<string>): string => {
  const near = closest(given, known)
  return near === undefined ? "" : ` Did you mean ${quoted(near).slice(1, -1)}?`
}

const badSlug = (header: string, slug: string) =>
  fault(
    isReservedSlug(slug)
      ? `A column can't be called ${slug}: that word means something else in policies and filters. Give it another name: --map ${word(header)}=NAME`
      : `No column name can be made of ${quoted(header)}: it has lower-case letters, digits and _, beginning with a letter. Give it one: --map ${word(header)}=NAME`
  )

const unknownHeaders = (unknown: ReadonlyArray<string>, type: EntityType) => {
  const first = unknown[0]!
  const data = /@|^-?\d+([.,]\d+)?$/.test(first) ? " Does the file begin with a line of headers?" : ""
  const what =
    unknown.length === 1
      ? `${type.pluralName} have no column for the header ${quoted(first)}.`
      : `${type.pluralName} have no column for the headers ${list(unknown)}.`
  return fault(
    `${what}${data} For each: say which it is (--map ${word(first)}=COLUMN), leave it out (--ignore ${word(first)}), or make columns of them all (--create)`
  )
}

/** The column that a header means without being told: `id`, or the one with this slug or label. */
const ownColumn = (header: string, type: EntityType | undefined): string | undefined => {
  const slug = slugFrom(header)
  if (slug === ID || slug === DISPLAY_NAME) return slug
  const folded = foldText(header)
  return (
    type?.columns.find((column) => column.slug === slug) ??
    type?.columns.find((column) => foldText(column.name) === folded)
  )?.slug
}

const newColumn = ({ name, slug, target }: Created, inferred: InferredKind | undefined): NewColumn =>
  target !== undefined
    ? { slug, name: labelFrom(name), kind: "reference", target }
    : // What a result shows as an entity's status is text, even where all of a file's are numbers.
      { slug, name: labelFrom(name), kind: slug === STATUS ? "text" : (inferred ?? "text") }

// ---- fields: how cells become values

interface Physical {
  readonly column: string
  readonly kind: ColumnKind
}

interface ValueField {
  readonly header: string
  readonly index: number
  readonly physical: ReadonlyArray<Physical>
  /** Texts for the physical columns; a string is what is wrong with the cell. */
  readonly read: (cell: Cell) => ReadonlyArray<string | null> | string
  /** What the text should have been for its key; for the count of those that have none. */
  readonly keyless?: string
}

type Target = bigint | "none" | "several"

interface ReferenceField {
  readonly header: string
  readonly index: number
  readonly column: Column
  readonly storage: Extract<Storage, { readonly _tag: "One" | "Many" }>
  readonly target: EntityType
  readonly by: Column | undefined
  /** Whether the records referred to are of the type that is imported, and may be in the same file. */
  readonly self: boolean
  readonly said: boolean
  /** Keys of the records referred to; a string is what is wrong with the cell. */
  readonly read: (cell: Cell) => ReadonlyArray<string> | string
  /** The part of a cell that has this key, as it is written. */
  readonly written: (cell: Cell, key: string) => string
  /** What keys came to so far. */
  readonly known: Map<string, Target>
}

interface Fields {
  readonly id: number | undefined
  readonly values: ReadonlyArray<ValueField>
  readonly references: ReadonlyArray<ReferenceField>
}

const bindFields = Effect.fnUntraced(function* (plan: Plan, type: EntityType, catalog: Catalog) {
  const values: Array<ValueField> = []
  const references: Array<ReferenceField> = []
  let id: number | undefined
  for (const { header, index, slug, via } of plan.mapped) {
    const column = columnBySlug(type, slug)
    if (slug === ID) id = index
    else if (column === undefined) throw new Error("A planned column isn't there")
    else if (column.storage._tag === "Value")
      values.push(valueField(header, index, column, column.storage, catalog.organization))
    else references.push(yield* referenceField(header, index, column, column.storage, via, type, catalog))
  }
  const fields: Fields = { id, values, references }
  return fields
})

const MAX_SHORT = 400
/** A btree takes keys up to about a third of a page. */
const MAX_KEY_BYTES = 2000
const MAX_LIST = 1000

const valueField = (
  header: string,
  index: number,
  column: Column,
  storage: Extract<Storage, { readonly _tag: "Value" }>,
  organization: Organization
): ValueField => {
  const physical = [storage.column, ...(storage.keyColumn === undefined ? [] : [storage.keyColumn])].map((name) => ({
    column: name,
    kind: column.kind
  }))
  const empty = physical.map(() => null)
  const convert = converter(column, storage, organization)
  const keyless =
    column.kind === "phone"
      ? "in the form of a phone number"
      : column.kind === "email"
        ? "in the form of an e-mail address"
        : undefined
  return {
    header,
    index,
    physical,
    ...(keyless === undefined ? {} : { keyless }),
    read: (cell) => {
      if (cell === undefined) return column.key === DISPLAY_NAME ? "empty, and every record has a name" : empty
      if (column.kind === "list") return readList(cell)
      if (cell === NESTED) return NESTED_PROBLEM
      if (typeof cell !== "string") return `a list, where ${column.slug} is one value`
      return textProblem(cell) ?? convert(cell)
    }
  }
}

const NESTED_PROBLEM = "an object, and only text, numbers, true, false and lists of them can be imported"
const LONE_SURROGATE = /\p{Surrogate}/u

const textProblem = (text: string): string | undefined =>
  text.includes("\u0000")
    ? "it contains a NUL character"
    : LONE_SURROGATE.test(text)
      ? "it contains half of a character"
      : undefined

/** Reads the text of one value, which isn't empty, as texts for its physical columns. */
const converter = (
  column: Column,
  { indexed = false }: { readonly indexed?: boolean },
  organization: Organization
): ((text: string) => ReadonlyArray<string | null> | string) => {
  const short = (text: string, key: string | null) =>
    text.length > MAX_SHORT || (key !== null && Buffer.byteLength(key) > MAX_KEY_BYTES)
      ? `it has more than ${MAX_SHORT} characters`
      : [text, key]
  const read = (parse: (text: string) => string | undefined, expected: string) => (cell: string) => {
    const value = parse(cell.trim())
    return value === undefined ? `${quoted(cell)} isn't ${expected}` : [value]
  }
  switch (column.kind) {
    case "phone":
      return (cell) => short(cell.trim(), phoneKey(cell.trim(), organization.country) ?? null)
    case "email":
      return (cell) => short(cell.trim(), emailKey(cell) ?? null)
    case "integer":
      return read((text) => boundText(column, text, organization), "a whole number")
    case "number":
      return read((text) => (EXPONENT.test(text) ? text : boundText(column, text, organization)), "a number")
    case "boolean":
      return read(
        (text) => (/^(true|yes|1)$/i.test(text) ? "true" : /^(false|no|0)$/i.test(text) ? "false" : undefined),
        "true or false"
      )
    case "date":
      return read(isoDate, "a date such as 2026-03-31")
    case "timestamp":
      return read(timestamp, "a time such as 2026-03-31 14:00")
    default: {
      const name = column.key === DISPLAY_NAME
      return (cell) => {
        const text = name ? cell.trim() : cell
        const key = foldText(text)
        return indexed ? short(text, key) : [text, key]
      }
    }
  }
}

/** A number as spreadsheets write large and small ones. */
const EXPONENT = /^[+-]?\d{1,100}(\.\d{1,100})?[eE][+-]?\d{1,2}$/

const boundText = (column: Column, text: string, organization: Organization): string | undefined => {
  const value = bindScalar(column, text, organization)
  return value === undefined ? undefined : String(value)
}

/** Postgres takes offsets of less than sixteen hours. */
const timestamp = (text: string): string | undefined => {
  const offset = /[+-](\d{2}):?(\d{2})$/.exec(text.slice(10))
  return offset !== null && (Number(offset[1]) > 15 || Number(offset[2]) > 59) ? undefined : isoTimestamp(text)
}

/** The parts of a cell that holds several: a JSON array, or divided by semicolons. */
const partsOf = (cell: Cell): ReadonlyArray<string> | string => {
  if (cell === NESTED) return NESTED_PROBLEM
  const parts = typeof cell === "string" ? splitList(cell) : (cell ?? [])
  const problem = parts.map(textProblem).find((found) => found !== undefined)
  return problem ?? parts.map((part) => part.trim()).filter((part) => part !== "")
}

const splitList = (text: string): ReadonlyArray<string> => {
  if (text.trimStart().startsWith("[")) {
    try {
      const values: unknown = JSON.parse(text)
      if (Array.isArray(values) && values.every((value) => typeof value !== "object")) return values.map(String)
    } catch {
      // Not JSON: a text that begins with a bracket.
    }
  }
  return text.split(";")
}

const readList = (cell: Cell): ReadonlyArray<string | null> | string => {
  const parts = partsOf(cell)
  if (typeof parts === "string") return parts
  if (parts.length > MAX_LIST) return `it has more than ${MAX_LIST} entries`
  const keys = parts.map(foldText)
  return parts.some((part, index) => part.length > MAX_SHORT || Buffer.byteLength(keys[index]!) > MAX_KEY_BYTES)
    ? `an entry has more than ${MAX_SHORT} characters`
    : parts.length === 0
      ? [null, null]
      : [arrayLiteral(parts), arrayLiteral(keys)]
}

const arrayLiteral = (parts: ReadonlyArray<string>): string =>
  `{${parts.map((part) => `"${part.replace(/["\\]/g, "\\$&")}"`).join(",")}}`

const FINDABLE: ReadonlySet<ColumnKind> = new Set(["text", "phone", "email", "integer"])

const referenceField = Effect.fnUntraced(function* (
  header: string,
  index: number,
  column: Column,
  storage: ReferenceField["storage"],
  via: Via | undefined,
  type: EntityType,
  catalog: Catalog
) {
  const target = targetOf(catalog, column)
  if (target === undefined) throw new Error("A reference leads to a type that doesn't exist")
  const by = via === undefined || via.column === ID ? undefined : columnBySlug(target, via.column)
  if (by !== undefined && !FINDABLE.has(by.kind)) {
    return yield* fault(
      `${quoted(header)}: ${target.slug} can't be found by ${by.slug}, which is a ${by.kind}; text, phone, e-mail and whole numbers will do`
    )
  }
  const key = referenceKey(by, catalog.organization)
  const parts = (cell: Cell) =>
    storage._tag === "Many" || typeof cell !== "string" ? partsOf(cell) : (textProblem(cell) ?? [cell.trim()])
  const field: ReferenceField = {
    header,
    index,
    column,
    storage,
    target,
    by,
    self: target.key === type.key,
    said: via !== undefined,
    known: new Map(),
    read: (cell) => {
      const texts = cell === undefined ? [] : parts(cell)
      if (typeof texts === "string") return texts
      if (storage._tag === "One" && texts.length > 1) return `several, where ${column.slug} is one`
      const keys = new Set<string>()
      for (const text of texts) {
        const found = key(text)
        if (found === undefined)
          return `${quoted(text)} isn't ${by?.kind === "phone" ? "a phone number" : by?.kind === "email" ? "an e-mail address" : "a whole number"}`
        keys.add(found)
      }
      return [...keys]
    },
    written: (cell, wanted) => {
      const texts = parts(cell)
      return (typeof texts === "string" ? undefined : texts.find((text) => key(text) === wanted)) ?? wanted
    }
  }
  return field
})

/** How a text becomes what a record is found by. */
const referenceKey = (by: Column | undefined, organization: Organization): ((text: string) => string | undefined) => {
  switch (by?.kind) {
    case undefined:
      return (text) => text
    case "phone":
      return (text) => phoneKey(text, organization.country)
    case "email":
      return emailKey
    case "integer":
      return (text) => boundText(by!, text, organization)
    default:
      return foldText
  }
}

// ---- rows: what is written

const MAX_BAD = 1000
const SHOWN_BAD = 20

/** The rows that can't be imported, in the file's order. */
class BadRows {
  private readonly fileName: string
  private readonly shown: Array<string> = []
  private count = 0
  /** A last line for who gave a reference by something else than ids. */
  hint: string | undefined

  constructor(fileName: string) {
    this.fileName = fileName
  }

  get some(): boolean {
    return this.count > 0
  }

  get full(): boolean {
    return this.count >= MAX_BAD
  }

  add(line: number, problems: ReadonlyArray<string>) {
    this.count++
    if (this.shown.length < SHOWN_BAD) this.shown.push(`line ${line}: ${problems.join("; ")}`)
  }

  error(): OperatorError {
    const more = this.count - this.shown.length
    const count = `${this.count} bad row${this.count === 1 ? "" : "s"}${this.full ? " or more" : ""}`
    return new OperatorError({
      message: `Nothing was imported: ${this.fileName} has ${count}.`,
      details: [
        ...this.shown,
        ...(more > 0 ? [`and ${this.full ? "at least " : ""}${more} more`] : []),
        ...(this.hint === undefined ? [] : [this.hint])
      ]
    })
  }
}

/**
 * Where each id stands in the file, as 64 bits of hash and the line: a map of the ids themselves would hold the file.
 */
class SeenIds {
  private slots = new Uint32Array(3 * 4096)
  private count = 0

  /** Notes an id and returns the line where it was seen before, if it was. */
  see(id: string, line: number): number | undefined {
    if (this.count * 4 > this.slots.length) this.grow()
    let [high, low] = [0xdeadbeef, 0x41c6ce57]
    for (let at = 0; at < id.length; at++) {
      const code = id.charCodeAt(at)
      high = Math.imul(high ^ code, 2654435761)
      low = Math.imul(low ^ code, 1597334677)
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
    return this.put(high >>> 0, low >>> 0, line)
  }

  private put(high: number, low: number, line: number): number | undefined {
    const size = this.slots.length / 3
    for (let slot = low % size; ; slot = (slot + 1) % size) {
      const seen = this.slots[slot * 3 + 2]!
      if (seen === 0) {
        this.slots.set([high, low, line], slot * 3)
        this.count++
        return undefined
      }
      if (this.slots[slot * 3] === high && this.slots[slot * 3 + 1] === low) return seen
    }
  }

  private grow() {
    const old = this.slots
    this.slots = new Uint32Array(old.length * 2)
    this.count = 0
    for (let at = 0; at < old.length; at += 3) if (old[at + 2] !== 0) this.put(old[at]!, old[at + 1]!, old[at + 2]!)
  }
}

const [INSERTED, UPDATED, POSTPONED] = [1, 2, 4]
const WRITTEN = INSERTED | UPDATED

/** What became of each row, a byte a row. */
class Outcomes {
  private states = new Uint8Array(4096)
  private ids = new BigInt64Array(0)
  rows = 0
  /** Whether any row is. */
  postponed = false

  /** Notes rows to come and returns the number of the first. */
  begin(count: number): number {
    const first = this.rows
    this.rows += count
    if (this.rows > this.states.length) {
      const grown = new Uint8Array(Math.max(this.rows, this.states.length * 2))
      grown.set(this.states)
      this.states = grown
    }
    return first
  }

  mark(row: number, state: "inserted" | "updated") {
    if ((this.states[row]! & WRITTEN) === 0) this.states[row]! |= state === "inserted" ? INSERTED : UPDATED
  }

  /** Notes that a row refers to one that wasn't there yet. */
  postpone(row: number) {
    this.states[row]! |= POSTPONED
    this.postponed = true
  }

  isPostponed(row: number): boolean {
    return (this.states[row]! & POSTPONED) !== 0
  }

  /** Keeps the ids of rows that have no id in the file, for a second pass. */
  keep(first: number, ids: ReadonlyArray<bigint>) {
    if (this.ids.length < this.rows) {
      const grown = new BigInt64Array(this.states.length)
      grown.set(this.ids)
      this.ids = grown
    }
    this.ids.set(ids, first)
  }

  kept(row: number): bigint {
    return this.ids[row]!
  }

  counts() {
    let [inserted, updated] = [0, 0]
    for (let row = 0; row < this.rows; row++) {
      const written = this.states[row]! & WRITTEN
      if (written === INSERTED) inserted++
      else if (written === UPDATED) updated++
    }
    return { rows: this.rows, inserted, updated, unchanged: this.rows - inserted - updated }
  }
}

/** A batch of rows, column by column. */
interface Batch {
  readonly first: number
  readonly records: ReadonlyArray<FileRecord>
  /** The ids that rows get if they are new. */
  readonly ids: ReadonlyArray<bigint>
  readonly externalIds: ReadonlyArray<string | null>
  /** Texts by physical column. */
  readonly values: ReadonlyArray<ReadonlyArray<string | null>>
  /** Keys by reference field. */
  readonly keys: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>
  /** By row within the batch. */
  readonly problems: Map<number, Array<string>>
}

const texts = (values: ReadonlyArray<string | null>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
const bigints = (values: ReadonlyArray<bigint | null>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.int8))

const CAST: Partial<Readonly<Record<ColumnKind, string>>> = {
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  date: "date",
  list: "text[]"
}

const writeRows = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organization: Organization,
  type: EntityType,
  fields: Fields,
  file: ImportFile
) {
  const table = qualified(type.relation)
  const bad = new BadRows(file.name)
  const seen = new SeenIds()
  const outcomes = new Outcomes()
  const keyless = fields.values.map(() => 0)
  const own = fields.references.filter((field) => field.self)

  const problemAt = (problems: Batch["problems"], row: number, header: string, problem: string) => {
    const known = problems.get(row)
    const text = `${quoted(header).slice(1, -1)}: ${problem}`
    if (known === undefined) problems.set(row, [text])
    else known.push(text)
  }

  const readId = (cell: Cell, line: number): string | readonly [problem: string] => {
    if (cell === undefined) return ["empty, and the other rows have one"]
    if (typeof cell !== "string") return [cell === NESTED ? NESTED_PROBLEM : "a list, where the id is one value"]
    const problem = textProblem(cell)
    const id = cell.trim()
    if (problem !== undefined) return [problem]
    if (id.length > MAX_SHORT || Buffer.byteLength(id) > MAX_KEY_BYTES)
      return [`it has more than ${MAX_SHORT} characters`]
    const before = seen.see(id, line)
    return before === undefined ? id : [`${quoted(id)} is on line ${before} too`]
  }

  const convert = (records: ReadonlyArray<FileRecord>): Batch => {
    const problems: Batch["problems"] = new Map()
    const externalIds: Array<string | null> = []
    const values = fields.values.flatMap((field) => field.physical.map((): Array<string | null> => []))
    const keys = fields.references.map((): Array<ReadonlyArray<string>> => [])
    for (const [row, { cells, line, problem }] of records.entries()) {
      if (problem !== undefined) {
        problems.set(row, [problem])
        continue
      }
      if (fields.id !== undefined) {
        const id = readId(cells[fields.id], line)
        if (typeof id === "string") externalIds[row] = id
        else problemAt(problems, row, file.headers[fields.id]!, id[0])
      }
      let at = 0
      for (const [number, field] of fields.values.entries()) {
        const read = field.read(cells[field.index])
        if (typeof read === "string") problemAt(problems, row, field.header, read)
        else {
          for (let part = 0; part < read.length; part++) values[at + part]![row] = read[part]!
          if (field.keyless !== undefined && read[0] !== null && read[1] === null) keyless[number]!++
        }
        at += field.physical.length
      }
      for (const [number, field] of fields.references.entries()) {
        const read = field.read(cells[field.index])
        if (typeof read === "string") problemAt(problems, row, field.header, read)
        keys[number]![row] = typeof read === "string" ? [] : read
      }
    }
    return {
      first: outcomes.begin(records.length),
      records,
      ids: records.map(() => nextId()),
      externalIds,
      values,
      keys,
      problems
    }
  }

  /** Finds what keys refer to; two are as good as many. */
  const find = Effect.fnUntraced(function* (field: ReferenceField, keys: ReadonlyArray<string>) {
    const { by, known, target } = field
    const storage = by?.storage._tag === "Value" ? by.storage : undefined
    const reference = `t.${identifier(storage === undefined ? "external_id" : (storage.keyColumn ?? storage.column))}`
    // Two are enough where an index leads to a key; where none does, all keys are found in one pass over the rows.
    const enough = storage === undefined || storage.indexed === true ? " LIMIT 2" : ""
    for (const key of keys) known.set(key, "none")
    const rows = yield* sql.unsafe<{ key: string; id: bigint; several: boolean }>(
      `/* max import references */ SELECT k.key, min(r.id) AS id, count(*) > 1 AS several FROM unnest($2::text[]) AS k(key) ` +
        `CROSS JOIN LATERAL (SELECT t.id FROM ${qualified(target.relation)} t WHERE t.organization_id = $1::bigint ` +
        `AND ${reference} = k.key${by?.kind === "integer" ? "::bigint" : ""}${enough}) r GROUP BY k.key`,
      [organization.id, texts(keys)]
    )
    for (const { id, key, several } of rows) known.set(key, several ? "several" : id)
  })

  const resolve = Effect.fnUntraced(function* (field: ReferenceField, keys: ReadonlyArray<ReadonlyArray<string>>) {
    // References are to few records as a rule; a file where they aren't is looked up batch by batch.
    if (field.known.size > MAX_KNOWN) {
      field.known.clear()
      forgotten = true
    }
    const missing = new Set<string>()
    for (const some of keys) {
      if (some === undefined) continue
      for (const key of some) {
        const found = field.known.get(key)
        // Of its own type, what wasn't there may have come with the rows in between.
        if (found === undefined || (field.self && found === "none")) missing.add(key)
      }
    }
    if (missing.size > 0) yield* find(field, [...missing])
  })

  const unresolved = ({ by, header, said, target, column }: ReferenceField, written: string, found: Target): string => {
    if (!said)
      bad.hint = `${quoted(header).slice(1, -1)} was read as ids of ${target.slug}. To go by another column of theirs: --map ${word(header)}=${column.slug}:${target.slug}.name`
    return `${found === "none" ? "none" : "more than one"} of the ${target.pluralName.toLowerCase()} has the ${by?.slug ?? ID} ${quoted(written)}`
  }

  /** The entities that a field's keys refer to, row by row; undefined where that is found out at the end. */
  const targetsOf = (
    field: ReferenceField,
    batch: Pick<Batch, "first" | "records" | "keys" | "problems">,
    number: number,
    last: boolean
  ) =>
    batch.keys[number]!.map((keys, row) => {
      const targets: Array<bigint> = []
      for (const key of keys) {
        const found = field.known.get(key)!
        if (typeof found === "bigint") targets.push(found)
        else if (field.self && !last) {
          outcomes.postpone(batch.first + row)
          return undefined
        } else {
          const written = field.written(batch.records[row]!.cells[field.index], key)
          problemAt(batch.problems, row, field.header, unresolved(field, written, found))
        }
      }
      return targets
    })

  const collect = Effect.fnUntraced(function* ({ problems, records }: Pick<Batch, "records" | "problems">) {
    for (const [row, found] of [...problems].sort(([a], [b]) => a - b)) {
      bad.add(records[row]!.line, found)
      if (bad.full) return yield* bad.error()
    }
  })

  const upsert = Effect.fnUntraced(function* (batch: Batch, ones: ReadonlyArray<ReadonlyArray<bigint | null>>) {
    const writer = new SqlWriter()
    const physical = fields.values.flatMap((field) => field.physical)
    const oneFields = fields.references.flatMap(({ storage }) => (storage._tag === "One" ? [storage] : []))
    const keyed = fields.id !== undefined
    const columns = [...physical, ...oneFields].map(({ column }) => identifier(column))
    const organizationId = writer.bind(organization.id, "bigint")
    const arrays = [
      writer.bind(bigints(batch.ids), "bigint[]"),
      ...(keyed ? [writer.bind(texts(batch.externalIds), "text[]")] : []),
      ...batch.values.map((values) => writer.bind(texts(values), "text[]")),
      ...ones.map((ids) => writer.bind(bigints(ids), "bigint[]"))
    ]
    const timeZone = physical.some(({ kind }) => kind === "timestamp") ? writer.bind(organization.timeZone, "text") : ""
    const selected = physical.map(({ kind }, number) => {
      const value = `u.v${number}`
      if (kind === "timestamp") {
        return `CASE WHEN ${value} ~ '(Z|[+-][0-9]{2}:?[0-9]{2})$' THEN ${value}::timestamptz ELSE timezone(${timeZone}, ${value}::timestamp) END`
      }
      return CAST[kind] === undefined ? value : `${value}::${CAST[kind]}`
    })
    const key = keyed ? ", external_id" : ""
    const changed = (alias: string) => `(${columns.map((column) => `${alias}.${column}`).join(", ")})`
    const rows = yield* sql.unsafe<{ id: bigint; external_id?: string }>(
      `/* max import */ INSERT INTO ${table} AS t (organization_id, id${key}, ${columns.join(", ")}) ` +
        `SELECT ${organizationId}, u.id${keyed ? ", u.external_id" : ""}, ${[...selected, ...oneFields.map((_, number) => `u.r${number}`)].join(", ")} ` +
        `FROM unnest(${arrays.join(", ")}) AS u(id${key}${physical.map((_, number) => `, v${number}`).join("")}${oneFields.map((_, number) => `, r${number}`).join("")})` +
        (keyed
          ? ` ON CONFLICT (organization_id, external_id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")} ` +
            `WHERE ${changed("t")} IS DISTINCT FROM ${changed("excluded")}`
          : "") +
        ` RETURNING t.id${keyed ? ", t.external_id" : ""}`,
      writer.parameters
    )
    const byId = new Map(batch.ids.map((id, row) => [id, row]))
    const byExternalId = new Map(batch.externalIds.map((id, row) => [id, row]))
    for (const { external_id, id } of rows) {
      const inserted = byId.get(id)
      outcomes.mark(
        batch.first + (inserted ?? byExternalId.get(external_id!)!),
        inserted === undefined ? "updated" : "inserted"
      )
    }
  })

  /** The ids of rows that have been written, by what the file calls them. */
  const entityIds = Effect.fnUntraced(function* (externalIds: ReadonlyArray<string | null>) {
    const rows = yield* sql.unsafe<{ id: bigint; external_id: string }>(
      `SELECT t.id, t.external_id FROM ${table} t WHERE t.organization_id = $1::bigint AND t.external_id = ANY($2::text[])`,
      [organization.id, texts(externalIds)]
    )
    const found = new Map(rows.map(({ external_id, id }) => [external_id, id]))
    return externalIds.map((externalId) => found.get(externalId!)!)
  })

  /** Makes a relation of these entities be exactly what the file says. */
  const link = Effect.fnUntraced(function* (
    storage: Extract<Storage, { readonly _tag: "Many" }>,
    numbers: ReadonlyArray<number>,
    ids: ReadonlyArray<bigint>,
    targets: ReadonlyArray<ReadonlyArray<bigint> | undefined>
  ) {
    const [links, from, to] = [qualified(storage.link), identifier(storage.from), identifier(storage.to)]
    const rows = ids.flatMap((id, row) => (targets[row] === undefined ? [] : [{ id, targets: targets[row] }]))
    const pairs = rows.flatMap((row) => [...new Set(row.targets)].map((target) => [row.id, target] as const))
    const changed = yield* sql.unsafe<{ id: bigint }>(
      `/* max import links */ WITH wanted AS (SELECT w.a, w.b FROM unnest($3::bigint[], $4::bigint[]) AS w(a, b)), ` +
        `removed AS (DELETE FROM ${links} l WHERE l.organization_id = $1::bigint AND l.${from} = ANY($2::bigint[]) ` +
        `AND NOT EXISTS (SELECT 1 FROM wanted w WHERE w.a = l.${from} AND w.b = l.${to}) RETURNING l.${from} AS id), ` +
        `added AS (INSERT INTO ${links} AS l (organization_id, ${from}, ${to}) SELECT $1::bigint, w.a, w.b FROM wanted w ` +
        `ON CONFLICT DO NOTHING RETURNING l.${from} AS id) SELECT id FROM removed UNION SELECT id FROM added`,
      [
        organization.id,
        bigints(rows.map((row) => row.id)),
        bigints(pairs.map(([id]) => id)),
        bigints(pairs.map(([, target]) => target))
      ]
    )
    const byId = new Map(ids.map((id, row) => [id, numbers[row]!]))
    for (const { id } of changed) outcomes.mark(byId.get(id)!, "updated")
  })

  const writeBatch = Effect.fnUntraced(function* (batch: Batch) {
    for (const [number, field] of fields.references.entries()) yield* resolve(field, batch.keys[number]!)
    const targets = fields.references.map((field, number) => targetsOf(field, batch, number, false))
    yield* collect(batch)
    if (bad.some) return
    yield* upsert(
      batch,
      targets.flatMap((found, number) =>
        fields.references[number]!.storage._tag === "One" ? [found.map((ids) => ids?.[0] ?? null)] : []
      )
    )
    if (fields.id === undefined && own.length > 0) outcomes.keep(batch.first, batch.ids)
    if (!fields.references.some(({ storage }) => storage._tag === "Many")) return
    const ids = fields.id === undefined ? batch.ids : yield* entityIds(batch.externalIds)
    for (const [number, { storage }] of fields.references.entries()) {
      if (storage._tag === "Many")
        yield* link(
          storage,
          batch.records.map((_, row) => batch.first + row),
          ids,
          targets[number]!
        )
    }
  })

  /** Whether rows of the file have changed what its references lead to: another record, or two by now. */
  const moved = Effect.fnUntraced(function* () {
    if (forgotten) return true
    for (const { known, ...field } of own) {
      const settled = [...known].filter(([, found]) => typeof found === "bigint")
      const now = { ...field, known: new Map<string, Target>() }
      if (settled.length > 0)
        yield* find(
          now,
          settled.map(([key]) => key)
        )
      if (settled.some(([key, found]) => now.known.get(key) !== found)) return true
    }
    return false
  })

  /** Writes the references of rows to rows of the same file, now that all are there. */
  const writePostponed = Effect.fnUntraced(function* (first: number, all: ReadonlyArray<FileRecord>, every: boolean) {
    const rows = all.map((_, row) => row).filter((row) => every || outcomes.isPostponed(first + row))
    if (rows.length === 0) return
    const records = rows.map((row) => all[row]!)
    const problems: Batch["problems"] = new Map()
    const keys = own.map((field) =>
      records.map(({ cells }) => {
        const read = field.read(cells[field.index])
        return typeof read === "string" ? [] : read
      })
    )
    for (const [number, field] of own.entries()) yield* resolve(field, keys[number]!)
    const targets = own.map((field, number) => targetsOf(field, { first, records, keys, problems }, number, true))
    yield* collect({ records, problems })
    if (bad.some) return
    const ids =
      fields.id === undefined
        ? rows.map((row) => outcomes.kept(first + row))
        : yield* entityIds(records.map(({ cells }) => (cells[fields.id!] as string).trim()))
    const numbers = rows.map((row) => first + row)
    for (const [number, { storage }] of own.entries()) {
      if (storage._tag === "Many") {
        yield* link(storage, numbers, ids, targets[number]!)
        continue
      }
      const column = identifier(storage.column)
      const changed = yield* sql.unsafe<{ id: bigint }>(
        `/* max import */ UPDATE ${table} t SET ${column} = u.target FROM unnest($2::bigint[], $3::bigint[]) AS u(id, target) ` +
          `WHERE t.organization_id = $1::bigint AND t.id = u.id AND t.${column} IS DISTINCT FROM u.target RETURNING t.id`,
        [organization.id, bigints(ids), bigints(targets[number]!.map((found) => found![0] ?? null))]
      )
      const byId = new Map(ids.map((id, index) => [id, numbers[index]!]))
      for (const { id } of changed) outcomes.mark(byId.get(id)!, "updated")
    }
  })

  let forgotten = false
  yield* file.batches.pipe(
    Stream.map(convert),
    // The next batch is read while the database writes this one.
    Stream.buffer({ capacity: 1 }),
    Stream.runForEach(writeBatch)
  )
  if (outcomes.rows === 0) return yield* fault(`${file.name} has headers, but no rows`)
  if (bad.some) return yield* bad.error()
  if (own.length > 0) {
    const every = yield* moved()
    if (every || outcomes.postponed) {
      for (const field of own) field.known.clear()
      let row = 0
      yield* Stream.runForEach(file.batches, (records) => {
        const first = row
        row += records.length
        return writePostponed(first, records, every)
      })
      if (bad.some) return yield* bad.error()
    }
  }
  const warnings = [
    ...(fields.id === undefined
      ? [
          "The file has no id: every row became a new record, and importing it again would make them twice. To say which header is the id: --map HEADER=id"
        ]
      : []),
    ...fields.values.flatMap(({ header, keyless: what }, number) =>
      keyless[number] === 0
        ? []
        : [
            `${quoted(header).slice(1, -1)}: ${keyless[number]} value${keyless[number] === 1 ? " isn't" : "s aren't"} ${what} and can't be looked up by; the text is kept.`
          ]
    )
  ]
  return { counts: outcomes.counts(), warnings }
})

/** With more different keys than this, what they came to is looked up again. */
const MAX_KNOWN = 200_000
