/** What a file looks like before it is imported: its headers with samples, and the column that each means in each type. */
import { Effect, Stream } from "effect"
import { type Catalog, columnBySlug, DISPLAY_NAME, type EntityType, targetOf } from "../../domain/EntityType.ts"
import { slugFrom } from "../../domain/names.ts"
import { quoted } from "../../domain/text.ts"
import { MANAGED } from "../catalog/physicalColumns.ts"
import { ID, matchingColumn } from "./planImport.ts"
import { type FileOptions, openImportFile } from "./readers/ImportFile.ts"

const SAMPLES = 3
const SAMPLE_LENGTH = 60

/** A column of a type that a header can go into, as `--map` writes it, such as `owner:people.email`. */
export interface Destination {
  readonly to: string
  readonly label: string
}

export interface Proposal {
  readonly name: string
  readonly format: string
  readonly warnings: ReadonlyArray<string>
  readonly headers: ReadonlyArray<{ readonly header: string; readonly samples: ReadonlyArray<string> }>
  readonly types: ReadonlyArray<{
    readonly slug: string
    readonly name: string
    readonly destinations: ReadonlyArray<Destination>
    /** By position of the header: where it goes; null for one that no column matches. */
    readonly proposed: ReadonlyArray<string | null>
  }>
  /** The slug of the type that fits best, or of a new one, from the file's name. */
  readonly type: string
}

/** Reads the beginning of a file. Types that are read from tables of other programs take no rows and aren't offered. */
export const propose = (path: string, catalog: Catalog, options: FileOptions) =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openImportFile(path, options)
      const [first = []] = yield* Stream.runCollect(Stream.take(file.batches, 1))
      const headers = file.headers.map((header, index) => ({
        header,
        samples: samplesOf(first.map(({ cells }) => cells[index]))
      }))
      const types = catalog.types
        .filter(({ relation }) => relation.schema === MANAGED)
        .map((type) => ({
          slug: type.slug,
          name: type.pluralName,
          destinations: destinationsOf(type, catalog),
          proposed: headers.map(({ header, samples }) => {
            const slug = matchingColumn(header, file.headers, type)
            return slug === undefined ? null : lookedUp(slug, samples, type, catalog)
          })
        }))
      return {
        name: file.name,
        format: file.format,
        warnings: file.warnings,
        headers,
        types,
        type: bestType(slugFrom(file.name.replace(/\.[^.]*$/, "")), types)
      } satisfies Proposal
    })
  )

const samplesOf = (cells: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const texts = new Set<string>()
  for (const cell of cells) {
    if (texts.size === SAMPLES) break
    const text = Array.isArray(cell) ? cell.join("; ") : typeof cell === "string" ? cell.trim() : ""
    if (text !== "") texts.add(quoted(text.slice(0, SAMPLE_LENGTH)).slice(1, -1))
  }
  return [...texts]
}

/** The columns of the target that a reference can be looked up by, after the id that the target was imported with. */
const LOOKUPS = [DISPLAY_NAME, "email", "phone"]

const destinationsOf = (type: EntityType, catalog: Catalog): ReadonlyArray<Destination> => [
  { to: ID, label: "id, to import the row again" },
  ...type.columns.flatMap((column): ReadonlyArray<Destination> => {
    const target = targetOf(catalog, column)
    if (target === undefined) return [{ to: column.slug, label: column.name }]
    const lookups = LOOKUPS.filter((slug) => slug === DISPLAY_NAME || columnBySlug(target, slug) !== undefined)
    return [...lookups, ID].map((slug) => ({
      to: `${column.slug}:${target.slug}.${slug}`,
      label: `${column.name}, by ${slug}`
    }))
  })
]

/** A reference's destination with the lookup column that its values look like: an address, or else the name. */
const lookedUp = (slug: string, samples: ReadonlyArray<string>, type: EntityType, catalog: Catalog): string => {
  const column = columnBySlug(type, slug)
  const target = column && targetOf(catalog, column)
  if (target === undefined) return slug
  const isMail = samples.some((sample) => sample.includes("@")) && columnBySlug(target, "email") !== undefined
  return `${slug}:${target.slug}.${isMail ? "email" : DISPLAY_NAME}`
}

/** The type of the file's name, or the one with the most matching headers besides id and name; else a new one. */
const bestType = (named: string, types: Proposal["types"]): string => {
  if (types.some(({ slug }) => slug === named)) return named
  const scored = types
    .map(({ proposed, slug }) => ({
      slug,
      score: proposed.filter((to) => to !== null && to !== ID && to !== DISPLAY_NAME).length
    }))
    .sort((a, b) => b.score - a.score)
  const [best] = scored
  return best !== undefined && best.score > 0 ? best.slug : named
}
