/** The kinds of settings: what each accepts, in words, and how it converts the text. */
import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"

export interface Kind<A> {
  /** What the setting accepts, as the error message and the documentation say it. */
  readonly accepts: string
  /** Converts trimmed text; throws `Rejected`. */
  readonly read: (text: string) => A
  /** What a configuration file may have instead of a text, as JSON Schema. */
  readonly json?: Readonly<Record<string, unknown>>
}

/** The text is not what the kind accepts; the message says what was expected. */
export class Rejected extends Error {}

export const reject = (expected: string): never => {
  throw new Rejected(expected)
}

/** A kind whose `read` returns undefined for a text that it does not accept. */
const kind = <A>(accepts: string, read: (text: string) => A | undefined, json?: Kind<A>["json"]): Kind<A> => ({
  accepts,
  read: (text) => read(text) ?? reject(accepts),
  ...(json === undefined ? {} : { json })
})

/** The kind of a setting that may be unset. */
const optional = <A>(one: Kind<A>): Kind<A | undefined> => ({
  ...one,
  read: (text) => (text === "" ? undefined : one.read(text))
})

export const text: Kind<string> = { accepts: "text", read: (value) => value }
export const optionalText = optional(text)
export const optionalLowerCase = optional({ accepts: "text", read: (value: string) => value.toLowerCase() })

export const wholeNumber = (least: number, most: number): Kind<number> =>
  kind(
    `a whole number from ${least} to ${most}`,
    (value) => {
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      return number >= least && number <= most ? number : undefined
    },
    { type: ["integer", "string"], minimum: least, maximum: most }
  )

export const share = kind(
  "a number from 0 to 1",
  (value) => (/^(0(\.\d{1,6})?|1(\.0+)?)$/.test(value) ? Number(value) : undefined),
  { type: ["number", "string"], minimum: 0, maximum: 1 }
)

export const oneOf = <A extends string>(...choices: ReadonlyArray<A>): Kind<A> =>
  kind(
    `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`,
    (value) => choices.find((choice) => choice === value.toLowerCase()),
    { enum: choices.flatMap((choice) => (/^[01]$/.test(choice) ? [choice, Number(choice)] : [choice])) }
  )

export const optionalOneOf = <A extends string>(...choices: ReadonlyArray<A>) => optional(oneOf(...choices))

export const resolvePath = (value: string): string => resolve(value.replace(/^~(?=\/|$)/, homedir()))
export const path: Kind<string> = { accepts: "a path", read: resolvePath }
export const optionalPath = optional(path)

/** The value of a secret that is written literally or by reference: `env:NAME` or `file:/path`. */
export const dereference = (value: string): string => {
  if (value.startsWith("env:")) return process.env[value.slice(4)] ?? reject("env:NAME to name a variable that is set")
  if (!value.startsWith("file:")) return value
  try {
    return readFileSync(value.slice(5), "utf8").trim()
  } catch {
    return reject("file:/path to name a file that can be read")
  }
}

const secretOf = (least: number): Kind<Redacted.Redacted<string> | undefined> =>
  optional({
    accepts: `a secret${least === 0 ? "" : ` of at least ${least} characters`}, env:NAME or file:/path`,
    read: (value) => {
      const literal = dereference(value)
      return literal.length >= least ? Redacted.make(literal) : reject(`at least ${least} characters`)
    }
  })

export const optionalSecret = secretOf(0)
export const optionalLongSecret = secretOf(16)

/** Parameters of a database URL that libpq allows to name several servers. */
const LOCATIONS = ["host", "hostaddr", "port"]
/** A writable server isn't necessarily the cluster's leader, so Max leaves the choice to a proxy that knows. */
const ONE_SERVER =
  "one address without target_session_attrs; for several servers, the address of a proxy that follows the primary, such as haproxy (docs/operate.md)"

export const optionalDatabaseUrl = optional(
  kind("postgres://user:password@host:5432/database, env:NAME or file:/path", (value) => {
    const literal = dereference(value)
    if (!/^postgres(ql)?:\/\/./.test(literal)) return undefined
    // Not by URL, which can't parse several hosts with ports.
    const [address = "", query = ""] = literal.split("?", 2)
    const authority = address.split("/", 3)[2] ?? ""
    const parameters = new URLSearchParams(query)
    const locations = [
      authority.slice(authority.lastIndexOf("@") + 1),
      ...LOCATIONS.map((name) => parameters.get(name) ?? "")
    ]
    if (locations.some((part) => part.includes(",")) || parameters.has("target_session_attrs"))
      return reject(ONE_SERVER)
    return URL.canParse(literal) ? Redacted.make(literal) : undefined
  })
)

const itemsOf = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

const LIST = { type: ["array", "string"], items: { type: "string" } }

/** Each item by itself may be a reference. */
export const databaseUrls: Kind<ReadonlyArray<Redacted.Redacted<string>>> = {
  accepts: `a comma-separated list of ${optionalDatabaseUrl.accepts}`,
  json: LIST,
  read: (value) => itemsOf(value).map((item) => optionalDatabaseUrl.read(item)!)
}

const withoutFinalSlashes = (value: string): string => {
  let end = value.length
  while (value[end - 1] === "/") end -= 1
  return value.slice(0, end)
}

/** Without a trailing slash. */
export const url = kind("an http or https address", (value) =>
  /^https?:\/\/./i.test(value) && URL.canParse(value) ? withoutFinalSlashes(value) : undefined
)
export const optionalUrl = optional(url)

const originOf = (value: string): string | undefined => {
  const parsed = URL.canParse(value) ? new URL(value) : undefined
  return parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.origin === value.replace(/\/$/, "")
    ? parsed.origin
    : undefined
}

export const optionalOrigin = optional(kind("https://host, without a path", originOf))

export const list: Kind<ReadonlyArray<string>> = { accepts: "a comma-separated list", read: itemsOf, json: LIST }

export const origins: Kind<ReadonlyArray<string>> = {
  accepts: "a comma-separated list of https://host",
  json: LIST,
  read: (value) => itemsOf(value).map((item) => originOf(item) ?? reject("https://host, without a path"))
}

const PRICE = /^([^=\s]+)=(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/

/** Dollars per million tokens, in and out, by model. */
export type Prices = ReadonlyMap<string, { readonly input: number; readonly output: number }>

export const prices: Kind<Prices> = {
  accepts: "a comma-separated list of model=in/out",
  read: (value) =>
    new Map(
      itemsOf(value).map((item) => {
        const [, model, input, output] = PRICE.exec(item) ?? reject("model=in/out, such as claude-haiku-5-5=1/5")
        return [model!, { input: Number(input), output: Number(output) }] as const
      })
    )
}
