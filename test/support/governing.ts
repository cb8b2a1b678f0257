/** An organization in which a second person approves each publication of a policy, and the changes service as its people. */
import { Effect } from "effect"
import type { Organization } from "../../src/domain/EntityType.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { AuditLog } from "../../src/services/audit/AuditLog.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { makeOrganization } from "./atlas.ts"
import { person } from "./changes.ts"

/** As a session or the terminal reaches the service. */
const IN_PERSON = { channel: "test", administers: true }

const APPROVED = [{ action: "publish", by: "second", approvers: ["admin"] }]

const reading = (role: string, columns: ReadonlyArray<string>) => ({
  id: `${role}-people`,
  effect: "allow",
  role,
  action: "read",
  type: "people",
  columns,
  where: {}
})

/** `shown` are the columns of people that a member sees. */
export const policyFile = (shown: ReadonlyArray<string> = ["name"], more: object = {}): string =>
  JSON.stringify({
    version: 1,
    roles: {
      member: { inherits: [] },
      clerk: { inherits: [], administers: ["members"] },
      lawyer: { inherits: [], administers: ["policy"] },
      admin: { inherits: [], administers: ["members", "policy"] }
    },
    rules: [reading("member", shown), reading("admin", ["name", "status", "phone"])],
    confirm: APPROVED,
    ...more
  })

export const publications = Effect.fnUntraced(function* (principal: Principal, via: object = IN_PERSON) {
  const changes = yield* Changes
  const provide = Effect.provideService(CurrentPrincipal, principal)
  const by = { ...IN_PERSON, ...via }
  return {
    principal,
    propose: (text: string, replaces: number) => provide(changes.proposePolicy({ text, replaces, via: by })),
    preview: (changeId: string) => provide(changes.preview(changeId, by)),
    file: (changeId: string) => provide(changes.policyFile(changeId, by)),
    approve: (changeId: string, digest: string) => provide(changes.confirm({ changeId, digest, via: by })),
    reject: (changeId: string) => provide(changes.reject(changeId, by)),
    withdraw: (changeId: string) => provide(changes.withdraw(changeId, by)),
    undo: (changeId: string) => provide(changes.undo(changeId, by)),
    again: (changeId: string) => provide(changes.again(changeId, by)),
    list: (which: "mine" | "me") => provide(changes.list({ which }))
  }
})

export const governing = Effect.fnUntraced(function* (slug: string) {
  const organization = yield* makeOrganization(slug)
  const policies = yield* Policies
  const { version } = yield* policies.publish(organization, policyFile(), "test")
  const member = Effect.fnUntraced(function* (name: string, ...roles: ReadonlyArray<string>) {
    const one = yield* person(organization, `${name}@${slug}.example`, ...roles)
    return { ...one, ...(yield* publications(one.principal)) }
  })
  return {
    organization,
    /** The version in force at first. */
    version,
    ada: yield* member("ada", "admin"),
    bo: yield* member("bo", "admin"),
    member,
    inForce: policies.current(organization),
    publish: (text: string) => policies.publish(organization, text, "operator", { withoutApproval: true }),
    events: eventsOf(organization)
  }
})

/** The audit events of changes, the newest first. */
const eventsOf = (organization: Organization) =>
  Effect.flatMap(AuditLog, (log) => log.list(organization, { chain: "changes", limit: 100 }))
