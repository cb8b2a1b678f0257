/** JSON pointers (RFC 6901) into an answer, in which `*` stands for every entry of a list. */
import { isJsonObject } from "../../domain/json.ts"

export const isPointer = (text: string): boolean => /^(\/([^~/]|~[01])*)*$/.test(text)

/** What a pointer leads to. */
const pointedAt = (document: unknown, pointer: string): ReadonlyArray<unknown> =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<ReadonlyArray<unknown>>(
      (found, part) =>
        found.flatMap((value) => {
          if (Array.isArray(value))
            return part === "*"
              ? value
              : /^\d{1,9}$/.test(part) && Number(part) < value.length
                ? [value[Number(part)]]
                : []
          return isJsonObject(value) && Object.hasOwn(value, part) ? [value[part]] : []
        }),
      [document]
    )

/** The texts, numbers and booleans that a pointer leads to, as texts. */
export const textsAt = (document: unknown, pointer: string): ReadonlyArray<string> =>
  pointedAt(document, pointer).flatMap((value) =>
    typeof value === "string" ? [value] : typeof value === "number" || typeof value === "boolean" ? [String(value)] : []
  )

/** The one list that a pointer leads to. */
export const listAt = (document: unknown, pointer: string): ReadonlyArray<unknown> | undefined => {
  const [found, ...others] = pointedAt(document, pointer)
  return Array.isArray(found) && others.length === 0 ? found : undefined
}
