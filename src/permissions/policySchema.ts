/**
 * The JSON Schema of a policy file for editors, optionally with one organization's types, columns and roles. It serves
 * completion and early feedback; `readPolicy` is the authority.
 */
import { type Catalog, type Column, type EntityType, readableColumns, targetOf } from "../domain/EntityType.ts"
import { CompareOp } from "../domain/Predicate.ts"
import { Action, Power } from "./Policy.ts"

type Json = { readonly [key: string]: unknown }

const TEXTS: Json = { type: "array", items: { type: "string" } }
const VALUE: Json = {
  description: `A value. "$me" is the asking person, "$attr.name" an attribute of their membership.`,
  type: ["string", "number", "boolean"]
}

const object = (properties: Json, more: Json = {}): Json => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more
})

/** The schema, with the names of a catalog and its roles when they are given. */
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
            // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
            then: { properties: then(type) }
          }))
        }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: catalog === undefined ? "A policy of Max" : `A policy of ${catalog.organization.name}`,
    description: "Access rules. Access requires an allow; a deny overrides every allow.",
    ...object(
      {
        $schema: { type: "string" },
        version: { const: 1 },
        roles: {
          description: "The roles that members can have, and the roles each inherits.",
          type: "object",
          propertyNames: { pattern: "^[a-z][a-z0-9_-]{0,62}$" },
          additionalProperties: object({
            inherits: { type: "array", items: role },
            administers: {
              description:
                "Whether the role may use the administration pages: true to see members, policy and audit log and to suspend members; a list to change what it names as well.",
              anyOf: [
                { type: "boolean" },
                { type: "array", items: { enum: Power.literals }, minItems: 1, uniqueItems: true }
              ]
            }
          })
        },
        rules: { type: "array", items: { $ref: "#/definitions/rule" } },
        confirm: {
          description: "How changes must be confirmed. An entry only raises it; of several the strictest counts.",
          type: "array",
          items: { $ref: "#/definitions/confirm" }
        },
        tests: { type: "array", items: { $ref: "#/definitions/test" } }
      },
      { required: ["version", "roles", "rules"] }
    ),
    definitions: {
      rule: object(
        {
          id: { description: "The rule's name in explanations.", type: "string", minLength: 1, maxLength: 200 },
          effect: { enum: ["allow", "deny"] },
          role,
          action: { enum: Action.literals },
          name: { description: "Of invoke: the action.", type: "string", pattern: "^[a-z][a-z0-9_]{0,62}$" },
          type: typeName,
          columns: {
            description: `The columns that the rule covers. "*" means, in an allow, the columns that exist at publication; in a deny, the whole row. A rule about delete covers "*".`,
            anyOf: [{ const: "*" }, { ...TEXTS, minItems: 1 }]
          },
          where: {
            description: "The rows that the rule covers; all rows when omitted.",
            ...(catalog === undefined ? { $ref: "#/definitions/where" } : { type: "object" })
          },
          becomes: {
            description:
              "Of an update that is allowed: the row afterwards. When omitted, `where` holds for it too; {} permits any.",
            ...(catalog === undefined ? { $ref: "#/definitions/where" } : { type: "object" })
          },
          notBefore: { description: "The rule applies from this date (UTC) or time with an offset.", type: "string" },
          notAfter: { description: "The rule applies until just before this date or time.", type: "string" }
        },
        {
          required: ["id", "effect", "role", "action"],
          // A rule about a declared action is about no row.
          anyOf: [
            { required: ["type", "columns"] },
            { properties: { action: { const: "invoke" } }, required: ["name"], not: { required: ["type"] } }
          ],
          ...perType("type", (type) => ({
            columns: { anyOf: [{ const: "*" }, { type: "array", minItems: 1, items: slugs(type) }] },
            where: { $ref: `#/definitions/where_${type.slug}` },
            becomes: { $ref: `#/definitions/where_${type.slug}` }
          }))
        }
      ),
      confirm: object(
        {
          action: {
            description: "publish is about publishing a policy.",
            enum: ["create", "update", "delete", "invoke", "publish"]
          },
          name: { description: "Of invoke: the action.", type: "string" },
          type: typeName,
          columns: { description: "Only changes of one of these columns.", ...TEXTS, minItems: 1 },
          above: { description: "Only changes of more rows than this.", type: "integer", minimum: 1 },
          by: {
            description: "once: one yes. twice: two different controls. second: another person, besides.",
            enum: ["once", "twice", "second"]
          },
          approvers: {
            description: "Of second: the roles of which the other person needs one.",
            type: "array",
            minItems: 1,
            items: role
          }
        },
        {
          required: ["action", "by"],
          anyOf: [
            { properties: { action: { not: { const: "publish" } } }, required: ["type"] },
            { properties: { action: { const: "invoke" } }, required: ["name"], not: { required: ["type"] } },
            {
              properties: { action: { const: "publish" }, by: { const: "second" } },
              required: ["approvers"],
              not: { anyOf: ["type", "name", "columns", "above"].map((key) => ({ required: [key] })) }
            }
          ],
          ...perType("type", (type) => ({ columns: { type: "array", minItems: 1, items: slugs(type) } }))
        }
      ),
      test: object(
        {
          as: { description: "The reading person: an e-mail address or phone number.", type: "string" },
          roles: { description: "Replaces the roles of the membership.", type: "array", items: role },
          attributes: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
          read: { description: "The type to read.", ...typeName },
          create: { description: "Instead of read: the type of which a row is created.", ...typeName },
          update: { description: "Instead of read: the type of which rows are changed.", ...typeName },
          delete: { description: "Instead of read: the type of which rows are deleted.", ...typeName },
          values: {
            description: `What columns are set to; null empties a cell. A relation takes external ids, or "$me".`,
            type: "object",
            minProperties: 1
          },
          allows: { description: "External ids of rows on which the change is allowed.", ...TEXTS },
          refuses: { description: "External ids of rows on which the change is refused.", ...TEXTS },
          allowed: { description: "Of create: whether it is allowed.", type: "boolean" },
          denied: { description: "Whether access to the whole type is denied.", type: "boolean" },
          expect: { description: "The external ids of exactly the visible rows.", ...TEXTS },
          includes: { description: "External ids of rows that are visible.", ...TEXTS },
          excludes: { description: "External ids of rows that are hidden.", ...TEXTS },
          shows: {
            description: "Columns visible on every row named above; if none is named, on at least one row.",
            ...TEXTS
          },
          hides: { description: "Columns hidden on every row named above; if none is named, on every row.", ...TEXTS }
        },
        {
          required: ["as"],
          oneOf: ["read", "create", "update", "delete"].map((action) => ({ required: [action] })),
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

const slugs = (type: EntityType): Json => ({ enum: readableColumns(type).map(({ slug }) => slug) })

const where = (type: EntityType, catalog: Catalog): Json => {
  const self = { $ref: `#/definitions/where_${type.slug}` }
  return object({
    all: { description: "All of these conditions hold.", type: "array", items: self },
    any: { description: "At least one of these conditions holds.", type: "array", items: self },
    not: { description: "This condition doesn't hold.", ...self },
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
