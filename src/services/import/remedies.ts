/** What helps against a refused import, in the words of where it was started: options of the command, or controls of the page. */
import { Context } from "effect"
import { word } from "./faults.ts"

interface Words {
  /** An option, and its value if it is refused for that. */
  readonly option: (option: "map" | "ignore" | "dates" | "locale", value?: string) => string
  readonly create: string
  readonly createAll: (header: string) => string
  readonly name: string
  readonly column: (header: string, to: string) => string
  readonly rename: (header: string) => string
  readonly lookUp: (header: string, to: string) => string
  readonly leaveOut: (header: string) => string
  readonly twice: (header: string) => string
  readonly id: string
  readonly headerRow: string
  readonly encoding: string
}

const byCommand: Words = {
  option: (option, value) => `--${option}${value === undefined ? "" : ` ${value}`}`,
  create: "To create it, add --create",
  createAll: (header) =>
    `For each: map it (--map ${word(header)}=COLUMN), leave it out (--ignore ${word(header)}), or create columns for all of them (--create)`,
  name: "Add: --map HEADER=name.",
  column: (header, to) => `Write --map ${word(header)}=${to}`,
  rename: (header) => `Give it another name: --map ${word(header)}=NAME`,
  lookUp: (header, to) => `To look them up by another column: --map ${word(header)}=${to}`,
  leaveOut: (header) => `Leave it out: --ignore ${word(header)}`,
  twice: (header) => `Leave one out (--ignore ${word(header)}) or map it elsewhere (--map ${word(header)}=COLUMN)`,
  id: "To name the id: --map HEADER=id",
  headerRow: "say where: --header-row ROW.",
  encoding: "name the encoding: --encoding NAME"
}

const OPTIONS = { map: "Goes into", ignore: "Leave it out", dates: "Order of dates", locale: "Dates and numbers" }

const byPage: Words = {
  option: (option, value) => `${OPTIONS[option]}${value === undefined ? "" : `, ${value}`}`,
  create: "To create it, choose “A new type …”, or “a new column” for the header.",
  createAll: () => "For each, choose a column, “a new column”, or “nothing: leave it out”",
  name: "Choose “name” for one of them.",
  column: (header, to) => `Choose ${to} for ${word(header)}`,
  rename: () => "Give the header another name in the file, or leave it out",
  lookUp: () => "To look them up by another column, choose it under “Goes into”.",
  leaveOut: () => "Choose “nothing: leave it out” for it",
  twice: () => "Choose another column for one of them, or “nothing: leave it out”",
  id: "To import it again later, choose “id” for the column that has it.",
  headerRow: "say in which row it is.",
  encoding: "choose the encoding of the file."
}

/** The words of one import; those of the command unless a page began it. */
export const Remedies = Context.Reference<Words>("max/services/import/Remedies", { defaultValue: () => byCommand })
export type Remedies = Words

export const ofPage = byPage
