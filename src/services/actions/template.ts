/**
 * Templates: texts in which `{field}` stands for a value. A value is put in once and never read as a template again. In an
 * address every value is encoded, so it can't leave its place.
 */
import { Result } from "effect"
import type { ActionField, CallValues, HttpRequest } from "../../domain/DeclaredAction.ts"
import { isJsonObject } from "../../domain/json.ts"

/** `{field}`, or `{field:text}` for a number as a text. */
const PLACEHOLDER = /\{([a-z][a-z0-9_]{0,62})(:text)?\}/g
const WHOLE = /^\{([a-z][a-z0-9_]{0,62})(:text)?\}$/

/** The names in a template; undefined when it has a brace that belongs to none. */
export const namesIn = (template: string): ReadonlyArray<string> | undefined =>
  /[{}]/.test(template.replaceAll(PLACEHOLDER, ""))
    ? undefined
    : [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!)

/** A text with its values, each put in by `write`. */
const filled = (template: string, write: (name: string, around: string) => string): string =>
  template.replaceAll(PLACEHOLDER, (whole, name: string, _: string | undefined, at: number) =>
    write(name, `${template[at - 1] ?? ""}${template[at + whole.length] ?? ""}`)
  )

export const fillText = (template: string, values: CallValues): string => filled(template, (name) => values[name] ?? "")

/** The parts of an address: scheme and host, path, and query. */
export const partsOfUrl = (
  template: string
): { readonly origin: string; readonly path: string; readonly query: string } | undefined => {
  const [, origin, path = "", query = ""] =
    /^(https?:\/\/[^/?#{}\s\\@]+)(\/[^?#\s\\]*)?(?:\?([^#\s\\]*))?$/.exec(template) ?? []
  return origin === undefined ? undefined : { origin, path: path === "" ? "/" : path, query }
}

/** Encodes also what `encodeURIComponent` leaves: quotation marks and parentheses have a meaning in OData keys. */
const encoded = (value: string): string =>
  encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )

const inAddress = (template: string, values: CallValues): string =>
  // Between single quotes, a quotation mark of the value is doubled, as OData and SQL have it.
  filled(template, (name, around) =>
    encoded(around === "''" ? (values[name] ?? "").replaceAll("'", "''") : (values[name] ?? ""))
  )

/**
 * The address of a request; a string is the problem. Of the query, pairs without any value are left out. The result is
 * compared with what the parser of addresses makes of it, so that no value moves to another path or host.
 */
export const addressOf = (template: string, values: CallValues): Result.Result<URL, string> => {
  const parts = partsOfUrl(template)
  if (parts === undefined) return Result.fail("it isn't an address")
  const path = inAddress(parts.path, values)
  const query = parts.query
    .split("&")
    .filter((pair) => pair !== "" && (namesIn(pair) ?? []).every((name) => (values[name] ?? "") !== ""))
    .map((pair) => inAddress(pair, values))
    .join("&")
  const text = `${parts.origin}${path}${query === "" ? "" : `?${query}`}`
  if (!URL.canParse(text)) return Result.fail("it isn't an address")
  const url = new URL(text)
  const isAsWritten =
    url.origin === new URL(parts.origin).origin && url.pathname === new URL(`http://x${path}`).pathname
  // A dot segment, also one that a value makes, would be removed with its parent.
  const hasDots = path.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
  const isEmpty = parts.path
    .split("/")
    .some((segment, at) => namesIn(segment)!.length > 0 && path.split("/")[at] === "")
  return isAsWritten && !hasDots && !isEmpty ? Result.succeed(url) : Result.fail("a value can't stand in its path")
}

/** A body with its values: numbers, booleans, lists and groups as JSON has them, and without the properties of empty fields. */
export const bodyOf = (template: unknown, values: CallValues, fields: ReadonlyArray<ActionField>): unknown => {
  if (typeof template === "string") {
    const [, name, asText] = WHOLE.exec(template) ?? []
    if (name === undefined) return fillText(template, values)
    const field = fields.find(({ slug }) => slug === name)
    const value = values[name]
    return value === undefined || field === undefined ? undefined : asText === undefined ? jsonOf(value, field) : value
  }
  if (Array.isArray(template)) return template.map((part) => bodyOf(part, values, fields) ?? null)
  if (!isJsonObject(template)) return template
  if (isEach(template)) {
    const group = fields.find(({ slug }) => slug === template.each)
    const entries =
      values[template.each] === undefined ? [] : (JSON.parse(values[template.each]!) as ReadonlyArray<CallValues>)
    const inner = [...(group?.fields ?? []), ...fields]
    return entries.map((entry) => bodyOf(template.entry, { ...values, ...entry }, inner))
  }
  const entries = Object.entries(template).flatMap(([key, part]) => {
    const value = bodyOf(part, values, fields)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(entries)
}

interface Each {
  readonly each: string
  readonly entry: unknown
}

/** `{ "each": "items", "entry": … }`: the entry once for each entry of a group. */
const isEach = (template: unknown): template is Each & Record<string, unknown> =>
  isJsonObject(template) &&
  typeof template["each"] === "string" &&
  Object.hasOwn(template, "entry") &&
  Object.keys(template).length === 2

const jsonOf = (value: string, { kind }: Pick<ActionField, "kind">): unknown => {
  switch (kind) {
    case "integer":
    case "number":
      return Number(value)
    case "boolean":
      return value === "true"
    case "list":
    case "group":
      return JSON.parse(value)
    default:
      return value
  }
}

/** What a template needs: names of fields, each with whether the request can't be written without it. */
export interface Use {
  readonly name: string
  readonly path: string
  /** In an address, the text around a value that isn't all of a segment or of a pair. */
  readonly within?: "expression" | "quotes"
  readonly required?: true
}

/** The uses of fields in a request, or the place of a template that can't be read. */
export const usesOf = ({ body, url }: HttpRequest): ReadonlyArray<Use> | { readonly path: string } => {
  const parts = partsOfUrl(url)
  if (parts === undefined) return { path: "url" }
  const uses: Array<Use> = []
  for (const [place, required] of [
    ...parts.path.split("/").map((segment) => [segment, true] as const),
    ...parts.query.split("&").map((pair) => [pair.slice(pair.indexOf("=") + 1), false] as const)
  ]) {
    const names = namesIn(place)
    if (names === undefined) return { path: "url" }
    for (const name of names) {
      const within = WHOLE.test(place) ? undefined : place.includes(`'{${name}}'`) ? "quotes" : "expression"
      uses.push({ name, path: "url", ...(within === undefined ? {} : { within }), ...(required ? { required } : {}) })
    }
  }
  if (parts.query.split("&").some((pair) => namesIn(pair.slice(0, Math.max(0, pair.indexOf("="))))?.length !== 0))
    return { path: "url" }
  const walk = (part: unknown, path: string): string | undefined => {
    if (typeof part === "string") {
      const names = namesIn(part)
      for (const name of names ?? []) uses.push({ name, path })
      return names === undefined ? path : undefined
    }
    if (Array.isArray(part))
      return part.map((one, at) => walk(one, `${path}[${at}]`)).find((found) => found !== undefined)
    if (!isJsonObject(part)) return undefined
    if (isEach(part)) uses.push({ name: part.each, path: `${path}.each` })
    return Object.entries(part)
      .filter(([key]) => key !== "each" || !isEach(part))
      .map(([key, one]) => walk(one, `${path}.${key}`))
      .find((found) => found !== undefined)
  }
  const broken = walk(body, "body")
  return broken === undefined ? uses : { path: broken }
}
