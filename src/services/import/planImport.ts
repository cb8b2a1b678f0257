/** Plans an import: maps each header to a column, a new column, the id, or nothing. */
import { Effect } from "effect"
import {
  type Catalog,
  columnBySlug,
  DISPLAY_NAME,
  type EntityType,
  targetOf,
  typeBySlug
} from "../../domain/EntityType.ts"
import type { OperatorError } from "../../domain/errors.ts"
import { foldText } from "../../domain/keys.ts"
import { isReservedSlug, slugFrom, slugProblem } from "../../domain/names.ts"
import { printable, quoted } from "../../domain/text.ts"
import { MANAGED } from "../catalog/physicalColumns.ts"
import { fault, list, suggestion, word } from "./faults.ts"
import { meaningOf } from "./headerWords.ts"
import { Remedies } from "./remedies.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

export interface PlanRequest {
  /** Slug of the type. */
  readonly type: string
  /** Header → column slug, `id`, or `column:type.column` for a reference that is looked up by another type's column. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Headers to leave out. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** Creates the type and the columns that the organization doesn't have. */
  readonly create?: boolean | undefined
}

/** The lookup column of a reference: a column of the target type, or `id`, the id that the target was imported with. */
export interface Via {
  readonly type: string
  readonly column: string
}

export interface Mapped {
  readonly header: string
  readonly index: number
  /** The column's slug, or `id`. */
  readonly slug: string
  readonly via?: Via
}

export interface Created {
  readonly slug: string
  readonly name: string
  /** The slug of the target type of a reference; without one the kind is inferred. */
  readonly target?: string
}

interface FilePlan {
  readonly file: ImportFile
  readonly mapped: ReadonlyArray<Mapped>
}

export interface Plan {
  /** The existing type; undefined when the import creates it. */
  readonly type: EntityType | undefined
  readonly files: ReadonlyArray<FilePlan>
  readonly created: ReadonlyArray<Created>
}

export const ID = "id"
const TARGET = /^([^:.\s]+)(?::([^:.\s]+)\.([^:.\s]+))?$/

export const planImport = Effect.fnUntraced(function* (
  files: ReadonlyArray<ImportFile>,
  request: PlanRequest,
  catalog: Catalog
): Effect.fn.Return<Plan, OperatorError> {
  const remedies = yield* Remedies
  const type = yield* typeOf(request, catalog)
  yield* checkOptions(files, request)
  const created: Array<Created> = []
  const plans: Array<FilePlan> = []
  for (const file of files) {
    const optionsOf = headerOptions(file, request)
    const mapped: Array<Mapped> = []
    const unknown: Array<string> = []
    for (const [index, header] of file.headers.entries()) {
      const { ignored, to } = optionsOf(header)
      if (ignored && to !== undefined) return yield* fault(`${quoted(header)} is both mapped and ignored`)
      if (ignored) continue
      const destinations =
        to === undefined
          ? [yield* destinationByName(header, file.headers, type, request)]
          : yield* Effect.forEach(to.split(","), (each) => destinationByOption(header, each, type, request, catalog))
      for (const destination of destinations) {
        if (destination === undefined) {
          unknown.push(header)
          continue
        }
        const { creates, slug, via } = destination
        const other = mapped.find((entry) => entry.slug === slug)
        if (other !== undefined) return yield* duplicateDestination(other.header, header, slug, remedies)
        mapped.push({ header, index, slug, ...(via === undefined ? {} : { via }) })
        if (creates !== undefined && !created.some((column) => column.slug === slug)) created.push({ slug, ...creates })
      }
    }
    const where = files.length === 1 ? "" : `${file.name}: `
    if (unknown.length > 0) return yield* unknownHeaders(where, unknown, type!, file.headers.length, remedies)
    if (!mapped.some(({ slug }) => slug === DISPLAY_NAME)) {
      return yield* fault(
        `${where}${where === "" ? "No" : "no"} header maps to name, which every record needs. ${remedies.name} The file has: ${list(file.headers)}`
      )
    }
    plans.push({ file, mapped })
  }
  yield* checkVias(
    plans.flatMap(({ mapped }) => mapped),
    request,
    catalog
  )
  return { type, files: plans, created }
})

/** The type of the rows; undefined when the import creates it. */
const typeOf = Effect.fnUntraced(function* (request: PlanRequest, catalog: Catalog) {
  const { create } = yield* Remedies
  const type = typeBySlug(catalog, request.type)
  const types = catalog.types.map(({ slug }) => slug)
  if (type === undefined && (request.create !== true || types.includes(slugFrom(request.type)))) {
    const remedy = request.create === true ? "" : ` ${create}`
    return yield* fault(`There is no type ${quoted(request.type)}.${suggestion(request.type, types)}${remedy}`)
  }
  if (type !== undefined && type.relation.schema !== MANAGED) {
    return yield* fault(
      `${type.pluralName} are read from ${printable(type.relation.table)}, which Max doesn't write to: add the rows there`
    )
  }
  return type
})

/** The header that an option names: exactly, or else but for case and accents. */
const headerNamed = (headers: ReadonlyArray<string>, name: string): string | undefined => {
  const [trimmed, folded] = [name.trim(), foldText(name)]
  return headers.find((header) => header === trimmed) ?? headers.find((header) => foldText(header) === folded)
}

/** Refuses options whose header is in none of the files. */
const checkOptions = Effect.fnUntraced(function* (files: ReadonlyArray<ImportFile>, request: PlanRequest) {
  const remedies = yield* Remedies
  const headers = files.flatMap((file) => file.headers)
  for (const [option, name] of [
    ...Object.keys(request.map ?? {}).map((header) => ["map", header] as const),
    ...(request.ignore ?? []).map((header) => ["ignore", header] as const)
  ]) {
    if (headerNamed(headers, name) !== undefined) continue
    const [none, has] =
      files.length === 1 ? [`${files[0]!.name} has no header`, "It has"] : ["no file has the header", "They have"]
    return yield* fault(
      `${remedies.option(option)}: ${none} ${quoted(name)}.${suggestion(name, headers)} ${has}: ${list([...new Set(headers)])}`
    )
  }
})

/** The options for each header of a file. */
const headerOptions = ({ headers }: ImportFile, request: PlanRequest) => {
  const mapped = new Map(Object.entries(request.map ?? {}).map(([name, to]) => [headerNamed(headers, name), to]))
  const ignored = new Set((request.ignore ?? []).map((name) => headerNamed(headers, name)))
  return (header: string) => ({ to: mapped.get(header), ignored: ignored.has(header) })
}

/** The column of a header's values, or `id`; `creates` describes a column that doesn't exist yet. */
interface Destination {
  readonly slug: string
  readonly via?: Via | undefined
  readonly creates?: Pick<Created, "name" | "target">
}

/** The destination that an option names. */
const destinationByOption = Effect.fnUntraced(function* (
  header: string,
  to: string,
  type: EntityType | undefined,
  request: PlanRequest,
  catalog: Catalog
): Effect.fn.Return<Destination, OperatorError> {
  const remedies = yield* Remedies
  const named = remedies.option("map", `${word(header)}=${printable(to)}`)
  const [, slug, viaType, viaColumn] = TARGET.exec(to.trim()) ?? []
  if (slug === undefined) {
    return yield* fault(`${named}: after = comes a column, id, or column:type.column, such as owner:people.email`)
  }
  yield* checkStored(header, slug, type)
  const via = viaType === undefined || viaColumn === undefined ? undefined : { type: viaType, column: viaColumn }
  const column = type === undefined ? undefined : columnBySlug(type, slug)
  if (slug !== ID && slug !== DISPLAY_NAME && column === undefined) {
    if (request.create !== true) {
      return yield* fault(
        `${type!.pluralName} have no column ${quoted(slug)}.${suggestion(
          slug,
          type!.columns.map((each) => each.slug)
        )} ${remedies.create}`
      )
    }
    if (slugProblem(slug) !== undefined) return yield* badSlug(header, slug, remedies)
    return { slug, via, creates: { name: slug, ...(via === undefined ? {} : { target: via.type }) } }
  }
  if (via !== undefined) {
    const target = column && targetOf(catalog, column)?.slug
    if (target === undefined)
      return yield* fault(`${named}: ${slug} isn't a reference. ${remedies.column(header, slug)}`)
    if (target !== via.type)
      return yield* fault(
        `${named}: ${slug} leads to ${target}. ${remedies.column(header, `${slug}:${target}.COLUMN`)}`
      )
  }
  return { slug, via }
})

/** The destination of a header without an option; undefined when no column matches and none is created. */
const destinationByName = Effect.fnUntraced(function* (
  header: string,
  headers: ReadonlyArray<string>,
  type: EntityType | undefined,
  request: PlanRequest
): Effect.fn.Return<Destination | undefined, OperatorError> {
  yield* checkStored(header, slugFrom(header), type)
  const existing = matchingColumn(header, headers, type)
  if (existing !== undefined) return { slug: existing }
  if (request.create !== true) return undefined
  const slug = slugFrom(header)
  if (slugProblem(slug) !== undefined) return yield* badSlug(header, slug, yield* Remedies)
  return { slug, creates: { name: header } }
})

/** Refuses a header whose column is computed, as an export has it. */
const checkStored = Effect.fnUntraced(function* (header: string, slug: string, type: EntityType | undefined) {
  const computed = type?.derived?.find((column) => column.slug === slug || slugFrom(column.name) === slug)
  if (computed !== undefined)
    return yield* fault(
      `${quoted(header)}: ${computed.slug} is computed from other columns, and nothing is imported into it. ${(yield* Remedies).leaveOut(header)}`
    )
})

/** The column whose slug or label equals a header, or `id`. */
export const matchingColumn = (
  header: string,
  headers: ReadonlyArray<string>,
  type: EntityType | undefined
): string | undefined => {
  const slug = slugFrom(header)
  if (slug === ID || slug === DISPLAY_NAME) return slug
  const folded = foldText(header)
  const own =
    type?.columns.find((column) => column.slug === slug) ??
    type?.columns.find((column) => foldText(column.name) === folded)
  if (own !== undefined) return own.slug
  // Another word for a column of the same meaning, unless another header of the file is that column.
  const meant = meaningOf(header)
  if (meant === undefined || (meant !== DISPLAY_NAME && type?.columns.some(({ slug }) => slug === meant) !== true))
    return undefined
  const others = headers.filter((other) => other !== header)
  return others.some((other) => slugFrom(other) === meant) ||
    headers.find((other) => meaningOf(other) === meant) !== header
    ? undefined
    : meant
}

/** Checks that every lookup column exists: in the catalog, or among the columns of the import. */
const checkVias = Effect.fnUntraced(function* (mapped: ReadonlyArray<Mapped>, request: PlanRequest, catalog: Catalog) {
  const remedies = yield* Remedies
  const types = catalog.types.map((each) => each.slug)
  for (const { header, slug, via } of mapped) {
    if (via === undefined) continue
    const named = remedies.option("map", `${word(header)}=${slug}:${via.type}.${via.column}`)
    const target = typeBySlug(catalog, via.type)
    if (target === undefined && via.type !== request.type) {
      return yield* fault(`${named}: there is no type ${quoted(via.type)}.${suggestion(via.type, types)}`)
    }
    const columns = [...(target?.columns ?? []), ...(via.type === request.type ? mapped : [])].map(
      (column) => column.slug
    )
    if (![ID, DISPLAY_NAME, ...columns].includes(via.column)) {
      return yield* fault(
        `${named}: ${via.type} have no column ${quoted(via.column)}.${suggestion(via.column, columns)}`
      )
    }
  }
})

const duplicateDestination = (first: string, second: string, slug: string, remedies: Remedies) =>
  fault(`${quoted(first)} and ${quoted(second)} would both go into ${slug}. ${remedies.twice(second)}`)

const badSlug = (header: string, slug: string, { rename }: Remedies) =>
  fault(
    isReservedSlug(slug)
      ? `A column can't be called ${slug}: that word is reserved in policies and filters. ${rename(header)}`
      : `No column name can be made of ${quoted(header)}: it has lower-case letters, digits and _, beginning with a letter. ${rename(header)}`
  )

const unknownHeaders = (
  where: string,
  unknown: ReadonlyArray<string>,
  type: EntityType,
  headers: number,
  remedies: Remedies
) => {
  const first = unknown[0]!
  const data = /@|^-?\d+([.,]\d+)?$/.test(first) ? " Does the file begin with a line of headers?" : ""
  const further = unknown.length === headers ? ` If the header is further down, ${remedies.headerRow}` : ""
  const what =
    unknown.length === 1
      ? `${type.pluralName} have no column for the header ${quoted(first)}.`
      : `${type.pluralName} have no column for the headers ${list(unknown)}.`
  return fault(`${where}${what}${data || further} ${remedies.createAll(first)}`)
}
