/** A list of people with identifiers, names and roles, read from a file: who is invited, or who the members are. */
import { Effect, Stream } from "effect"
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { slugFrom } from "../../domain/names.ts"
import { meaningOf } from "./headerWords.ts"
import type { Cell, FileRecord } from "./readers/FileRecord.ts"
import { type FileOptions, openImportFile } from "./readers/ImportFile.ts"

/** Characters of an address, a name and a role. */
const MAX_TEXT = 200

export interface ListedPerson {
  /** Such as "line 3". */
  readonly place: string
  /** An e-mail address or phone number as it is written. */
  readonly identifier: string
  readonly name?: string
  /** Left out where the file says none. */
  readonly roles?: ReadonlyArray<string>
}

interface PeopleList {
  readonly warnings: ReadonlyArray<string>
  readonly hasRoles: boolean
  readonly people: ReadonlyArray<ListedPerson>
  /** What is wrong with the other records, each with its place. */
  readonly problems: ReadonlyArray<string>
}

/** Reads the whole list, or fails if it has more than `most` records. */
export const readPeopleList = Effect.fn("peopleList.read")(function* (
  path: string,
  { most, ...options }: FileOptions & { readonly most?: number } = {}
) {
  const file = yield* openImportFile(path, options)
  const place = (slug: string) => {
    const exact = file.headers.findIndex((header) => slugFrom(header) === slug)
    return exact >= 0 ? exact : file.headers.findIndex((header) => meaningOf(header) === slug)
  }
  const identifiers = ["identifier", "email", "phone"].map(place).filter((index) => index >= 0)
  const [name, role] = [place(DISPLAY_NAME), place("role")]
  if (identifiers.length === 0)
    return yield* OperatorError.of(
      `${file.name} has no column with e-mail addresses or phone numbers. Name one of its headers E-mail, Phone or identifier.`
    )
  const all = Stream.flattenIterable(file.batches)
  const records = yield* Stream.runCollect(most === undefined ? all : Stream.take(all, most + 1))
  if (most !== undefined && records.length > most)
    return yield* OperatorError.of(`${file.name} has more than ${most} people.`)
  const rows = records.map(({ cells, line, problem }: FileRecord): ListedPerson | string => {
    const place = `${file.unit} ${line}`
    if (problem !== undefined) return `${place}: ${problem}`
    const identifier = identifiers.map((index) => textOf(cells[index])).find((text) => text !== "")
    if (identifier === undefined) return `${place}: there is no e-mail address or phone number.`
    const called = name < 0 ? "" : textOf(cells[name])
    const roles = role < 0 ? [] : rolesOf(cells[role])
    if (identifier.length > MAX_TEXT || called.length > MAX_TEXT || roles.some((one) => one.length > MAX_TEXT))
      return `${place}: an address, a name and a role have at most ${MAX_TEXT} characters.`
    return {
      place,
      identifier,
      ...(called === "" ? {} : { name: called }),
      ...(roles.length === 0 ? {} : { roles })
    }
  })
  return {
    warnings: file.warnings,
    hasRoles: role >= 0,
    people: rows.filter((row) => typeof row !== "string"),
    problems: rows.filter((row) => typeof row === "string")
  } satisfies PeopleList
}, Effect.scoped)

const textOf = (cell: Cell): string =>
  typeof cell === "string" ? cell.trim() : Array.isArray(cell) ? cell.join(";").trim() : ""

const rolesOf = (cell: Cell): ReadonlyArray<string> =>
  textOf(cell)
    .split(/[;,]/)
    .map((one) => one.trim())
    .filter((one) => one !== "")
