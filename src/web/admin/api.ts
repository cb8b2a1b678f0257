/** What the server tells somebody who administers, and how this page asks for it. */
import { get, Problem, request } from "../shared/api.ts"

export interface Session {
  readonly organization: string
  readonly roles: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string>
}

export interface Person {
  readonly id: string
  readonly name: string
  readonly identifiers: ReadonlyArray<{ readonly kind: "email" | "phone" | "subject"; readonly text: string }>
  readonly roles: ReadonlyArray<string>
  readonly state: "active" | "suspended"
  readonly isSelf: boolean
  readonly tokens: number
  readonly memberSince: string
  readonly suspendedSince?: string
  readonly lastCall?: string
}

export interface Token {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly createdAt: string
  readonly expiresAt: string
  readonly state: "active" | "revoked" | "expired"
}

export interface PersonWithTokens extends Person {
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly held: ReadonlyArray<Token>
}

export interface People {
  readonly people: ReadonlyArray<Person>
  readonly total: number
  readonly next?: string
}

export type Extent = "all" | "some" | "none"

export interface Role {
  readonly role: string
  readonly inherits: ReadonlyArray<string>
  readonly administers: boolean
  readonly members: number
  readonly rules: ReadonlyArray<{ readonly id: string; readonly effect: "allow" | "deny"; readonly words: string }>
  readonly reach: ReadonlyArray<{
    readonly type: string
    readonly typeName: string
    readonly rows: Extent
    readonly columns: ReadonlyArray<{ readonly column: string; readonly name: string; readonly extent: Extent }>
  }>
}

export interface Policy {
  readonly version: number
  readonly roles: ReadonlyArray<Role>
}

export interface Version {
  readonly version: number
  readonly author: string
  readonly authorName?: string
  readonly publishedAt: string
  readonly sha256: string
  readonly rules: number
  readonly inForce: boolean
}

export interface Change {
  readonly mark: "+" | "-" | "~"
  readonly what: string
}

export interface Explanation {
  readonly who: string
  readonly roles: ReadonlyArray<string>
  readonly type: string
  readonly total: number
  readonly visible: number
  readonly denied?: string
  readonly rules: ReadonlyArray<{
    readonly id: string
    readonly role: string
    readonly effect: "allow" | "deny"
    readonly words: string
    readonly rows: number
  }>
  readonly notInForce: ReadonlyArray<string>
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number; readonly because: string }>
}

/** A type of which nothing is explained, and why. */
export interface Refused {
  readonly type: string
  readonly refused: string
}

export type Truth = "yes" | "no" | "unknown"

export interface RowExplanation {
  readonly who: string
  readonly roles: ReadonlyArray<string>
  readonly type: string
  readonly entityId: string
  readonly name: string
  readonly visible: boolean
  readonly because: string
  readonly rules: ReadonlyArray<{
    readonly id: string
    readonly role: string
    readonly effect: "allow" | "deny"
    readonly words: string
    readonly truth: Truth
    readonly hides?: string
    readonly conditions: ReadonlyArray<{ readonly depth: number; readonly words: string; readonly truth: Truth }>
  }>
  readonly columns: ReadonlyArray<{
    readonly column: string
    readonly value?: string
    readonly visible: boolean
    readonly because: string
  }>
}

export type Chain = "changes" | "reads"

export interface AuditRecord {
  readonly sequence: number
  readonly at: string
  readonly actor: string
  readonly actorName?: string
  readonly action: string
  readonly subject: string
  readonly subjectName?: string
  readonly personName?: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditQuery {
  readonly chain: Chain
  readonly action: string
  readonly who: string
  readonly since: string
}

export interface Verification {
  readonly chain: Chain
  readonly records: number
  readonly head?: string
  readonly broken?: number
}

export interface Text {
  readonly at: string
  readonly direction: "in" | "out"
  readonly number: string
  readonly line: string
  readonly person?: { readonly id: string; readonly name: string }
  readonly state: string
  readonly kind?: string
  readonly segments?: number
  readonly error?: string
}

export interface Texts {
  readonly lines: ReadonlyArray<{ readonly number: string; readonly provider: string }>
  readonly openRole?: string
  readonly texts: ReadonlyArray<Text>
  readonly next?: string
}

/** A member by entity id, or anybody by e-mail address or phone number. */
export type About = { readonly id: string } | { readonly identifier: string }

const ask = async <A>(path: string, body: unknown): Promise<A> =>
  (await request("POST", `/v1/admin/${path}`, body)).json() as Promise<A>

const tell = async (method: string, path: string): Promise<void> => void (await request(method, `/v1/admin/${path}`))

export const session = () => get<Session>("/v1/session")

export const people = (query: {
  readonly search: string
  readonly role: string
  readonly state: string
  readonly after?: string | undefined
  readonly limit?: number
}) => {
  const { after, limit, role, search, state } = query
  return ask<People>("people/search", {
    search,
    ...(role === "" ? {} : { role }),
    ...(state === "" ? {} : { state }),
    ...(after === undefined ? {} : { after }),
    ...(limit === undefined ? {} : { limit })
  })
}

export const person = (id: string) => get<PersonWithTokens>(`/v1/admin/people/${encodeURIComponent(id)}`)
export const suspend = (id: string) => tell("POST", `people/${encodeURIComponent(id)}/suspend`)
export const resume = (id: string) => tell("POST", `people/${encodeURIComponent(id)}/resume`)
export const revoke = (id: string) => tell("DELETE", `tokens/${encodeURIComponent(id)}`)

export const policy = () => get<Policy>("/v1/admin/policy")
export const versions = async () =>
  (await get<{ readonly versions: ReadonlyArray<Version> }>("/v1/admin/policy/versions")).versions
export const changes = async (from: number, to: number) =>
  (await get<{ readonly changes: ReadonlyArray<Change> }>(`/v1/admin/policy/changes/${from}/${to}`)).changes
export const types = async () =>
  (await get<{ readonly types: ReadonlyArray<{ readonly id: string; readonly name: string }> }>("/v1/admin/types"))
    .types

export const explain = async (about: About, type: string) =>
  (await ask<{ readonly explanations: readonly [Explanation] }>("explain", { ...about, type })).explanations[0]
/** Of every type. */
export const explainAll = async (about: About) =>
  (await ask<{ readonly explanations: ReadonlyArray<Explanation | Refused> }>("explain", about)).explanations
export const explainRow = (about: About, type: string, row: string) =>
  ask<RowExplanation>("explain/row", { ...about, type, row })

export const audit = ({ action, chain, since, who }: AuditQuery, before?: number) => {
  const query = new URLSearchParams({ chain })
  for (const [name, value] of Object.entries({ action, who, since })) if (value !== "") query.set(name, value)
  if (before !== undefined) query.set("before", String(before))
  return get<{ readonly records: ReadonlyArray<AuditRecord>; readonly next?: number }>(`/v1/admin/audit?${query}`)
}
export const verify = async () =>
  (await get<{ readonly chains: ReadonlyArray<Verification> }>("/v1/admin/audit/verification")).chains

export const texts = (before?: string) =>
  get<Texts>(`/v1/admin/texts${before === undefined ? "" : `?${new URLSearchParams({ before })}`}`)

const ENDS = /(^|:)(not-authenticated|not-admitted|not-in-scope)$/

/** Whether a failure means that this person may not be here (any more), whatever was asked. */
export const endsSession = (error: unknown): error is Problem => error instanceof Problem && ENDS.test(error.name)
