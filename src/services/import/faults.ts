/** Messages of refused imports, and how they quote files and command lines. */
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"

export const fault = (message: string) => OperatorError.of(`${message}${/[.?!]$/.test(message) ? "" : "."}`)

/** A header as a word of a command line. */
export const word = (header: string): string => (/^[\w.@-]+$/.test(header) ? header : quoted(header))

export const list = (headers: ReadonlyArray<string>): string =>
  headers
    .slice(0, 12)
    .map((header) => quoted(header).slice(1, -1))
    .join(", ") + (headers.length > 12 ? ", …" : "")

export const suggestion = (name: string, existing: ReadonlyArray<string>): string => {
  const near = closest(name, existing)
  return near === undefined ? "" : ` Did you mean ${quoted(near).slice(1, -1)}?`
}
