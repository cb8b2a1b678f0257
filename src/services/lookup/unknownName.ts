/** The error of a name that is unknown or hidden: both read the same. */
import { UnknownName } from "../../domain/errors.ts"
import { closest } from "../../domain/text.ts"

export const unknownName = (name: string, message: string, visibleNames: ReadonlyArray<string>): UnknownName => {
  const near = closest(name, visibleNames)
  const hint =
    near !== undefined
      ? ` Did you mean ${near}?`
      : visibleNames.length > 0
        ? ` Known: ${visibleNames.slice(0, 12).join(", ")}${visibleNames.length > 12 ? ", …" : ""}.`
        : ""
  return new UnknownName({ message: `${message}${hint}` })
}
