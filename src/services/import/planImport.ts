/** Which header goes where: into a column, a new column, the id, or nowhere. */
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
import { isReservedSlug, isSlug, slugFrom } from "../../domain/names.ts"
import { printable, quoted } from "../../domain/text.ts"
import { MANAGED } from "../catalog/physicalColumns.ts"
import { fault, list, suggestion, word } from "./faults.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

/** What is asked of a plan. */
export interface PlanRequest {
  /** Slug of the type. */
  readonly type: string
  /** Header → column slug, `id`, or `column:type.column` for a reference found by another type's column. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Headers that are left out. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** Makes the type and the columns that the organization doesn't have. */
  readonly create?: boolean | undefined
}

/** The column of another type by which a reference is found; `id` is what that type was imported by. */
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
  /** The type that it leads to; without one its kind is inferred. */
  readonly target?: string
}

interface FilePlan {
  readonly file: ImportFile
  readonly mapped: ReadonlyArray<Mapped>
}

export interface Plan {
  /** The type as it is, where there is one. */
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
  const type = yield* typeOf(request, catalog)
  yield* checkOptions(files, request)
  const created: Array<Created> = []
  const plans: Array<FilePlan> = []
  for (const file of files) {
    const told = toldOf(file, request)
    const mapped: Array<Mapped> = []
    const unknown: Array<string> = []
    for (const [index, header] of file.headers.entries()) {
      const { ignored, to } = told(header)
      if (ignored && to !== undefined) return yield* fault(`${quoted(header)} is both mapped and ignored`)
      if (ignored) continue
      const place =
        to === undefined
          ? yield* placeByName(header, type, request)
          : yield* placeAsTold(header, to, type, request, catalog)
      if (place === undefined) {
        unknown.push(header)
        continue
      }
      const { creates, slug, via } = place
      const other = mapped.find((entry) => entry.slug === slug)
      if (other !== undefined) return yield* twice(other.header, header, slug)
      mapped.push({ header, index, slug, ...(via === undefined ? {} : { via }) })
      if (creates !== undefined && !created.some((known) => known.slug === slug)) created.push({ slug, ...creates })
    }
    const where = files.length === 1 ? "" : `${file.name}: `
    if (unknown.length > 0) return yield* unknownHeaders(where, unknown, type!)
    if (!mapped.some(({ slug }) => slug === DISPLAY_NAME)) {
      return yield* fault(
        `${where}${where === "" ? "No" : "no"} header is the name, and every record has one. Say which it is: --map HEADER=name. The file has: ${list(file.headers)}`
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

/** The type that the rows go into; none where the import is to make it. */
const typeOf = Effect.fnUntraced(function* (request: PlanRequest, catalog: Catalog) {
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
  return type
})

/** The header that an option means: as it is written, or else with other capitals and accents. */
const meant = (headers: ReadonlyArray<string>, given: string): string | undefined =>
  headers.find((header) => header === given.trim()) ?? headers.find((header) => foldText(header) === foldText(given))

/** Every header that an option speaks of is in one of the files at least. */
const checkOptions = Effect.fnUntraced(function* (files: ReadonlyArray<ImportFile>, request: PlanRequest) {
  const headers = files.flatMap((file) => file.headers)
  for (const [option, given] of [
    ...Object.keys(request.map ?? {}).map((header) => ["--map", header] as const),
    ...(request.ignore ?? []).map((header) => ["--ignore", header] as const)
  ]) {
    if (meant(headers, given) !== undefined) continue
    const [none, has] =
      files.length === 1 ? [`${files[0]!.name} has no header`, "It has"] : ["no file has the header", "They have"]
    return yield* fault(
      `${option}: ${none} ${quoted(given)}.${suggestion(given, headers)} ${has}: ${list([...new Set(headers)])}`
    )
  }
})

/** What was said of a file's headers. */
const toldOf = ({ headers }: ImportFile, request: PlanRequest) => {
  const told = new Map(Object.entries(request.map ?? {}).map(([given, to]) => [meant(headers, given), to]))
  const ignored = new Set((request.ignore ?? []).map((given) => meant(headers, given)))
  return (header: string) => ({ to: told.get(header), ignored: ignored.has(header) })
}

/** Where a header goes, and the column that is made for it, if one is. */
interface Place {
  readonly slug: string
  readonly via?: Via | undefined
  readonly creates?: Pick<Created, "name" | "target">
}

/** The place of a header that `--map` speaks of. */
const placeAsTold = Effect.fnUntraced(function* (
  header: string,
  to: string,
  type: EntityType | undefined,
  request: PlanRequest,
  catalog: Catalog
): Effect.fn.Return<Place, OperatorError> {
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
    return { slug, via, creates: { name: slug, ...(via === undefined ? {} : { target: via.type }) } }
  }
  if (via !== undefined) {
    const target = column && targetOf(catalog, column)?.slug
    if (target === undefined)
      return yield* fault(`--map ${word(header)}=${to}: ${slug} isn't a reference. Write --map ${word(header)}=${slug}`)
    if (target !== via.type)
      return yield* fault(
        `--map ${word(header)}=${to}: ${slug} leads to ${target}. Write --map ${word(header)}=${slug}:${target}.COLUMN`
      )
  }
  return { slug, via }
})

/** The place of a header that nothing was said of; none where no column is meant and none is to be made. */
const placeByName = Effect.fnUntraced(function* (
  header: string,
  type: EntityType | undefined,
  request: PlanRequest
): Effect.fn.Return<Place | undefined, OperatorError> {
  const own = ownColumn(header, type)
  if (own !== undefined) return { slug: own }
  if (request.create !== true) return undefined
  const slug = slugFrom(header)
  if (!isSlug(slug) || isReservedSlug(slug)) return yield* badSlug(header, slug)
  return { slug, creates: { name: header } }
})

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

/** What references are found by is there: in the catalog, or among what the same file brings. */
const checkVias = Effect.fnUntraced(function* (mapped: ReadonlyArray<Mapped>, request: PlanRequest, catalog: Catalog) {
  const types = catalog.types.map((known) => known.slug)
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
})

const twice = (one: string, other: string, slug: string) =>
  fault(
    `${quoted(one)} and ${quoted(other)} would both go into ${slug}. ` +
      `Leave one out (--ignore ${word(other)}) or say where it goes (--map ${word(other)}=COLUMN)`
  )

const badSlug = (header: string, slug: string) =>
  fault(
    isReservedSlug(slug)
      ? `A column can't be called ${slug}: that word means something else in policies and filters. Give it another name: --map ${word(header)}=NAME`
      : `No column name can be made of ${quoted(header)}: it has lower-case letters, digits and _, beginning with a letter. Give it one: --map ${word(header)}=NAME`
  )

const unknownHeaders = (where: string, unknown: ReadonlyArray<string>, type: EntityType) => {
  const first = unknown[0]!
  const data = /@|^-?\d+([.,]\d+)?$/.test(first) ? " Does the file begin with a line of headers?" : ""
  const what =
    unknown.length === 1
      ? `${type.pluralName} have no column for the header ${quoted(first)}.`
      : `${type.pluralName} have no column for the headers ${list(unknown)}.`
  return fault(
    `${where}${what}${data} For each: say which it is (--map ${word(first)}=COLUMN), leave it out (--ignore ${word(first)}), or make columns of them all (--create)`
  )
}
