/** English singular and plural forms, for names made of physical names. */
import { slugFrom } from "../../domain/names.ts"

/** A physical name, CamelCase or snake_case, as snake_case. */
export const words = (name: string): string =>
  slugFrom(name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2"))

const IRREGULAR: Readonly<Record<string, string>> = {
  person: "people",
  child: "children",
  man: "men",
  woman: "women",
  staff: "staff",
  news: "news",
  series: "series",
  media: "media",
  data: "data",
  equipment: "equipment",
  inventory: "inventory",
  history: "history",
  information: "information",
  status: "statuses",
  address: "addresses",
  bus: "buses",
  index: "indexes"
}
const SINGULAR = new Map(Object.entries(IRREGULAR).map(([one, many]) => [many, one]))

/** Applies a change to the last word. */
const last = (slug: string, change: (word: string) => string): string => {
  const at = slug.lastIndexOf("_") + 1
  return slug.slice(0, at) + change(slug.slice(at))
}

export const singular = (slug: string): string =>
  last(slug, (word) => {
    const irregular = SINGULAR.get(word)
    if (irregular !== undefined) return irregular
    if (Object.hasOwn(IRREGULAR, word) || /(ss|us|is)$/.test(word)) return word
    if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
    if (/(ss|x|ch|sh|z)es$/.test(word)) return word.slice(0, -2)
    return /[^s]s$/.test(word) ? word.slice(0, -1) : word
  })

export const plural = (slug: string): string =>
  last(singular(slug), (word) => {
    if (Object.hasOwn(IRREGULAR, word)) return IRREGULAR[word]!
    if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
    return /(s|x|ch|sh|z)$/.test(word) ? `${word}es` : `${word}s`
  })

const sentence = (slug: string): string => {
  const text = slug.replaceAll("_", " ")
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

export const nameOf = (slug: string): string => sentence(singular(slug))
export const pluralNameOf = (slug: string): string => sentence(plural(slug))
