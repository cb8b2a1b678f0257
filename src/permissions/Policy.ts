/**
 * Policies as they are stored and planned from: roles and "*" expanded, every name replaced by its immutable key, and
 * no mistake in them. What an operator writes comes to one by way of `readPolicy`.
 */
import { Schema } from "effect"
import { PredicateSchema } from "../domain/Predicate.ts"
import type { AttributeValue } from "../domain/Principal.ts"

const RuleEffect = Schema.Literals(["allow", "deny"])
export const Action = Schema.Literals(["read", "create", "update", "delete", "invoke"])
export type Action = typeof Action.Type

export const Rule = Schema.Struct({
  id: Schema.String,
  effect: RuleEffect,
  role: Schema.String,
  action: Action,
  /** The type's key. */
  type: Schema.String,
  /** Column keys. Only a deny keeps "*": it hides the row. */
  columns: Schema.Union([Schema.Literal("*"), Schema.Array(Schema.String)]),
  where: PredicateSchema,
  /** Milliseconds since 1970: the rule holds from `notBefore` until just before `notAfter`. */
  notBefore: Schema.optionalKey(Schema.Finite),
  notAfter: Schema.optionalKey(Schema.Finite)
})
export interface Rule extends Schema.Schema.Type<typeof Rule> {}

export const Policy = Schema.Struct({
  /** Every role with all roles whose rules it has, itself included. */
  roles: Schema.Record(Schema.String, Schema.Array(Schema.String)),
  /** The roles that may administer the organization over HTTP and its pages; nobody may when it isn't there. */
  administering: Schema.optionalKey(Schema.Array(Schema.String)),
  rules: Schema.Array(Rule)
})
export interface Policy extends Schema.Schema.Type<typeof Policy> {}

/** Whether whoever has these roles may administer the organization. */
export const administers = (policy: Policy, roles: ReadonlyArray<string>): boolean =>
  Object.hasOwn(policy, "administering") && roles.some((role) => policy.administering!.includes(role))

/** One thing that a policy's author expects of it. Rows are meant by their external ids, types and columns by their keys. */
export interface PolicyTest {
  /** Where it stands in the file. */
  readonly path: string
  /** A verified or known e-mail address or phone number. */
  readonly as: string
  /** Roles to have instead of those of the membership, so that a test needs no member. */
  readonly roles?: ReadonlyArray<string>
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  readonly type: string
  /** Whether anything of the type may be seen at all. */
  readonly denied?: boolean
  /** These rows and no others. */
  readonly expect?: ReadonlyArray<string>
  readonly includes?: ReadonlyArray<string>
  readonly excludes?: ReadonlyArray<string>
  /** Columns that are visible on every row named by `expect` or `includes`; without any, on some row or other. */
  readonly shows?: ReadonlyArray<string>
  /** Columns that are visible on none of them; without any, on no row whatever. */
  readonly hides?: ReadonlyArray<string>
}

/** What is wrong with a policy file: where, what, and the line as it should be when that is known. */
export interface Problem {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

export const problemText = (problem: Problem): string =>
  `${problem.path}: ${problem.message}${problem.fix === undefined ? "" : ` Write: ${problem.fix}`}`
