/** Columns that a proposal holds back, as credentials or regulated data: recognized by name, type and sampled values. Pure. */
import { printable } from "../../domain/text.ts"
import { kindOf } from "./heuristics.ts"
import { words } from "./inflection.ts"
import type { ColumnFacts, RelationFacts, Samples } from "./tableFacts.ts"

export type Sensitivity = "a credential" | "regulated data"

/** Anywhere in a name, with or without word boundaries. A secretary isn't a secret. */
const CREDENTIAL_PARTS =
  /password|passwd|passphrase|passcode|secret(?!ar)|credential|hmac|bcrypt|argon2|encrypted|ciphertext|keystore|(api|access|private|signing|encryption|auth|master|service|ssh|license|licence|activation|session|webhook|deploy|recovery|shared|account|consumer|storage|refresh|device|push)keys?$/
/** As whole words. */
const CREDENTIAL_WORDS = new Set(
  "pwd pass ha1 hash hashes hashed salt salts digest digests token tokens otp totp hotp jwt pem csrf xsrf nonce mnemonic bearer".split(
    " "
  )
)
/** As adjacent words. */
const CREDENTIAL_PHRASES =
  /_((access|join|auth)_codes?|code_verifier|auth_data|(upload|request|webhook)_signature|(slack|teams|discord|incoming)_webhook_url|(recovery|backup|verification|confirmation|reset|activation|security|auth|authorization|otp|mfa|login|invite|magic|unlock|seed)_(code|codes|key|keys|answer|answers|question|questions|phrase|string|stamp|link|links))_/
/** Short secret numbers: credentials whatever their type. */
const SECRET_NUMBERS = new Set("pin pins otp cvv cvv2 cvc cvc2 csc passcode".split(" "))
/** Tables whose column "key", "value" or "data" is the credential itself, with or without word boundaries. */
const OF_CREDENTIALS =
  /(^|_)(keys?|tokens?|credentials?|secrets?|api_access|sessions?|(second|two)_factors?|totps?|mfa|passkeys?|webauthn)(_|$)|(api|ssh|access)keys?$|tokens?$/

const VALUES_OF_CREDENTIALS = /^(key|value|data|parent)(_(sha\d*|md5|encrypted))?$/
/** Texts with whatever a program needs to reach other systems, passwords included. */
const CONNECTIONS = /^(config|configuration|dsn|(connection|database|db)_(string|url|uri|dsn))$/
/** Tables of settings, and the columns with their values: one of them is the password of the mail server. */
const OF_SETTINGS = /(^|_)(settings?|configs?|configurations?|config_parameters?)$/
const SETTING = /^((option|setting|config)_)?(value|val|contents?)$/
const SETTING_NAME = /^((option|setting|config|param|parameter)_)?(name|key|field|param|parameter)$/
/** Sessions of a program: who has the text of the cookie is signed in. */
const OF_SESSIONS = /(^|_)sessions?$/
const SESSION_DATA = /^(sid|session_key|sess|payload|session_?data)$/

const REGULATED_WORDS = new Set(
  "iban ibans ssn ssns nino aadhaar pesel personnummer bsn cpf curp dni passport passports".split(" ")
)
const REGULATED_PHRASES =
  /_(card|creditcard|debitcard|cc|bank|giro|bank_account|bank_acc?t?|routing)_(number|numbers|num|no|nr|account|account_number|pan)_|_(national|citizen|identity|id_card|identity_card|passport|social_security|social_insurance|national_insurance|drivers?_license|driving_licen[cs]e)_(id|identification|number|num|no|nr|card)_|^_identification_(id|number|no|nr)_|_sort_code_/
const REGULATED_PARTS =
  /(card|cc)n(umber|um|o|r)$|^(ssn|iban)(id|code|n(o|r|um|umber))$|nationalid|socialsecurity|bankaccount(?!id)/
/** The last word of names that describe a credential without holding it. */
const DESCRIBES = new Set(
  "at on date time count type kind length algorithm algo name label status state version policy strength enabled required expires expiry expiration ttl size limit format provider method description title brand last4 frequency".split(
    " "
  )
)

const CREDENTIAL_VALUE =
  /^(\$2[abxy]?\$|\$argon2|\$pbkdf2|\$scrypt|\$[156]\$|pbkdf2_sha|\{SSHA|-----BEGIN |eyJ[\w-]{8,}\.eyJ|sk_live_|sk-[\w-]{20}|gh[pousr]_\w{20}|xox[abprs]-|AKIA[0-9A-Z]{12}|glpat-)/
/** A member of a JSON object that is named like a credential, or an address with a password. */
const WITH_CREDENTIAL =
  /"[^"]{0,60}(password|passwd|secret|token|api_?key|private_?key)"\s*:\s*"[^"]|^[a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@]{0,100}:[^/\s@]{1,200}@/i
const SSN_VALUE = /^\d{3}-\d{2}-\d{4}$/
const CARD_VALUE = /^(3[47]\d{13}|[2-6]\d{15})$/
const IBAN_VALUE = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/

/** What a column looks like; undefined for a harmless one. References, times and flags are harmless. */
export const sensitivityOf = (
  relation: RelationFacts,
  column: ColumnFacts,
  samples: Samples
): Sensitivity | undefined => {
  if (
    column.type === "boolean" ||
    column.type === "date" ||
    column.type === "timestamp" ||
    column.type === "timestamptz"
  )
    return undefined
  if (relation.foreignKeys.some(({ columns }) => columns.includes(column.name))) return undefined
  const values = samples.get(relation.name)
  return (
    byName(relation, column) ??
    (SETTING.test(words(column.name)) && hasSecretNames(values) ? "a credential" : undefined) ??
    byValues(values?.get(column.name) ?? [])
  )
}

/** The relation without the columns that look like credentials or regulated data, each with the line that would show it. */
export const holdBack = (
  relation: RelationFacts,
  { samples, shown }: { readonly samples: Samples; readonly shown: ReadonlySet<string> },
  notes: Array<string>
): RelationFacts => ({
  ...relation,
  columns: relation.columns.filter((column) => {
    const sensitivity = sensitivityOf(relation, column, samples)
    if (sensitivity === undefined || shown.has(`${relation.name}.${column.name}`)) return true
    const base = words(column.name) || "column"
    const kind = kindOf(column, base)
    const line = kind && `${JSON.stringify(base)}: ${JSON.stringify({ from: column.name, kind })}`
    notes.push(
      `${relation.name}.${printable(column.name)}: held back, it looks like ${sensitivity}.${line === undefined ? "" : ` To show it, add to the type's columns: ${line}`}`
    )
    return false
  })
})

/** Whether rows are named like credentials, as those of a table of settings are. */
const hasSecretNames = (samples: ReadonlyMap<string, ReadonlyArray<string>> = new Map()): boolean =>
  [...samples].some(
    ([column, values]) =>
      SETTING_NAME.test(words(column)) &&
      values.some((value) => CREDENTIAL_PARTS.test(words(value.slice(0, 100)).replaceAll("_", "")))
  )

/** Whether a column has the key or the contents of a program's sessions. */
const isOfSession = (base: string, { columns, table }: RelationFacts): boolean =>
  OF_SESSIONS.test(words(table)) &&
  (SESSION_DATA.test(base) ||
    ((base === "id" || base === "session_id") && columns.some(({ name }) => SESSION_DATA.test(words(name)))))

const byName = (relation: RelationFacts, { idType, name, type }: ColumnFacts): Sensitivity | undefined => {
  const base = words(name)
  const table = words(relation.table)
  const parts = base.split("_")
  const phrase = `_${base}_`
  const describes = DESCRIBES.has(parts.at(-1)!)
  if (
    !describes &&
    (parts.some((part) => REGULATED_WORDS.has(part)) ||
      REGULATED_PHRASES.test(phrase) ||
      REGULATED_PARTS.test(base.replaceAll("_", "")))
  )
    return "regulated data"
  const isNumber = type === "integer" || type === "numeric" || type === "float" || type === "money"
  if (parts.some((part) => SECRET_NUMBERS.has(part)) && !describes) return "a credential"
  const isRowId = parts.at(-1) === "id" && (isNumber || idType === "uuid")
  if (isNumber || isRowId || describes) return undefined
  return CREDENTIAL_PARTS.test(base.replaceAll("_", "")) ||
    parts.some((part) => CREDENTIAL_WORDS.has(part)) ||
    CREDENTIAL_PHRASES.test(phrase) ||
    CONNECTIONS.test(base) ||
    isOfSession(base, relation) ||
    (SETTING.test(base) && OF_SETTINGS.test(table)) ||
    (VALUES_OF_CREDENTIALS.test(base) && OF_CREDENTIALS.test(table))
    ? "a credential"
    : undefined
}

const byValues = (values: ReadonlyArray<string>): Sensitivity | undefined => {
  if (values.some((value) => CREDENTIAL_VALUE.test(value) || WITH_CREDENTIAL.test(value))) return "a credential"
  const regulated = values.filter((value) => isRegulated(value.replace(/[ ]/g, "")))
  return regulated.length >= 3 && regulated.length * 2 >= values.length ? "regulated data" : undefined
}

const isRegulated = (value: string): boolean =>
  SSN_VALUE.test(value) ||
  (CARD_VALUE.test(value.replaceAll("-", "")) && hasLuhnDigit(value.replaceAll("-", ""))) ||
  (IBAN_VALUE.test(value) && remainder97(value.slice(4) + value.slice(0, 4)) === 1)

/** ISO/IEC 7812. */
const hasLuhnDigit = (digits: string): boolean =>
  [...digits].toReversed().reduce((sum, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return sum + (value > 9 ? value - 9 : value)
  }, 0) %
    10 ===
  0

/** ISO 13616: letters count as 10 to 35. */
const remainder97 = (text: string): number =>
  [...text].reduce((rest, character) => {
    const value = Number.parseInt(character, 36)
    return (rest * (value > 9 ? 100 : 10) + value) % 97
  }, 0)
