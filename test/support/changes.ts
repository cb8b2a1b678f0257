/** An organization whose members change rows, and what the tables hold afterwards. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { apply, type Deciding } from "../../src/services/changes/apply.ts"
import { makeCallers } from "../../src/services/changes/callers.ts"
import { Changes, type Decision, type Proposal } from "../../src/services/changes/Changes.ts"
import { readChange } from "../../src/services/changes/records.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { OrgEntityStore } from "../../src/services/OrgEntityStore.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { makeOrganization } from "./atlas.ts"

export const VIA = { channel: "test" }

type RuleFile = Readonly<Record<string, unknown>>

/** An admin may read and change everything; `rules` and `rest` add to the policy. */
const policyOf = (rules: ReadonlyArray<RuleFile> = [], rest: RuleFile = {}) => ({
  version: 1,
  roles: {
    member: { inherits: [] },
    rep: { inherits: ["member"] },
    manager: { inherits: ["rep"] },
    admin: { inherits: [] }
  },
  ...rest,
  rules: [
    ...["people", "companies", "meetings"].flatMap((type) =>
      ["read", "create", "update", "delete"].map((action) => ({
        id: `admin-${action}-${type}`,
        effect: "allow",
        role: "admin",
        action,
        type,
        columns: "*",
        where: {}
      }))
    ),
    ...rules
  ]
})

/** A rule by which a role reads all people. */
export const readsPeople = (role: string) => ({
  id: `${role}-people`,
  effect: "allow",
  role,
  action: "read",
  type: "people",
  columns: "*",
  where: {}
})

export const publish = Effect.fnUntraced(function* (
  organization: Organization,
  rules: ReadonlyArray<RuleFile> = [],
  rest: RuleFile = {}
) {
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify(policyOf(rules, rest)), "test")
})

/** An organization with the policy, and its admin. */
export const changing = Effect.fnUntraced(function* (
  slug: string,
  rules: ReadonlyArray<RuleFile> = [],
  rest: RuleFile = {}
) {
  const organization = yield* makeOrganization(slug)
  yield* publish(organization, rules, rest)
  const admin = yield* person(organization, `admin@${slug}.example`, "admin")
  return { organization, admin }
})

export type Person = Effect.Success<ReturnType<typeof person>>

/** A new person in People who is a member, and the changes service as that person. */
export const person = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  ...roles: ReadonlyArray<string>
) {
  const members = yield* Memberships
  const { anchorId } = yield* members.add(organization, { identifier: email, roles, create: {} })
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
  return { anchorId, email, ...(yield* as(principal)) }
})

/** The changes service as a principal. */
export const as = Effect.fnUntraced(function* (principal: Principal) {
  const changes = yield* Changes
  const provide = Effect.provideService(CurrentPrincipal, principal)
  const propose = (proposal: Omit<Proposal, "via"> & Partial<Pick<Proposal, "via">>) =>
    provide(changes.propose({ via: VIA, ...proposal }))
  const confirm = (decision: Omit<Decision, "via">) => provide(changes.confirm({ via: VIA, ...decision }))
  return {
    principal,
    actions: provide(changes.actions),
    propose,
    /** Proposes an update of rows. */
    update: (actionId: string, entityIds: ReadonlyArray<string>, values: Readonly<Record<string, string>>) =>
      propose({ steps: [{ actionId, entityIds, values: valuesOf(values) }] }),
    create: (actionId: string, values: Readonly<Record<string, string>>) =>
      propose({ steps: [{ actionId, values: valuesOf(values) }] }),
    remove: (actionId: string, entityIds: ReadonlyArray<string>) => propose({ steps: [{ actionId, entityIds }] }),
    preview: (changeId: string) => provide(changes.preview(changeId, VIA)),
    confirm,
    reject: (changeId: string) => provide(changes.reject(changeId, VIA)),
    withdraw: (changeId: string) => provide(changes.withdraw(changeId, VIA)),
    undo: (changeId: string) => provide(changes.undo(changeId, VIA)),
    events: (changeId: string) => provide(changes.events(changeId)),
    list: (which: "mine" | "me", sessionId?: string) => provide(changes.list({ which, sessionId })),
    history: (type: string, id: string) => provide(changes.history(type, id))
  }
})

export const valuesOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([columnId, value]) => ({ columnId, value }))

/** Confirms a proposed change as often as its level asks the proposer to, without waiting: the clock of the row is moved. */
export const confirmed = Effect.fnUntraced(function* (
  who: Pick<Person, "confirm" | "principal">,
  {
    changeId,
    preview
  }: { readonly changeId: string; readonly preview: { readonly digest?: string; readonly rows: number } }
) {
  const digest = preview.digest!
  const first = yield* who.confirm({ changeId, digest })
  if (first._tag !== "Again") return first
  yield* longAgo(who.principal.organizationId, changeId)
  return yield* who.confirm({ changeId, digest, rows: preview.rows })
})

/** Moves the first confirmation of a change into the past. */
const longAgo = Effect.fnUntraced(function* (organizationId: bigint, changeId: string) {
  const { owner } = yield* Database
  yield* owner`UPDATE max.changes SET yes_at = yes_at - interval '2 seconds' WHERE organization_id = ${organizationId} AND change_id = ${changeId}`
})

/** The caller that a member is now. */
export const callerOf = Effect.fnUntraced(function* ({ principal }: Pick<Person, "principal">) {
  const { readmit } = yield* IdentityResolver
  return makeCallers(yield* OrgEntityStore)(yield* readmit(principal))
})

/** Applies a change with the callers that are given, and with a database that differs in `database`. */
export const applyAs = Effect.fnUntraced(function* (
  { changeId }: { readonly changeId: string },
  { started, via, writers }: Pick<Deciding, "started" | "via" | "writers">,
  { approver, ...database }: Pick<Deciding, "approver"> & Partial<Database["Service"]> = {}
) {
  const own = yield* Database
  const stored = (yield* readChange(own.changes, writers[0].principal.organizationId, changeId))!
  const decider = (approver ?? writers[0]).principal.anchorEntityId
  return yield* apply(stored, { decider, via, writers, approver, started }, { ...own, ...database })
})

/** Makes earlier changes not count against the limits. */
export const forgetLimits = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  yield* owner`UPDATE max.changes SET created_at = created_at - interval '2 days', expires_at = expires_at WHERE organization_id = ${organization.id}`
  yield* owner`DELETE FROM max.calls WHERE organization_id = ${organization.id}`
})

/** The rows of a managed table and of the links, as texts. */
export const rowsIn = Effect.fnUntraced(function* (organization: Organization, table = "people") {
  const { owner } = yield* Database
  const rows = yield* owner.unsafe<{ row: string }>(
    `SELECT t::text AS row FROM data.${table} t WHERE organization_id = $1::bigint ORDER BY 1`,
    [organization.id]
  )
  return rows.map(({ row }) => row)
})

/** One stored cell. */
export const cellOf = Effect.fnUntraced(function* (
  organization: Organization,
  id: string,
  column: string,
  table = "people"
) {
  const { owner } = yield* Database
  const [row] = yield* owner.unsafe<{ value: string | null }>(
    `SELECT ${column}::text AS value FROM data.${table} WHERE organization_id = $1::bigint AND id = $2::text::bigint`,
    [organization.id, id]
  )
  return row?.value
})
