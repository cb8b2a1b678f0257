/** Slugs, labels and names of types and columns, and the conversions between them. */
import { foldText } from "./keys.ts"
import { printable, withoutFinal } from "./text.ts"

const MAX_LABEL = 40
/** Characters of a text that a slug or label is derived from. */
const MAX_NAME = 1000
const SLUG = /^[a-z][a-z0-9_]{0,62}$/
/** Words with a special meaning in policies and filters. */
const RESERVED = new Set(["id", "all", "any", "not", "eq", "ne", "lt", "lte", "gt", "gte", "in", "me"])

export const isReservedSlug = (slug: string): boolean => RESERVED.has(slug)

/** Why a text can't be a slug; undefined for one that can. */
export const slugProblem = (text: string): string | undefined =>
  !SLUG.test(text)
    ? "a name is lower-case letters, digits and _, beginning with a letter"
    : isReservedSlug(text)
      ? "that word is reserved in policies and filters"
      : undefined

/** Derives a slug from a label: its letters without accents and its digits; empty if it has none. */
export const slugFrom = (label: string): string =>
  withoutFinal(
    foldText(printable(label.slice(0, MAX_NAME)))
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^_+/, "")
      .slice(0, 63),
    "_"
  )

/** Derives a display label: one line of at most 40 characters. */
export const labelFrom = (text: string): string => {
  const words = printable(text.slice(0, MAX_NAME)).replace(/\s+/g, " ").trim()
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

/** Derives a type's singular and plural names from its slug. */
export const namesFrom = (slug: string): { readonly name: string; readonly pluralName: string } => {
  const words = sentence(slug)
  const singular = words.endsWith("ies")
    ? `${words.slice(0, -3)}y`
    : /(ss|x|ch|sh)es$/.test(words)
      ? words.slice(0, -2)
      : /[^s]s$/.test(words)
        ? words.slice(0, -1)
        : words
  return { name: labelFrom(singular), pluralName: labelFrom(singular === words ? `${words}s` : words) }
}

/** In English, German, Dutch, the Nordic, Romance and some Slavic languages, with words for a number behind them. */
const PHONE =
  /(^|_)(phone|mobile|cell|cellphone|tel|telephone|msisdn|whatsapp|fax|handy|mobil|mobiel|gsm|movil|celular|cellulare|telemovel|rufnummer|festnetz|puhelin)(nummer|numer|nr)?(_?\d)?(_|$)|(phone|tele(f|ph)one?|telefoon|telefono|telefon)(nummer|numer|nr)?(_?\d)?$/

/** Whether a slug names a phone number. */
export const isPhoneName = (slug: string): boolean => PHONE.test(slug)
