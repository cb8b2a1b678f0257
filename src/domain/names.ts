/** Names: what a type or column can be called, and what a person's label or a slug comes to. */
import { foldText } from "./keys.ts"
import { printable } from "./text.ts"

const MAX_LABEL = 40
const SLUG = /^[a-z][a-z0-9_]{0,62}$/
/** Words that policies and filters give a meaning of their own. */
const RESERVED = new Set(["id", "all", "any", "not", "eq", "ne", "lt", "lte", "gt", "gte", "in", "me"])

export const isSlug = (text: string): boolean => SLUG.test(text)

export const isReservedSlug = (slug: string): boolean => RESERVED.has(slug)

/** The slug that a person's label comes to: its letters without accents and its digits; empty when it has none. */
export const slugFrom = (label: string): string =>
  foldText(printable(label))
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+/, "")
    .slice(0, 63)
    .replace(/_+$/, "")

/** What a column is called where people read it: the label on one line, at most 40 characters. */
export const labelFrom = (text: string): string => {
  const words = printable(text).replace(/\s+/g, " ").trim()
  const label = /^[a-z0-9_]+$/.test(words) ? sentence(words) : words
  return [...label].slice(0, MAX_LABEL).join("").trim()
}

const sentence = (slug: string): string => {
  const words = slug
    .split("_")
    .filter((word) => word !== "")
    .join(" ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The name of one and of many that a type's slug comes to. */
export const namesFrom = (slug: string): { readonly name: string; readonly pluralName: string } => {
  const words = sentence(slug)
  const one = words.endsWith("ies")
    ? `${words.slice(0, -3)}y`
    : /(ss|x|ch|sh)es$/.test(words)
      ? words.slice(0, -2)
      : /[^s]s$/.test(words)
        ? words.slice(0, -1)
        : words
  return { name: labelFrom(one), pluralName: labelFrom(one === words ? `${words}s` : words) }
}
