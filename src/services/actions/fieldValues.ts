/**
 * Values of declared actions: texts as callers write them become texts in one form, or a problem. What is stored, shown and
 * sent is the same text, so characters that a card can't show are refused.
 */
import { Result } from "effect"
import type { ActionField, CallValues } from "../../domain/DeclaredAction.ts"
import { type Organization, Storage } from "../../domain/EntityType.ts"
import { type FieldProblem, InvalidInput } from "../../domain/errors.ts"
import { isJsonObject } from "../../domain/json.ts"
import { emailKey, phoneSearchKey } from "../../domain/keys.ts"
import { quoted } from "../../domain/text.ts"
import { isoTimestamp, microseconds } from "../../domain/values.ts"
import { cellWriter, partsOf, textProblem } from "../cells/cellWriter.ts"
import { compiledPattern, MAX_MATCHED } from "./pattern.ts"

/** In characters. */
const MAX_TEXT = 2000
const MAX_ENTRIES = 100
/** The most problems that an answer names. */
const MAX_PROBLEMS = 50
/** JavaScript's numbers have as many decimal digits exactly. */
const MAX_DIGITS = 15
/** Control characters other than line feeds and tabs, and those that turn the direction of a text or hide in it. */
const UNSHOWN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u
const PATH = /^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^<>:"\\|?*\n\t]+$/
const GLOB = /^(?!\/)(?!.*(^|\/)\.\.(\/|$))[A-Za-z0-9_.\-/*{},[\]!]+$/

/** A problem with one field: `message` stands at the field, `text` names it. */
interface Wrong extends FieldProblem {
  readonly text: string
}

type Written = Result.Result<string, string>
type Read = Result.Result<string, string | ReadonlyArray<Wrong>>
const problem = (text: string): Written => Result.fail(text)

/** The text of one value; the failure says what is wrong, without the field's name. */
export const readField = (field: ActionField, text: string, organization: Organization): Written =>
  Result.mapError(readAny(field, text, organization), (wrong) =>
    typeof wrong === "string" ? wrong : (wrong[0]?.text ?? "")
  )

/** The text of one value; several problems are those of a group's entries. */
const readAny = (field: ActionField, text: string, organization: Organization): Read => {
  const broken = textProblem(text)
  if (broken !== undefined) return problem(broken)
  const clean = text.replaceAll(/\r\n?/g, "\n").trim()
  if (UNSHOWN.test(clean)) return problem("it contains characters that can't be shown")
  const written =
    field.kind === "group" ? readGroup(field, clean, organization) : writeKind(field, field.kind, clean, organization)
  if (Result.isFailure(written)) return written
  const value = written.success
  const { check, kind, max, maxLength, min, pattern, values } = field
  if (values !== undefined && !values.includes(value))
    return problem(`${quoted(clean)} isn't one of ${values.slice(0, 12).join(", ")}`)
  if (kind === "integer" || kind === "number") {
    if (min !== undefined && Number(value) < min) return problem(`it must be at least ${min}`)
    if (max !== undefined && Number(value) > max) return problem(`it must be at most ${max}`)
  }
  const isMany = kind === "list" || kind === "group"
  const length = isMany ? (JSON.parse(value) as ReadonlyArray<unknown>).length : [...value].length
  const most = maxLength ?? (isMany ? MAX_ENTRIES : pattern === undefined ? MAX_TEXT : MAX_MATCHED)
  if (length > most) return problem(`it has more than ${most} ${isMany ? "entries" : "characters"}`)
  if (pattern !== undefined && kind !== "reference" && !compiledPattern(pattern).test(value))
    return problem(`${quoted(clean)} doesn't fit ${field.name}`)
  if (check === "path" && !PATH.test(value)) return problem(`${quoted(clean)} isn't a relative path`)
  if (check === "glob" && (!GLOB.test(value) || value.split("*").length > 4))
    return problem(`${quoted(clean)} isn't a pattern of paths`)
  return written
}

const writeKind = (
  field: ActionField,
  kind: Exclude<ActionField["kind"], "group">,
  text: string,
  organization: Organization
): Written => {
  switch (kind) {
    case "text":
    // What is sent for it is found and checked as a text later.
    case "reference":
      return Result.succeed(text)
    case "email":
      return emailKey(text) === undefined ? problem(`${quoted(text)} isn't an e-mail address`) : Result.succeed(text)
    case "phone":
      return Result.fromNullishOr(
        phoneSearchKey(text, organization.country),
        () => `${quoted(text)} isn't a phone number`
      )
    case "timestamp": {
      const point = isoTimestamp(text)
      if (point === undefined) return problem(`${quoted(text)} isn't a time such as 2026-03-31 14:00`)
      return Result.succeed(new Date(Math.floor(microseconds(point, organization.timeZone) / 1000)).toISOString())
    }
    case "list": {
      const parts = partsOf(text)
      return typeof parts === "string" ? problem(parts) : Result.succeed(JSON.stringify(parts))
    }
    default: {
      const column = {
        key: `field ${field.slug}`,
        slug: field.slug,
        name: field.name,
        kind,
        storage: Storage.Value({ column: field.slug })
      } as const
      const cells = cellWriter(column, column.storage, organization).write(text)
      if (typeof cells === "string") return problem(cells)
      const value = cells[0] ?? ""
      return /[\d.]/.test(value) && (kind === "integer" || kind === "number") && !isExact(value)
        ? problem(`it has more than ${MAX_DIGITS} digits`)
        : Result.succeed(value)
    }
  }
}

const isExact = (decimal: string): boolean =>
  /^-?\d+(\.\d+)?$/.test(decimal) && decimal.replaceAll(/\D/g, "").replace(/^0+/, "").length <= MAX_DIGITS

/** A JSON list of objects, each with the texts, numbers and booleans of the group's fields. */
const readGroup = (
  { fields = [], maxLength = MAX_ENTRIES }: ActionField,
  text: string,
  organization: Organization
): Read => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(text), catch: () => undefined })
  const list = Result.isSuccess(parsed) ? parsed.success : undefined
  if (!Array.isArray(list) || !list.every(isJsonObject)) return problem('it must be a JSON list such as [{"…":"…"}]')
  if (list.length > maxLength) return problem(`it has more than ${maxLength} entries`)
  const entries: Array<CallValues> = []
  const problems: Array<Wrong> = []
  for (const [at, entry] of list.entries()) {
    const given = Object.entries(entry).map(([columnId, value]) => ({ columnId, value }))
    const read = readFields(fields, given, organization)
    if (Result.isSuccess(read)) entries.push(read.success)
    else
      for (const { field, message, text: said } of read.failure)
        problems.push({ field: `${at}/${field}`, message, text: `entry ${at + 1}: ${said}` })
  }
  return problems.length === 0 ? Result.succeed(JSON.stringify(entries)) : Result.fail(problems)
}

const isPlain = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value)

/** The values of a call or of an entry of a group, or everything that is wrong with them. An empty text is no value. */
const readFields = (
  fields: ReadonlyArray<ActionField>,
  given: ReadonlyArray<{ readonly columnId: string; readonly value: unknown }>,
  organization: Organization
): Result.Result<CallValues, ReadonlyArray<Wrong>> => {
  const values: Record<string, string> = {}
  const wrong: Array<Wrong> = []
  const seen = new Set<string>()
  const say = (field: string, message: string, text = `${field}: ${message}`) => wrong.push({ field, message, text })
  for (const { columnId, value } of given) {
    const field = fields.find(({ slug }) => slug === columnId)
    if (field === undefined) {
      const text = `there is no field ${quoted(columnId)}: ${fields.map(({ slug }) => slug).join(", ")}`
      say(columnId, text, text)
    } else if (seen.has(columnId)) say(columnId, "it is set twice", `${columnId} is set twice`)
    else if (!isPlain(value)) say(columnId, "it must be a text")
    else if (String(value).trim() !== "") {
      seen.add(columnId)
      const read = readAny(field, String(value), organization)
      if (Result.isSuccess(read)) values[columnId] = read.success
      else if (typeof read.failure === "string") say(columnId, read.failure)
      else
        for (const { field: inner, message, text } of read.failure)
          say(`${columnId}/${inner}`, message, `${columnId}: ${text}`)
    }
  }
  for (const { default: standard, needed, slug } of fields) {
    if (seen.has(slug)) continue
    if (standard !== undefined) values[slug] = standard
    else if (needed) say(slug, "it is needed", `${slug} is needed`)
  }
  return wrong.length === 0 ? Result.succeed(values) : Result.fail(wrong)
}

/** The checked values of a call. */
export const readValues = (
  fields: ReadonlyArray<ActionField>,
  given: ReadonlyArray<{ readonly columnId: string; readonly value: string }>,
  organization: Organization
): Result.Result<CallValues, InvalidInput> =>
  Result.mapError(readFields(fields, given, organization), (wrong) => {
    const text = wrong[0]?.text ?? ""
    return InvalidInput.of(
      `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`,
      wrong.slice(0, MAX_PROBLEMS).map(({ field, message }) => ({ field, message }))
    )
  })
