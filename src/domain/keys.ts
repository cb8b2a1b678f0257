/**
 * Search keys: the normal forms that filters compare. The importer writes them and filters are converted to them, so
 * both must use this module.
 */
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type PhoneNumber
} from "libphonenumber-js/min"

/** Letters that Unicode normalization doesn't decompose; the fold in SQL (database/migrations) uses them too. */
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

/** Folds text for search: lower case, no accents, unified compatibility forms, collapsed white space. */
export const foldText = (text: string): string => {
  const lower = NON_ASCII.test(text)
    ? text
        // Before normalization as well, which sorts a run of marks and takes the square of its length.
        .replace(/\p{M}+/gu, "")
        .normalize("NFKD")
        .replace(/\p{M}+/gu, "")
        .toLowerCase()
        .replace(UNDECOMPOSED_PATTERN, (character) => UNDECOMPOSED[character] ?? character)
        .normalize("NFC")
    : text.toLowerCase()
  return lower.replace(/\s+/g, " ").trim()
}

/** Fast path for North American numbers: the library takes 20 µs, a fifth of the import time of a row. */
const WITH_COUNTRY = /^\+1[2-9]\d{9}$/
/** "(+49) 711 …": the library reads no number that begins with a bracket. */
const BRACKETED_COUNTRY = /^\s*[(（]\s*([+＋]|00)\s*(\d{1,3})\s*[)）]\s*/
const NORTH_AMERICAN = /^(?:\(([2-9]\d{2})\) ?|([2-9]\d{2})[-. ]?)(\d{3})[-. ]?(\d{4})$/

/**
 * A phone number in E.164, parsed with the organization's country; undefined if its length is impossible or it has an
 * extension (a switchboard doesn't identify a person).
 */
export const phoneKey = (text: string, country: string): string | undefined => {
  if (text.length > 60) return undefined
  if (WITH_COUNTRY.test(text)) return text
  const plain = country === "US" || country === "CA" ? NORTH_AMERICAN.exec(text) : null
  if (plain !== null) return `+1${plain[1] ?? plain[2]}${plain[3]}${plain[4]}`
  const written = text.replace(/^tel:/i, "")
  const code = BRACKETED_COUNTRY.exec(written)?.[2]
  if (code === undefined) return parsed(written, country)?.number
  const phone = parsed(written.replace(BRACKETED_COUNTRY, "$1$2 "), country)
  // The code ends with its bracket: "(004) 3…" isn't Austria's 43.
  return (phone?.countryCallingCode === code ? phone : parsed(written, country))?.number
}

const parsed = (text: string, country: string): PhoneNumber | undefined => {
  const phone = parsePhoneNumberFromString(text, { defaultCountry: country as CountryCode, extract: false })
  if (phone !== undefined && phone.isPossible() && phone.ext === undefined) return phone
  // The international prefix of most countries, written in one that has another.
  return /^\s*00[1-9]/.test(text) ? parsed(text.replace(/^\s*00/, "+"), country) : undefined
}

/** Words and signs before an extension; the fold in SQL (database/sql/foldFunctions) uses them too. */
export const EXTENSION_WORDS =
  ";ext|extension|extn|ext|x|#|durchwahl|dw|nebenstelle|apparat|app|poste|interno|anexo|ramal|toestel|tst|anknytning|linje"
const EXTENSION = new RegExp(
  `^(.*[0-9][)]?)[ \u00a0.,;/-]*(?:${EXTENSION_WORDS})[ \u00a0.:=]*([0-9]{1,7})[ \u00a0)]*$`,
  "is"
)

/** A phone number and its extension; an extension follows a word or sign for it. */
const splitExtension = (text: string): readonly [number: string, extension?: string] => {
  // Almost no number has one of their letters or signs.
  const match = /[a-z#]/i.test(text) && [...text].length <= 100 ? EXTENSION.exec(text) : null
  return match === null ? [text] : [match[1]!, match[2]!]
}

/**
 * The search key of a phone number: E.164, and `#12` for extension 12. Numbers with extensions are found, but identify no
 * person.
 */
export const phoneSearchKey = (text: string, country: string): string | undefined => {
  const plain = phoneKey(text, country)
  if (plain !== undefined) return plain
  const [number, extension] = splitExtension(text)
  const key = extension === undefined ? undefined : phoneKey(number, country)
  return key === undefined ? undefined : `${key}#${extension}`
}

/**
 * The digits of a phone number with its leading plus, and its extension after `#`: the form in which mapped phone numbers
 * are compared.
 */
export const phoneDigits = (text: string): string | undefined => {
  const [number, extension] = splitExtension(text)
  const digits = number.replace(/[^0-9]/g, "")
  const plus = /^[^0-9]*\+/.test(text) ? "+" : ""
  return digits === "" ? undefined : `${plus}${digits}${extension === undefined ? "" : `#${extension}`}`
}

/** The digits and pluses of a part of a phone number, as they are in search keys. */
export const phonePart = (text: string): string => {
  const [number, extension] = splitExtension(text)
  return `${number.replace(/[^\d+]/g, "")}${extension === undefined ? "" : `#${extension}`}`
}

/**
 * The unnormalized spellings of an E.164 number as `phoneDigits`: with a trunk 0, with 00 or 011, and without a country
 * code in the organization's own country. Only spellings that parse back to the same number are included.
 */
export const phoneForms = (e164: string, country: string): ReadonlyArray<string> => {
  const [number, extension] = splitExtension(e164)
  if (extension !== undefined) return phoneForms(number, country).map((form) => `${form}#${extension}`)
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

/** An e-mail address in ASCII lower case; undefined unless it is local@domain. A top-level domain is optional. */
export const emailKey = (text: string): string | undefined => {
  const trimmed = text.trim()
  return /^[^\s@]+@[^\s@]+$/.test(trimmed) && (trimmed.length <= 320 || [...trimmed].length <= 320)
    ? lowerAscii(trimmed)
    : undefined
}

/** Lower-cases ASCII letters only: the normal form of e-mail addresses. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export { isSupportedCountry }
