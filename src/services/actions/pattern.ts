/** Patterns of fields: a small part of regular expressions, whose worst case is bounded before any value is matched. */

/** The most characters of a value with a pattern, where its field says none. */
export const MAX_MATCHED = 200
/** Steps of backtracking. */
const MAX_STEPS = 1_000_000

const TOO_MANY = "It has too many repetitions: bound them, as in {1,20}."
/** Stands for a back reference. */
const BACK = "\u0000"

/** A well-formed pattern in which each class and each escaped character is one character. */
const withoutClasses = (pattern: string): string => {
  let bare = ""
  let isInside = false
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!
    if (character === "\\") {
      at += 1
      if (!isInside) bare += /[1-9k]/.test(pattern[at] ?? "") ? BACK : "x"
    } else if (isInside) isInside = character !== "]"
    else {
      isInside = character === "["
      bare += isInside ? "x" : character
    }
  }
  return bare
}

/** Why a pattern isn't accepted; undefined for one that is. */
export const patternProblem = (pattern: string, maxLength = MAX_MATCHED): string | undefined => {
  try {
    compiledPattern(pattern)
  } catch {
    return "It isn't a regular expression."
  }
  const bare = withoutClasses(pattern)
  if (bare.includes(BACK) || /\(\?(?!:)/.test(bare)) return "It has a back reference, a lookaround or a named group."
  if (/\)[*+{]/.test(bare)) return "It repeats a group: repeat single characters or classes only."
  if (/\{\d{5}|,\d{5}/.test(bare)) return TOO_MANY
  const steps = [...bare.matchAll(/[*+]|\{(\d{1,4})(,?)(\d{0,4})\}/g)].reduce(
    (product, [whole, least, comma, most]) =>
      product *
      (whole === "*" || whole === "+" || (comma === "," && most === "")
        ? maxLength
        : comma === ","
          ? Number(most) - Number(least) + 1
          : 1),
    1
  )
  return steps > MAX_STEPS ? TOO_MANY : undefined
}

const compiled = new Map<string, RegExp>()

/** The pattern for the whole of a text; throws for a malformed one. */
export const compiledPattern = (pattern: string): RegExp => {
  const known = compiled.get(pattern) ?? new RegExp(`^(?:${pattern})$`, "u")
  compiled.set(pattern, known)
  return known
}
