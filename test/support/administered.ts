/** An organization for administration tests: members of several roles, tokens, and a policy with two versions. */
import { Effect } from "effect"
import type { PolicyDocument } from "../../src/permissions/policyDocument.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { addPeople, makeOrganization } from "./atlas.ts"
import { memberWithToken } from "./members.ts"

export interface Administered {
  readonly slug: string
  /** Inserted into every text of the organization; no other organization may ever see it. */
  readonly canary?: string
  /** A member's name that contains hostile markup. */
  readonly hostile?: string
}

/** The second policy version: it adds two roles, a rule with a condition and a rule that denies. */
const secondPolicy = ({ roles, rules, ...rest }: PolicyDocument, canary: string): PolicyDocument => ({
  ...rest,
  roles: { ...roles, manager: { inherits: ["member"] }, auditor: { inherits: [], administers: true } },
  rules: [
    ...rules,
    {
      id: `vip-${canary || "hidden"}`,
      effect: "deny",
      role: "member",
      action: "read",
      type: "people",
      columns: ["phone"],
      where: { status: `vip${canary}` }
    },
    {
      id: "auditor-people",
      effect: "allow",
      role: "auditor",
      action: "read",
      type: "people",
      columns: ["name"],
      where: { not: { status: `vip${canary}` } }
    }
  ]
})

export const administered = Effect.fnUntraced(function* ({ canary = "", hostile, slug }: Administered) {
  const organization = yield* makeOrganization(slug)
  const members = yield* Memberships
  const policies = yield* Policies
  const credentials = yield* Credentials
  const host = `${canary || slug}.example`
  const people = [
    { name: `Yuki Tanaka ${canary}`.trim(), email: `yuki@${host}`, role: "admin" },
    { name: `Lena Brandt ${canary}`.trim(), email: `lena@${host}`, phone: "801-555-0103", role: "member" },
    { name: hostile ?? "Théo Mercier", email: `theo@${host}`, role: "member" },
    { name: "Priya Raman", email: `priya@${host}`, role: "member" },
    { name: "Jonas Weber", email: `jonas@${host}`, role: "member" },
    { name: "Amina Osei", email: `amina@${host}`, role: "member" }
  ]
  yield* addPeople(organization, people)
  const [owner, open] = yield* addPeople(organization, [
    { name: "Otto Vip", status: `vip${canary}`, phone: "801-555-0107" },
    { name: "Olga Offen", status: "regular", phone: "801-555-0108" }
  ])
  for (const { email, role } of people) yield* members.add(organization, { identifier: email, roles: [role] })
  const { document } = yield* policies.current(organization)
  yield* policies.publish(
    organization,
    JSON.stringify(secondPolicy(JSON.parse(document) as PolicyDocument, canary)),
    "operator"
  )
  yield* members.add(organization, { identifier: `priya@${host}`, roles: ["manager"] })
  yield* members.add(organization, { identifier: `amina@${host}`, roles: ["auditor"] })
  yield* members.suspend(organization, `jonas@${host}`)
  const listed = yield* members.list(organization)
  const idOf = (name: string) => listed.find((one) => one.identifiers.includes(`${name}@${host}`))!.anchorId
  const token = (name: string, what: string, scopes: Parameters<typeof memberWithToken>[3]) =>
    credentials.createToken(organization, { anchorId: idOf(name), name: what, scopes: scopes!, days: 90 })
  const admin = yield* token("yuki", `console ${canary}`.trim(), ["admin", "tools"])
  const lena = yield* token("lena", `nightly report ${canary}`.trim(), ["tools", "admin"])
  const auditor = yield* token("amina", "audit", ["admin"])
  const session = (name: string) =>
    Effect.gen(function* () {
      const link = yield* credentials.createLink(organization, idOf(name))
      return (yield* credentials.redeemLink(link.secret, 3600)).secret
    })
  return { organization, host, idOf, owner: owner!, open: open!, admin, lena, auditor, session }
})
