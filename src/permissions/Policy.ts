/**
 * The normalized policy that is stored and planned from: validated, with roles and "*" expanded and every name replaced
 * by its immutable key. `readPolicy` produces it from an operator's file.
 */
import { Schema } from "effect"
import { PredicateSchema } from "../domain/Predicate.ts"
import type { AttributeValue } from "../domain/Principal.ts"

const RuleEffect = Schema.Literals(["allow", "deny"])
export const Action = Schema.Literals(["read", "create", "update", "delete", "invoke"])
export type Action = typeof Action.Type

/** The type of a rule about a declared action, which is about no row. */
export const NO_TYPE = ""

export const Rule = Schema.Struct({
  id: Schema.String,
  effect: RuleEffect,
  role: Schema.String,
  action: Action,
  /** The type's key, or `NO_TYPE`. */
  type: Schema.String,
  /** Of `invoke`: the action's slug. */
  name: Schema.optionalKey(Schema.String),
  /** Column keys. "*" survives only in a deny, where it stands for the whole row, and for `delete`, which has no other. */
  columns: Schema.Union([Schema.Literal("*"), Schema.Array(Schema.String)]),
  /** The row as it is; of `create`, the new row. */
  where: PredicateSchema,
  /** Of an `update` that allows: the row afterwards. When absent, `where` holds for it too. */
  becomes: Schema.optionalKey(PredicateSchema),
  /** Milliseconds since 1970. The rule is in force in the half-open interval [`notBefore`, `notAfter`). */
  notBefore: Schema.optionalKey(Schema.Finite),
  notAfter: Schema.optionalKey(Schema.Finite)
})
export interface Rule extends Schema.Schema.Type<typeof Rule> {}

/** What administrators may change in the browser: members and their roles, the policy, imported data, sealed secrets. */
export const Power = Schema.Literals(["members", "policy", "data", "secrets"])
export type Power = typeof Power.Type

/** Raises the confirmation of a change; no entry lowers it. */
export const ConfirmEntry = Schema.Struct({
  action: Schema.Literals(["create", "update", "delete", "invoke"]),
  name: Schema.optionalKey(Schema.String),
  /** The type's key. */
  type: Schema.String,
  /** Column keys: only a change of one of them is concerned. When absent, every change is. */
  columns: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Only a change of more rows than this is concerned. */
  above: Schema.optionalKey(Schema.Finite),
  by: Schema.Literals(["once", "twice", "second"]),
  /** Of `second`: the roles of which a second person needs one. */
  approvers: Schema.optionalKey(Schema.Array(Schema.String))
})
export interface ConfirmEntry extends Schema.Schema.Type<typeof ConfirmEntry> {}

export const Policy = Schema.Struct({
  /** Each role with the transitive closure of the roles that it inherits, itself included. */
  roles: Schema.Record(Schema.String, Schema.Array(Schema.String)),
  /** The roles that may use the administration API and pages. When absent, no role may. */
  administering: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What an administering role may change besides suspending members and revoking tokens. When absent, nothing. */
  powers: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Power))),
  rules: Schema.Array(Rule),
  confirm: Schema.optionalKey(Schema.Array(ConfirmEntry)),
  /**
   * The roles of which a second person needs one to approve a publication; each has the power `policy`. When absent, no second
   * person is needed. Not an entry of `confirm`: a process of an older version couldn't read that.
   */
  publishing: Schema.optionalKey(Schema.Struct({ approvers: Schema.Array(Schema.String) }))
})
export interface Policy extends Schema.Schema.Type<typeof Policy> {}

/** Whether one of these roles may administer the organization. */
export const administers = (policy: Policy, roles: ReadonlyArray<string>): boolean =>
  Object.hasOwn(policy, "administering") && roles.some((role) => policy.administering!.includes(role))

/** The powers of a person with these roles. */
export const powersOf = ({ powers = {} }: Pick<Policy, "powers">, roles: ReadonlyArray<string>): ReadonlyArray<Power> =>
  Power.literals.filter((power) => roles.some((role) => Object.hasOwn(powers, role) && powers[role]!.includes(power)))

/** The roles whose holders may approve a publication that waits for a second person. */
export const publicationApprovers = ({ powers = {}, publishing }: Policy): ReadonlyArray<string> =>
  publishing?.approvers ?? Object.keys(powers).filter((role) => powers[role]!.includes("policy"))

interface TestSubject {
  /** The position in the file, such as `tests[2]`. */
  readonly path: string
  /** The person's e-mail address or phone number. */
  readonly as: string
  /** Replaces the membership's roles, so that a test needs no member. */
  readonly roles?: ReadonlyArray<string>
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  /** The type's key. */
  readonly type: string
}

/** An expectation in a policy file. It names rows by external id, types and columns by key. */
export type PolicyTest = ReadTest | ChangeTest

export interface ReadTest extends TestSubject {
  readonly action: "read"
  /** Whether the plan must deny the whole type. */
  readonly denied?: boolean
  /** Exactly these rows are visible. */
  readonly expect?: ReadonlyArray<string>
  readonly includes?: ReadonlyArray<string>
  readonly excludes?: ReadonlyArray<string>
  /** Columns visible on every row named by `expect` or `includes`; when none is named, on at least one row. */
  readonly shows?: ReadonlyArray<string>
  /** Columns hidden on every row named by `expect` or `includes`; when none is named, on every row. */
  readonly hides?: ReadonlyArray<string>
}

/** A change that the policy allows on some rows and refuses on others. */
export interface ChangeTest extends TestSubject {
  readonly action: "create" | "update" | "delete"
  /** By column key; NULL empties the cell. A relation takes external ids of its target, or "$me". */
  readonly values: Readonly<Record<string, string | ReadonlyArray<string> | null>>
  readonly allows: ReadonlyArray<string>
  readonly refuses: ReadonlyArray<string>
  /** Of `create`, which has no rows: whether it is allowed. */
  readonly creates?: boolean
}

/** A problem in a policy file: its path, a message and, where one is known, the corrected text. */
export interface Problem {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

export const problemText = (problem: Problem): string =>
  `${problem.path}: ${problem.message}${problem.fix === undefined ? "" : ` Write: ${problem.fix}`}`
