/** English word forms in replies and examples. */

/** A word inside a sentence: "Deals" → "deals", "VAT" stays. */
export const uncapitalized = (word: string): string =>
  /^\p{Lu}\p{Lu}/u.test(word) ? word : word.slice(0, 1).toLowerCase() + word.slice(1)

export const possessive = (name: string): string => (name.endsWith("s") ? `${name}'` : `${name}'s`)
