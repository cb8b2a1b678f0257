/**
 * Keys: the one place where a value becomes what it is searched by. The importer writes keys, filters are compared
 * with keys, so both must come from here.
 */
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"

/** What no normal form takes apart; the fold in SQL (database/migrations) is made from this too. */
export const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŧ: "t",
  ĸ: "k",
  ŋ: "n",
  ς: "σ",
  "’": "'",
  "‘": "'"
}
const UNDECOMPOSED_PATTERN = /[ßæœøđðþłħıŧĸŋς’‘]/g
const NON_ASCII = /[^\x20-\x7e]/

/** Text folded for search: lower case, accents off, compatibility forms unified, white space collapsed. */
export const foldText = (text: string): string => {
  const lower = NON_ASCII.test(text)
    ? text
        .normalize("NFKD")
        .replace(/\p{M}+/gu, "")
        .toLowerCase()
        .replace(UNDECOMPOSED_PATTERN, (character) => UNDECOMPOSED[character] ?? character)
        .normalize("NFC")
    : text.toLowerCase()
  return lower.replace(/\s+/g, " ").trim()
}

/** What the library makes of ten digits there is known, and it takes 20 µs for it: a fifth of what a row of a file costs. */
const WITH_COUNTRY = /^\+1[2-9]\d{9}$/
const NORTH_AMERICAN = /^(?:\(([2-9]\d{2})\) ?|([2-9]\d{2})[-. ]?)(\d{3})[-. ]?(\d{4})$/

/**
 * A phone number in E.164, read with the organization's country; undefined when its length is impossible there or it
 * carries an extension (a switchboard is nobody's identity).
 */
export const phoneKey = (text: string, country: string): string | undefined => {
  if (text.length > 60) return undefined
  if (WITH_COUNTRY.test(text)) return text
  const plain = country === "US" || country === "CA" ? NORTH_AMERICAN.exec(text) : null
  if (plain !== null) return `+1${plain[1] ?? plain[2]}${plain[3]}${plain[4]}`
  const phone = parsePhoneNumberFromString(text.replace(/^tel:/i, ""), {
    defaultCountry: country as CountryCode,
    extract: false
  })
  return phone !== undefined && phone.isPossible() && phone.ext === undefined ? phone.number : undefined
}

/** The digits of a phone number as it was written, with the plus that it begins with: what mapped phones are compared by. */
export const phoneDigits = (text: string): string | undefined => {
  const digits = text.replace(/[^0-9]/g, "")
  return digits === "" ? undefined : `${/^[^0-9]*\+/.test(text) ? "+" : ""}${digits}`
}

/**
 * Everything that a number in E.164 can look like in a table that nobody normalized, as `phoneDigits`: with the trunk 0
 * after the country, with 00 or 011 before it, without a country in the organization's own. Only what would be read as
 * this very number there is among them.
 */
export const phoneForms = (e164: string, country: string): ReadonlyArray<string> => {
  const phone = parsePhoneNumberFromString(e164, { extract: false })
  if (phone === undefined) return [e164]
  const [calling, national] = [phone.countryCallingCode, String(phone.nationalNumber)]
  const own =
    calling === getCountryCallingCode(country as CountryCode) ? [national, `0${national}`, `8${national}`] : []
  const forms = [
    `+${calling}0${national}`,
    `${calling}${national}`,
    `00${calling}${national}`,
    `011${calling}${national}`,
    ...own
  ]
  return [e164, ...new Set(forms.filter((form) => phoneKey(form, country) === e164))]
}

/** An e-mail address in lower case (ASCII letters only); undefined when it isn't local@domain. No top-level domain is asked for. */
export const emailKey = (text: string): string | undefined => {
  const trimmed = text.trim()
  return /^[^\s@]+@[^\s@]+$/.test(trimmed) && (trimmed.length <= 320 || [...trimmed].length <= 320)
    ? lowerAscii(trimmed)
    : undefined
}

/** ASCII letters in lower case, everything else as it is: the normal form of e-mail addresses. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export { isSupportedCountry }
