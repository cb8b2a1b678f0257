/** A sales company with a calendar and tasks, and requests to change it in basic mode, as far as the draft. */
import { Effect } from "effect"
import { draftDeed } from "../../src/agents/basic/deeds/draftDeed.ts"
import { readRequest } from "../../src/agents/basic/deeds/readRequest.ts"
import type { Context } from "../../src/agents/basic/readConversation.ts"
import { newRoom, withinLimits } from "../../src/agents/toolCalls.ts"
import { type Answer, replay, type Script } from "../../src/agents/basic/script.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import type { ListedType } from "../../src/domain/Page.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { Importer } from "../../src/services/import/Importer.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { ExternalIds } from "../../src/services/operations/ExternalIds.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { callTool } from "../../src/tools/call.ts"
import { makeOrganization } from "./atlas.ts"
import { fixture } from "./fixtures.ts"
import { join } from "node:path"

const deeds = join(import.meta.dirname, "..", "agents", "basic", "deeds")
const SAM = "sam@atlas.com"
/** The columns that lead to people. */
const PEOPLE = new Set(["owner", "assigned_to", "assignee", "attendees", "agent", "buyer", "recruiter"])
const TYPES = ["people", "companies", "meetings", "tasks"]

const loading = Effect.fnUntraced(function* (name: string) {
  const organization = yield* makeOrganization(`${name}-${Math.random().toString(36).slice(2)}`)
  const importer = yield* Importer
  const load = (type: string, file: string, map: Readonly<Record<string, string>> = {}, ...ignore: Array<string>) =>
    importer.import(organization, { files: [file.startsWith("/") ? file : fixture("workbench", file)], type, create: true, map, ignore }) // prettier-ignore
  return { organization, load }
})

/** A team with a type of its own: tasks with a status, an assignee, a due date, a project and a priority. */
export const taskTeam = Effect.gen(function* () {
  const { load, organization } = yield* loading("team")
  yield* load("people", "seed_people_workbench_staff.jsonl", {}, "company")
  yield* load("people", "seed_people_changes.jsonl", {}, "company")
  yield* load("tasks", join(deeds, "tasks.jsonl"), { assignee: "assignee:people.email" })
  yield* open(organization, ["people", "tasks"])
  return organization
})

/** A help desk that buys and hires: types and columns of its own, which no rule was written for. */
export const helpDesk = Effect.gen(function* () {
  const { load, organization } = yield* loading("desk")
  yield* load("people", "seed_people_workbench_staff.jsonl", {}, "company")
  yield* load("people", "seed_people_changes.jsonl", {}, "company")
  const types = { tickets: "agent", orders: "buyer", candidates: "recruiter" }
  for (const [type, person] of Object.entries(types)) {
    const file = `desk${type[0]!.toUpperCase()}${type.slice(1)}.jsonl`
    yield* load(type, join(deeds, file), { [person]: `${person}:people.email` })
  }
  yield* open(organization, ["people", ...Object.keys(types)])
  return organization
})

/** The organization of the cases, in which Sam may change everything. */
export const salesCompany = Effect.gen(function* () {
  const { load, organization } = yield* loading("sales")
  yield* load("companies", "seed_companies_workbench.jsonl", {}, "people")
  yield* load("people", "seed_people_workbench_staff.jsonl", {}, "company")
  yield* load("people", "seed_people_changes.jsonl", {}, "company")
  const customers = { owner: "owner:people.email", company: "company:companies.name" }
  yield* load("people", "seed_people_workbench_customers.jsonl", customers)
  const meetings = { attendees: "attendees:people.email", owner: "owner:people.email" }
  yield* load("meetings", "seed_meetings_changes.jsonl", meetings)
  yield* load("tasks", "tasks.jsonl", { assigned_to: "assigned_to:people.email" })
  yield* open(organization, TYPES)
  return organization
})

/** Lets Sam change everything of these types. */
const open = Effect.fnUntraced(function* (organization: Organization, types: ReadonlyArray<string>) {
  const rules = types.flatMap((type) =>
    ["read", "create", "update", "delete"].map((action) => ({
      id: `${action}-${type}`,
      effect: "allow",
      role: "admin",
      action,
      type,
      columns: "*",
      where: {}
    }))
  )
  const policies = yield* Policies
  yield* policies.publish(
    organization,
    JSON.stringify({ version: 1, roles: { admin: { inherits: [] } }, rules }),
    "test"
  )
  const members = yield* Memberships
  yield* members.add(organization, { identifier: SAM, roles: ["admin"] })
})

/** A write, with external ids. */
export interface Write {
  readonly action: string
  readonly id?: string
  readonly values?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** All of its rows, where there are several. */
  readonly ids?: ReadonlyArray<string>
}

/** What a request comes to: the call that drafts a change, or a reply. */
interface Outcome {
  readonly write?: Write
  readonly reply: string
  /** Steps of the turn, the reply included. */
  readonly steps: number
  /** All writes, where one change has several calls. */
  readonly writes?: ReadonlyArray<Write>
}

/** Says requests as Sam on November 30, 2023. */
export const saying = Effect.fnUntraced(function* (organization: Organization) {
  const identities = yield* IdentityResolver
  const changes = yield* Changes
  const externalIds = yield* ExternalIds
  const { principal } = yield* identities.admit(organization, { kind: "email", key: SAM })
  const as = Effect.provideService(CurrentPrincipal, principal)
  const listed = (yield* as(callTool("listEntityTypes", {}))).value as {
    readonly entityTypes: ReadonlyArray<ListedType>
  }
  const context: Context = {
    today: "2023-11-30",
    time: "00:00",
    timeZone: "America/New_York",
    person: { name: "Sam Reyes" },
    types: listed.entityTypes.map(({ id, name, pluralName }) => ({ id, name, plural: pluralName }))
  }
  const externalOf = Effect.fnUntraced(function* (type: string, ids: ReadonlyArray<string>) {
    const known = yield* externalIds.of(organization, type, ids)
    return ids.map((id) => known.get(id) ?? id)
  })
  /** What an action takes. */
  const described = Effect.fnUntraced(function* (actionId: string) {
    const open = (yield* as(changes.actions)).find(({ action }) => action.slug === actionId)
    if (open === undefined) return { text: "needs: There is no such action." } satisfies Answer
    const fields = open.type === undefined ? [] : open.action.fields.filter(({ key }) => open.columns.includes(key))
    const lines = fields.map(({ kind, name, slug, values }) =>
      [slug, name, kind, ...(values ?? []).slice(0, 1)].join("\t")
    )
    return { text: ["takes values", ...lines].join("\n"), value: {} } satisfies Answer
  })
  return Effect.fnUntraced(function* (text: string) {
    const request = readRequest(text, context)
    const rounds: Array<ReadonlyArray<Answer>> = []
    const room = newRoom()
    const writes: Array<Write> = []
    for (let steps = 1; ; steps++) {
      const turn = replay(orUnread(draftDeed(request, context)), rounds)
      if (turn._tag === "Reply") {
        const [write] = writes
        return { reply: turn.text, steps, ...(write && { write, writes }) } as Outcome
      }
      const round: Array<Answer> = []
      for (const { input, name } of turn.calls) {
        const { actionId, entityIds, values } = input as { readonly actionId: string; readonly entityIds?: ReadonlyArray<string>; readonly values?: ReadonlyArray<string> } // prettier-ignore
        if (name !== "requestAction") round.push(withinLimits(room, yield* as(callTool(name, input))))
        else if (entityIds === undefined && values === undefined) round.push(yield* described(actionId))
        else {
          const type = actionId.split(".")[0]!
          const cells: Array<[string, string | ReadonlyArray<string>]> = []
          for (const value of values ?? []) {
            const [slug, cell] = [value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1)]
            const isPerson = PEOPLE.has(slug)
            const people = isPerson ? yield* externalOf("people", cell.split(";")) : undefined
            cells.push([slug, people === undefined ? cell : slug === "attendees" ? people : people.join()])
          }
          const ids = yield* externalOf(type, entityIds ?? [])
          const [id] = ids
          writes.push({
            action: actionId,
            ...(id && { id }),
            ...(ids.length > 1 && { ids: [...ids].sort() }),
            ...(cells.length > 0 && { values: Object.fromEntries(cells) })
          })
          round.push({ text: "draft", value: { steps: entityIds ?? [] } })
        }
      }
      rounds.push(round)
    }
  })
})

function* orUnread(script: Script<string | undefined>): Script<string> {
  return (yield* script) ?? "not read"
}

const normal = ({ action, id, ids, values = {} }: Write): string =>
  JSON.stringify([action, ids ?? [id], Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))])

/** Whether the writes of a change are those that were expected, in any order. */
export const isExpected = (expected: ReadonlyArray<Write>, found: ReadonlyArray<Write>): boolean =>
  expected.map(normal).sort().join() === found.map(normal).sort().join()
