/** Reads a file of actions; reports every problem with its place. */
import { Result, Schema, SchemaIssue } from "effect"
import { type Confirmation, stricter } from "../../domain/Action.ts"
import { type ActionField, type DeclaredAction, READ } from "../../domain/DeclaredAction.ts"
import { type Catalog, columnBySlug } from "../../domain/EntityType.ts"
import { isJsonObject, isNestedDeeper } from "../../domain/json.ts"
import { slugProblem } from "../../domain/names.ts"
import { printable, quoted } from "../../domain/text.ts"
import type { Problem } from "../../permissions/Policy.ts"
import { PolicyProblems } from "../../permissions/PolicyProblems.ts"
import { repeatedKey } from "../../permissions/repeatedKey.ts"
import { ActionFile, type FileAction } from "./actionFile.ts"
import { checkInverse } from "./checkInverse.ts"
import { readField } from "./fieldValues.ts"
import { patternProblem } from "./pattern.ts"
import { readRequest } from "./readRequest.ts"
import { namesIn } from "./template.ts"

/** In characters. */
export const MAX_ACTIONS_LENGTH = 500_000
const MAX_NESTING = 12

const decode = Schema.decodeUnknownResult(ActionFile, { errors: "all", onExcessProperty: "error" })
const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

export type ActionsReading =
  | { readonly actions: ReadonlyArray<DeclaredAction> }
  | { readonly problems: ReadonlyArray<Problem> }

export interface ReadingOptions {
  readonly catalog: Catalog
  /** Private hosts that actions may reach. */
  readonly hosts: ReadonlyArray<string>
}

/** The actions of a file, of version 0. */
export const readActions = (text: string, options: ReadingOptions): ActionsReading => {
  if (text.length > MAX_ACTIONS_LENGTH) return unreadable(`The file must be at most ${MAX_ACTIONS_LENGTH / 1000} kB.`)
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    return unreadable(`The file is not valid JSON: ${printable((error as Error).message.slice(0, 120))}.`)
  }
  if (isNestedDeeper(document, MAX_NESTING))
    return unreadable(`The file must be nested at most ${MAX_NESTING} levels deep.`)
  const repeated = repeatedKey(text)
  if (repeated !== undefined)
    return unreadable(`Duplicate key ${quoted(repeated)} in one object: only its last value would count.`)
  const decoded = decode(document)
  if (Result.isFailure(decoded)) {
    return {
      problems: formatIssue(decoded.failure.issue)
        .issues.slice(0, 50)
        .map(({ message, path }) => ({ path: placeOf(path ?? []), message: `${printable(message)}.` }))
    }
  }
  const problems = new PolicyProblems()
  const actions = decoded.success.actions.map((action, at) => {
    const path = `actions[${at}]`
    const request = (fields: ReadonlyArray<ActionField>) =>
      readRequest(action, fields, `${path}.http`, options.hosts, problems)
    return readAction(action, request, path, options.catalog, problems)
  })
  for (const [at, action] of actions.entries()) {
    checkSources(action, actions, `actions[${at}]`, problems)
    checkInverse(action, actions, `actions[${at}].inverse`, problems)
  }
  for (const [at, action] of actions.entries())
    if (actions.findIndex(({ slug }) => slug === action.slug) < at)
      problems.report(`actions[${at}].slug`, `Duplicate action ${quoted(action.slug)}.`)
  return problems.count > 0 ? { problems: problems.list } : { actions }
}

const unreadable = (message: string): ActionsReading => ({ problems: [{ path: "file", message }] })

const placeOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string => {
  const parts = path.map((part) => (typeof part === "object" ? part.key : part))
  const place = parts.reduce<string>(
    (so, part) =>
      typeof part === "number" ? `${so}[${part}]` : `${so}${so === "" ? "" : "."}${quoted(String(part)).slice(1, -1)}`,
    ""
  )
  return place === "" ? "file" : place
}

/** The least confirmation of a category, whatever is declared. */
const LEAST: Readonly<Record<DeclaredAction["category"], Confirmation>> = {
  write: "once",
  external: "once",
  destructive: "twice",
  read: "none"
}

export const readAction = (
  {
    category,
    confirm = "none",
    description,
    examples = [],
    fields,
    inverse,
    limits = [],
    name,
    seconds = 300,
    slug
  }: Omit<FileAction, "http">,
  executorOf: (fields: ReadonlyArray<ActionField>) => DeclaredAction["executor"],
  path: string,
  catalog: Catalog,
  problems: PolicyProblems
): DeclaredAction => {
  const reserved = slugProblem(slug)
  if (reserved !== undefined) problems.report(`${path}.slug`, `${quoted(slug)} can't be a slug: ${reserved}.`)
  if (catalog.types.some((type) => type.slug === slug))
    problems.report(`${path}.slug`, `There is a type ${quoted(slug)}: choose another name.`)
  for (const [key, text] of Object.entries({ name, description }))
    if (printable(text) !== text) problems.report(`${path}.${key}`, `\`${key}\` must be one printable line.`)
  const read = readFields(fields, `${path}.fields`, catalog, problems)
  if (category === READ && confirm !== "none") problems.report(`${path}.confirm`, "What only reads isn't confirmed.")
  if (category === READ && limits.length > 0)
    problems.report(`${path}.limits`, "`limits` belongs to actions that change something.")
  const action: DeclaredAction = {
    slug,
    name,
    description,
    examples,
    category,
    fields: read,
    confirm: stricter(confirm, LEAST[category]),
    seconds,
    limits,
    ...(inverse === undefined ? {} : { inverse }),
    executor: executorOf(read),
    version: 0
  }
  for (const [at, example] of examples.entries()) {
    const names = namesIn(example)
    const unknown = names?.find((name) => !read.some((field) => field.slug === name))
    if (names === undefined || unknown !== undefined || /\}\s*\{/.test(example))
      problems.report(
        `${path}.examples[${at}]`,
        "In an example, {field} stands for a field, with words between two of them."
      )
  }
  for (const [at, field] of read.entries()) {
    if (!isUsed(field.slug, action.executor))
      problems.report(`${path}.fields[${at}]`, `The request doesn't use ${quoted(field.slug)}: remove the field.`)
  }
  return action
}

/** Whether a field stands in the request; a function gets every field. */
const isUsed = (slug: string, executor: DeclaredAction["executor"]): boolean => {
  if (executor._tag === "Code") return true
  const text = JSON.stringify([executor.url, executor.body ?? null])
  return text.includes(`{${slug}}`) || text.includes(`{${slug}:text}`) || text.includes(`"each":"${slug}"`)
}

/** Checks the references whose candidates another action of the file reads. */
const checkSources = (
  action: DeclaredAction,
  actions: ReadonlyArray<DeclaredAction>,
  path: string,
  problems: PolicyProblems
) => {
  for (const [at, { from, slug }] of action.fields.entries()) {
    if (from === undefined) continue
    const report = (key: string, message: string) => problems.report(`${path}.fields[${at}].from.${key}`, message)
    const source = actions.find((one) => one.slug === from.action)
    if (source?.category !== READ || source.executor._tag !== "Http" || source.executor.entries === undefined) {
      report("action", "It must be an action of this file that reads `entries`.")
      continue
    }
    for (const field of source.fields) {
      const own = action.fields.find((one) => one.slug === field.slug && one.slug !== slug)
      if (field.needed && field.default === undefined && own === undefined)
        report("action", `${from.action} needs ${quoted(field.slug)}, which must be another field of this action.`)
      if (field.kind === "reference" || own?.from !== undefined)
        report("action", `${quoted(field.slug)} can't be a reference that is looked up itself.`)
    }
    const names = Object.keys(source.executor.result ?? {})
    for (const [key, name] of [["sends", from.sends] as const, ...from.match.map((one) => ["match", one] as const)])
      if (!names.includes(name)) report(key, `${from.action} has no result ${quoted(name)}.`)
  }
}

const readFields = (
  fields: FileAction["fields"],
  path: string,
  catalog: Catalog,
  problems: PolicyProblems,
  isInner = false
): ReadonlyArray<ActionField> =>
  fields.map((field, at): ActionField => {
    const { fields: inner, needed = false, within, ...rest } = field
    const { default: standard, kind, max, maxLength, min, pattern, values } = rest
    const place = `${path}[${at}]`
    const report = (key: string, message: string) => problems.report(`${place}.${key}`, message)
    if (fields.findIndex(({ slug }) => slug === field.slug) < at)
      report("slug", `Duplicate field ${quoted(field.slug)}.`)
    const reserved = slugProblem(field.slug)
    if (reserved !== undefined && field.slug !== "id")
      report("slug", `${quoted(field.slug)} can't be a slug: ${reserved}.`)
    if (printable(field.name) !== field.name) report("name", "`name` must be one printable line.")
    const isNumber = kind === "integer" || kind === "number"
    if ((min !== undefined || max !== undefined) && !isNumber) report("kind", "`min` and `max` belong to numbers.")
    if (min !== undefined && max !== undefined && min > max) report("min", "`min` is above `max`.")
    if (field.check !== undefined && kind !== "text") report("check", "`check` belongs to texts.")
    if (values !== undefined && kind !== "text") report("values", "`values` belongs to texts.")
    if (pattern !== undefined) {
      const problem =
        kind === "text" || kind === "reference" ? patternProblem(pattern, maxLength) : "`pattern` belongs to texts."
      if (problem !== undefined) report("pattern", problem)
    }
    if (kind === "group" && (isInner || inner === undefined || inner.length === 0))
      report("fields", isInner ? "A group has no groups." : "A group has `fields`.")
    if (kind !== "group" && inner !== undefined) report("fields", "`fields` belongs to groups.")
    if (kind === "reference" && isInner) report("kind", "A group has no references.")
    const leads = readReference(field, fields, catalog, report)
    const made: ActionField = {
      ...rest,
      needed,
      ...(within === undefined || leads === undefined ? {} : { within: { field: within, column: leads } }),
      ...(inner === undefined ? {} : { fields: readFields(inner, `${place}.fields`, catalog, problems, true) })
    }
    if (standard !== undefined && pattern === undefined) {
      const read = readField(made, standard, catalog.organization)
      if (Result.isFailure(read)) report("default", `The default doesn't fit: ${read.failure}.`)
      else return { ...made, default: read.success }
    }
    return made
  })

/** Checks what belongs to references; the slug of the column that leads to the entity of `within`. */
const readReference = (
  { default: standard, from, kind, sends, target, values, within }: FileAction["fields"][number],
  fields: FileAction["fields"],
  catalog: Catalog,
  report: (key: string, message: string) => void
): string | undefined => {
  if (kind !== "reference") {
    for (const [key, value] of Object.entries({ from, sends, target, within }))
      if (value !== undefined) report(key, `\`${key}\` belongs to references.`)
    return undefined
  }
  if (standard !== undefined) report("default", "A reference has no default.")
  if (values !== undefined) report("values", "A reference has no `values`.")
  if (from !== undefined) {
    for (const [key, value] of Object.entries({ sends, target, within }))
      if (value !== undefined) report(key, `\`${key}\` belongs to references with a \`target\`; this one has \`from\`.`)
    return undefined
  }
  const typeOf = (slug: string | undefined) => catalog.types.find((type) => type.slug === slug)
  const type = typeOf(target)
  if (type === undefined)
    report("target", `A reference has a \`target\` (${catalog.types.map(({ slug }) => slug).join(", ")}) or \`from\`.`)
  const column = type && columnBySlug(type, sends ?? "")
  if (sends !== undefined && type !== undefined && !(column !== undefined && SENT.includes(column.kind)))
    report("sends", `${type.slug} has no column ${quoted(sends)} with one text or number.`)
  if (within === undefined || type === undefined) return undefined
  const parent = typeOf(fields.find(({ kind: of, slug }) => of === "reference" && slug === within)?.target)
  const leading = type.columns.filter(({ storage }) => storage._tag === "One" && storage.target === parent?.key)
  if (parent === undefined || leading.length !== 1) {
    report("within", `It must be another reference, which exactly one column of ${type.slug} leads to.`)
    return undefined
  }
  return leading[0]!.slug
}

/** The kinds of columns whose values can be sent. */
const SENT: ReadonlyArray<string> = ["text", "email", "phone", "integer"]

/** Whether two actions differ in nothing but their versions. */
export const isSameDefinition = (a: DeclaredAction, b: DeclaredAction): boolean =>
  JSON.stringify(sorted({ ...a, version: 0 })) === JSON.stringify(sorted({ ...b, version: 0 }))

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : isJsonObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, part]) => [key, sorted(part)])
        )
      : value
