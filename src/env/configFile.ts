/**
 * A configuration file: one JSON object with the names that the environment uses. Read by hand, because JSON.parse doesn't
 * say the line of a name, takes the last of two equal names, and quotes the text around a mistake, which may be a secret.
 */
import { closest, quoted } from "../domain/text.ts"
import { Rejected } from "./kinds.ts"
import { SETTINGS } from "./settings.ts"

export interface ConfigFile {
  /** The settings' texts by name, as the environment would have them. */
  readonly values: Readonly<Record<string, string>>
  /** What is wrong, each with its line. */
  readonly problems: ReadonlyArray<string>
}

interface Entry {
  readonly name: string
  readonly line: number
  readonly value: unknown
}

/** Spaces, or a text, a punctuation mark or a word. */
const TOKEN = /\s+|"(?:[^"\\\u0000-\u001f]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+|"/gy

class Misplaced extends Error {
  readonly line: number
  constructor(line: number, expected: string) {
    super(expected)
    this.line = line
  }
}

const scalar = (text: string, line: number): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Misplaced(line, "a text in double quotes, a number, true, false or a list of texts")
  }
}

/** The entries of the file's object; throws `Misplaced`. */
const entriesOf = (text: string): ReadonlyArray<Entry> => {
  const tokens: Array<{ readonly text: string; readonly line: number }> = []
  let line = 1
  for (const [token] of text.replace(/^\uFEFF/, "").matchAll(TOKEN)) {
    if (/\S/.test(token)) tokens.push({ text: token, line })
    line += token.split("\n").length - 1
  }
  let at = 0
  const next = () => tokens[at++] ?? { text: "", line }
  const expect = (mark: string, what = quoted(mark)) => {
    const token = next()
    if (token.text !== mark) throw new Misplaced(token.line, what)
  }
  const listed = <A>(end: string, read: () => A): ReadonlyArray<A> => {
    const items: Array<A> = []
    if (tokens[at]?.text === end) {
      at++
      return items
    }
    for (;;) {
      items.push(read())
      const token = next()
      if (token.text === end) return items
      if (token.text !== ",") throw new Misplaced(token.line, `"," or ${quoted(end)}`)
    }
  }
  const readScalar = () => {
    const token = next()
    return scalar(token.text, token.line)
  }
  expect("{", "a JSON object")
  const entries = listed("}", (): Entry => {
    const key = next()
    if (!key.text.startsWith('"')) throw new Misplaced(key.line, "the name of a setting in double quotes")
    const name = String(scalar(key.text, key.line))
    expect(":")
    if (tokens[at]?.text !== "[") return { name, line: key.line, value: readScalar() }
    at++
    return { name, line: key.line, value: listed("]", readScalar) }
  })
  if (at < tokens.length) throw new Misplaced(tokens[at]!.line, "the end of the file")
  return entries
}

const BY_NAME = new Map(Object.values(SETTINGS).map((setting) => [setting.name as string, setting]))

/** The text of a value in the environment; undefined for null, objects and lists of other things. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  if (typeof value === "number") return String(value)
  if (typeof value === "boolean") return value ? "1" : "0"
  return Array.isArray(value) && value.every((item) => typeof item === "string" && !item.includes(","))
    ? value.join(",")
    : undefined
}

/** Whether a URL has a password; not by URL, which can't parse several hosts. */
const hasPassword = (url: string): boolean => {
  const [address = "", query = ""] = url.split("?", 2)
  const authority = address.split("/", 3)[2] ?? ""
  return (
    authority.slice(0, Math.max(0, authority.lastIndexOf("@"))).includes(":") ||
    [...new URLSearchParams(query).keys()].some((key) => key.toLowerCase() === "password")
  )
}

/** Whether a value is itself a secret, or contains a password, instead of referring to one. */
const isLiteralSecret = (name: string, text: string): boolean => {
  const kind = BY_NAME.get(name)!.kind
  if (kind === SETTINGS.replicaUrls.kind) return text.split(",").some((item) => hasPassword(item.trim()))
  if (text === "" || /^(env|file):/.test(text)) return false
  if (kind === SETTINGS.databaseUrl.kind) return hasPassword(text)
  return kind === SETTINGS.anthropicKey.kind || kind === SETTINGS.metricsToken.kind
}

const problemOf = ({ name, value }: Entry, isShared: boolean): string | undefined => {
  const setting = BY_NAME.get(name)
  if (setting === undefined) {
    const meant = closest(name, [...BY_NAME.keys()])
    return `There is no setting ${quoted(name)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`
  }
  const { fallback, kind } = setting
  const text = textOf(value)?.trim()
  if (text === undefined) return `${name}: expected ${kind.accepts}.`
  if (isShared && isLiteralSecret(name, text))
    return `${name}: expected env:NAME or file:/path, because other users can read this file (chmod 600 makes it yours).`
  try {
    kind.read(text === "" ? fallback : text)
    return undefined
  } catch (error) {
    return `${name}: expected ${error instanceof Rejected ? error.message : kind.accepts}.`
  }
}

/** Reads the text of a configuration file. `isShared` says whether users other than its owner can read it. */
export const readConfig = (text: string, isShared: boolean): ConfigFile => {
  try {
    const entries = entriesOf(text).filter(({ name }) => name !== "$schema")
    const problems = entries.flatMap((entry, index) => {
      const twice = entries.findIndex(({ name }) => name === entry.name) < index
      const problem = twice ? `${quoted(entry.name)} is there twice.` : problemOf(entry, isShared)
      return problem === undefined ? [] : [`line ${entry.line}: ${problem}`]
    })
    return { values: Object.fromEntries(entries.map(({ name, value }) => [name, textOf(value) ?? ""])), problems }
  } catch (error) {
    if (!(error instanceof Misplaced)) throw error
    return { values: {}, problems: [`line ${error.line}: expected ${error.message}.`] }
  }
}

/** The JSON Schema of a configuration file. */
export const configSchema = () => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Configuration of Max",
  description: "The settings of max --config FILE. The environment overrides them.",
  type: "object",
  additionalProperties: false,
  properties: {
    $schema: { type: "string" },
    ...Object.fromEntries(
      Object.values(SETTINGS).map(({ description, fallback, kind, name }) => [
        name,
        {
          description: `${description} Value: ${kind.accepts}.`,
          ...(fallback === "" ? {} : { default: fallback }),
          ...(kind.json ?? { type: "string" })
        }
      ])
    )
  }
})

/** What is wrong with names in the environment that are like a setting's, and none: misspelled, or of an earlier version. */
export const unknownVariables = (environment: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([name, value = ""]) => {
    if (!name.startsWith("MAX_") || BY_NAME.has(name) || OTHERS.test(name)) return []
    // Kubernetes sets it to an address for a service named max; people set it to a number.
    if (name === "MAX_PORT" && value.includes("://")) return []
    const meant = name === "MAX_PORT" ? SETTINGS.httpPort.name : closest(name, [...BY_NAME.keys()])
    return meant === undefined ? [] : [`There is no setting ${quoted(name)}. Did you mean ${meant}?`]
  })

/** Not settings: the file's own variable, the tests', and those that Kubernetes sets for a service named max. */
const OTHERS = /^MAX_(CONFIG$|TEST_|SERVICE_|PORT_)/
