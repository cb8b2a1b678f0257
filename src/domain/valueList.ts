/**
 * The grammar of a filter's value: `a|b` any of, `*` any value, `a..b` a range with both ends in it. A backslash makes `|`,
 * `*` and `..` plain characters; before anything else it is a backslash.
 */

/** One alternative of a value. A range lacks an end on an open side; its text is what it means to a column without order. */
export type Term =
  | { readonly _tag: "Any" }
  | { readonly _tag: "Value"; readonly text: string }
  | {
      readonly _tag: "Range"
      readonly from: string | undefined
      readonly to: string | undefined
      readonly text: string
    }

const SPECIAL = /[|*]|\.\./

/** Whether a value stands for itself. Skips the grammar for most values, on the hot path of lookups. */
export const isPlain = (value: string): boolean => !SPECIAL.test(value)

/** A backslash with what it makes plain, a bar, two dots that aren't part of a longer row of dots, or one other character. */
const TOKEN = /\\(?:[|*]|\.\.(?!\.))|\||\.{3,}|\.\.|[^]/gu

/** The alternatives of a value, in order. */
export const readTerms = (value: string): ReadonlyArray<Term> => {
  const terms: Array<Term> = []
  let parts = [""]
  let escaped = false
  const finish = () => {
    const text = parts.join("..")
    const [from, to] = parts.map((part) => (part.trim() === "" ? undefined : part))
    if (!escaped && text.trim() === "*") terms.push({ _tag: "Any" })
    else if (parts.length === 2 && (from !== undefined || to !== undefined))
      terms.push({ _tag: "Range", from, to, text })
    else terms.push({ _tag: "Value", text })
    parts = [""]
    escaped = false
  }
  for (const [token] of value.matchAll(TOKEN)) {
    if (token === "|") finish()
    else if (token === "..") parts.push("")
    else {
      const plain = token.length > 1 && token.startsWith("\\")
      escaped ||= plain
      parts[parts.length - 1] += plain ? token.slice(1) : token
    }
  }
  finish()
  return terms
}

/** A value that means exactly this text: for names and ids that a person or a row supplies. */
export const plainValue = (text: string): string =>
  isPlain(text) ? text : text.replace(/[|*]|(?<!\.)\.\.(?!\.)/g, "\\$&")
