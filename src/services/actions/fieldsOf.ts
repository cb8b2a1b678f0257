/** The fields of an action, from a schema: only what a person can fill in and a card can show. */
import { type Schema, SchemaAST } from "effect"
import { InvalidInput } from "../../domain/errors.ts"
import { isJsonObject } from "../../domain/json.ts"
import type { FileAction } from "./actionFile.ts"

type FileField = FileAction["fields"][number]
type Plain = Omit<FileField, "slug" | "name" | "needed" | "description" | "fields">

const fault = (place: string, what: string) => InvalidInput.of(`input.${place}: ${what}.`)

/** Throws InvalidInput for a schema that isn't a flat struct of values. */
export const fieldsOf = (schema: Schema.Top): FileAction["fields"] => fieldsOfStruct(schema.ast, "")

const fieldsOfStruct = (ast: SchemaAST.AST, at: string): ReadonlyArray<FileField> => {
  const what = "it must be a Schema.Struct of fields"
  if (ast._tag !== "Objects" || ast.indexSignatures.length > 0) throw fault(at === "" ? "it" : at, what)
  refuseEncoding(ast, at)
  if ((ast.checks ?? []).length > 0) throw fault(at, "a check over several fields can't be shown in a form")
  return ast.propertySignatures.map(({ name, type }) => {
    const slug = String(name)
    return fieldOf(slug, type, at === "" ? slug : `${at}.${slug}`)
  })
}

const fieldOf = (slug: string, given: SchemaAST.AST, place: string): FileField => {
  const type = withoutUndefined(given)
  const words = (key: string) => [given, type, ...(type.checks ?? [])].map((one) => one.annotations?.[key]).find(isText)
  const title = words("title") ?? `${slug.slice(0, 1).toUpperCase()}${slug.slice(1).replaceAll("_", " ")}`
  const description = words("description")
  const needed = given.context?.isOptional !== true
  return {
    slug,
    name: title,
    needed,
    ...(description === undefined ? {} : { description }),
    ...kindOf(type, words("format"), place)
  } as FileField
}

const isText = (value: unknown): value is string => typeof value === "string"

/** Of an optional schema, what it is when it is there. */
const withoutUndefined = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag !== "Union") return ast
  const rest = ast.types.filter(({ _tag }) => _tag !== "Undefined")
  return rest.length === 1 && rest.length < ast.types.length ? rest[0]! : ast
}

const refuseEncoding = (ast: SchemaAST.AST, place: string) => {
  if (ast.encoding !== undefined)
    throw fault(place, "a transformation isn't supported: take the value as it is written")
}

const FORMATS: Readonly<Record<string, Plain["kind"]>> = {
  date: "date",
  "date-time": "timestamp",
  email: "email",
  phone: "phone"
}

const kindOf = (ast: SchemaAST.AST, format: string | undefined, place: string): Plain & Pick<FileField, "fields"> => {
  refuseEncoding(ast, place)
  const checks = checksOf(ast, place)
  switch (ast._tag) {
    case "String": {
      const kind = format === undefined ? "text" : FORMATS[format]
      if (kind === undefined) throw fault(place, `there is no format ${format ?? ""}`)
      return { kind, ...checks.only(["maxLength", "pattern"]) }
    }
    case "Literal":
      if (typeof ast.literal === "string") return { kind: "text", values: [ast.literal], ...checks.only([]) }
      break
    case "Union": {
      const values = ast.types.map((type) => (type._tag === "Literal" ? type.literal : undefined))
      if (values.every(isText)) return { kind: "text", values, ...checks.only([]) }
      break
    }
    case "Number":
      if (checks.isWhole) return { kind: "integer", ...checks.only(["min", "max"]) }
      if (checks.isFinite) return { kind: "number", ...checks.only(["min", "max"]) }
      throw fault(place, "use Schema.Finite or Schema.Int")
    case "Boolean":
      return { kind: "boolean", ...checks.only([]) }
    case "Arrays": {
      const [item, ...more] = ast.rest
      if (item === undefined || more.length > 0 || ast.elements.length > 0) break
      if (item._tag === "Objects")
        return { kind: "group", fields: fieldsOfStruct(item, place), ...checks.only(["maxLength"]) }
      if (item._tag === "String" && (item.checks ?? []).length === 0 && item.encoding === undefined)
        return { kind: "list", ...checks.only(["maxLength"]) }
    }
  }
  throw fault(place, "it must be texts, literals, finite numbers, booleans, or a list of texts or of structs")
}

type Bound = "min" | "max" | "maxLength" | "pattern"

/** What the checks of a schema say, as properties of a field. Each check that a form can't show is refused. */
const checksOf = (ast: SchemaAST.AST, place: string) => {
  const found: { -readonly [Key in Bound]?: Key extends "pattern" ? string : number } = {}
  let isWhole = false
  let isFinite = false
  for (const [id, payload] of filtersOf(ast.checks ?? [])) {
    const number = (key: string) => {
      const value = payload[key]
      return typeof value === "number" ? value : NaN
    }
    if (id === "isInt") isWhole = true
    else if (id === "isFinite") isFinite = true
    else if (id === "isMinLength" && number("minLength") <= 1) continue
    else if (id === "isMaxLength") found.maxLength = number("maxLength")
    else if (id === "isGreaterThanOrEqualTo") found.min = number("minimum")
    else if (id === "isLessThanOrEqualTo") found.max = number("maximum")
    else if (id === "isBetween" && Object.keys(payload).every((key) => ["minimum", "maximum"].includes(key))) {
      found.min = number("minimum")
      found.max = number("maximum")
    } else if (id === "isPattern" && payload["flags"] === "") {
      const source = String(payload["source"])
      if (!/^\^[^]*\$$/.test(source)) throw fault(place, "its pattern must be about the whole text: ^…$")
      found.pattern = source.slice(1, -1)
    } else throw fault(place, `the check ${id || "without a name"} can't be shown in a form`)
  }
  const only = (allowed: ReadonlyArray<Bound>): Partial<Record<Bound, never>> => {
    const other = (Object.keys(found) as ReadonlyArray<Bound>).find((key) => !allowed.includes(key))
    if (other !== undefined) throw fault(place, `${other} doesn't belong to this kind`)
    return found as Partial<Record<Bound, never>>
  }
  return { isWhole, isFinite, only }
}

const filtersOf = (
  checks: ReadonlyArray<SchemaAST.Check<never>>
): ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> =>
  checks.flatMap((check) => {
    if (check._tag === "FilterGroup") return filtersOf(check.checks as never)
    const { id, payload } = (check.annotations?.["representation"] ?? {}) as { id?: string; payload?: unknown }
    return [[(id ?? "").replace("effect/schema/", ""), isJsonObject(payload) ? payload : {}] as const]
  })
