/** What an import says when it can't go on, and how it repeats the words of a file and of a command line. */
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"

export const fault = (message: string) =>
  new OperatorError({ message: `${message}${/[.?!]$/.test(message) ? "" : "."}` })

/** A header as it is typed on a command line. */
export const word = (header: string): string => (/^[\w.@-]+$/.test(header) ? header : quoted(header))

export const list = (headers: ReadonlyArray<string>): string =>
  headers
    .slice(0, 12)
    .map((header) => quoted(header).slice(1, -1))
    .join(", ") + (headers.length > 12 ? ", …" : "")

export const suggestion = (given: string, known: ReadonlyArray<string>): string => {
  const near = closest(given, known)
  return near === undefined ? "" : ` Did you mean ${quoted(near).slice(1, -1)}?`
}
