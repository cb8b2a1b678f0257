/**
 * The JSON Schema of a policy file, for editors: in general, or with one organization's types, columns and roles as the
 * names to choose from. It is as strict as completion needs; `readPolicy` decides.
 */
import { type Catalog, type Column, type EntityType, targetOf } from "../domain/EntityType.ts"
import { CompareOp } from "../domain/Predicate.ts"
import { Action } from "./Policy.ts"

type Json = { readonly [key: string]: unknown }

const TEXTS: Json = { type: "array", items: { type: "string" } }
const VALUE: Json = {
  description: `A value; "$me" is the person who asks, "$attr.name" an attribute of the membership.`,
  type: ["string", "number", "boolean"]
}

const object = (properties: Json, more: Json = {}): Json => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more
})

/** The schema; for a catalog and its roles, if given, with their names. */
export const policySchema = (catalog?: Catalog, roles: ReadonlyArray<string> = []): Json => {
  const types = catalog?.types ?? []
  const role: Json = { type: "string", ...(roles.length === 0 ? {} : { examples: roles }) }
  const typeName: Json = catalog === undefined ? { type: "string" } : { enum: types.map(({ slug }) => slug) }
  const perType = (key: string, then: (type: EntityType) => Json): Json =>
    catalog === undefined
      ? {}
      : {
          allOf: types.map((type) => ({
            if: { properties: { [key]: { const: type.slug } }, required: [key] },
            // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema
            then: { properties: then(type) }
          }))
        }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: catalog === undefined ? "A policy of Max" : `A policy of ${catalog.organization.name}`,
    description: "Who sees what. No rule, no access; a deny wins over every allow.",
    ...object(
      {
        $schema: { type: "string" },
        version: { const: 1 },
        roles: {
          description: "The roles that members can have, and whose rules each has, too.",
          type: "object",
          propertyNames: { pattern: "^[a-z][a-z0-9_-]{0,62}$" },
          additionalProperties: object({
            inherits: { type: "array", items: role },
            administers: {
              description: "Whether the role may use the administration pages: members, policy and audit log.",
              type: "boolean"
            }
          })
        },
        rules: { type: "array", items: { $ref: "#/definitions/rule" } },
        tests: { type: "array", items: { $ref: "#/definitions/test" } }
      },
      { required: ["version", "roles", "rules"] }
    ),
    definitions: {
      rule: object(
        {
          id: { description: "What the rule is called in explanations.", type: "string", minLength: 1, maxLength: 200 },
          effect: { enum: ["allow", "deny"] },
          role,
          action: { enum: Action.literals },
          type: typeName,
          columns: {
            description: `The columns it is about. "*" in an allow means the columns of today; in a deny it hides the whole row.`,
            anyOf: [{ const: "*" }, { ...TEXTS, minItems: 1 }]
          },
          where: {
            description: "The rows it is about; all when it is left out.",
            ...(catalog === undefined ? { $ref: "#/definitions/where" } : { type: "object" })
          },
          notBefore: { description: "A date (UTC) or a time with an offset.", type: "string" },
          notAfter: { description: "The rule holds until just before this.", type: "string" }
        },
        {
          required: ["id", "effect", "role", "action", "type", "columns"],
          ...perType("type", (type) => ({
            columns: { anyOf: [{ const: "*" }, { type: "array", minItems: 1, items: slugs(type) }] },
            where: { $ref: `#/definitions/where_${type.slug}` }
          }))
        }
      ),
      test: object(
        {
          as: { description: "As whom it reads: an e-mail address or phone number.", type: "string" },
          roles: { description: "Roles to have instead of the membership's.", type: "array", items: role },
          attributes: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
          read: { description: "The type that is read.", ...typeName },
          denied: { description: "Whether nothing of the type may be seen at all.", type: "boolean" },
          expect: { description: "The external ids of the rows that are seen, and no others.", ...TEXTS },
          includes: { description: "Rows that are seen, by external id.", ...TEXTS },
          excludes: { description: "Rows that aren't seen, by external id.", ...TEXTS },
          shows: { description: "Columns seen on every row named above; without any, on some row.", ...TEXTS },
          hides: { description: "Columns seen on none of the rows named above; without any, on no row.", ...TEXTS }
        },
        {
          required: ["as", "read"],
          ...perType("read", (type) => ({
            shows: { type: "array", items: slugs(type) },
            hides: { type: "array", items: slugs(type) }
          }))
        }
      ),
      ...(catalog === undefined
        ? { where: { type: "object" } }
        : Object.fromEntries(types.map((type) => [`where_${type.slug}`, where(type, catalog)])))
    }
  }
}

const slugs = (type: EntityType): Json => ({ enum: type.columns.map(({ slug }) => slug) })

const where = (type: EntityType, catalog: Catalog): Json => {
  const self = { $ref: `#/definitions/where_${type.slug}` }
  return object({
    all: { description: "All of these hold.", type: "array", items: self },
    any: { description: "One of these holds.", type: "array", items: self },
    not: { description: "This doesn't hold.", ...self },
    id: condition,
    ...Object.fromEntries(type.columns.map((column) => [column.slug, columnCondition(column, catalog)]))
  })
}

const condition: Json = {
  anyOf: [
    VALUE,
    { type: "null" },
    { type: "array", items: VALUE },
    object({
      ...Object.fromEntries(CompareOp.literals.map((op) => [op, VALUE])),
      not: {}
    })
  ]
}

const columnCondition = (column: Column, catalog: Catalog): Json => {
  const target = targetOf(catalog, column)
  const described = { description: `${column.name} (${column.kind})` }
  if (target === undefined) return { ...described, ...condition }
  return {
    ...described,
    anyOf: [{ $ref: `#/definitions/where_${target.slug}` }, ...(condition["anyOf"] as ReadonlyArray<Json>)]
  }
}
