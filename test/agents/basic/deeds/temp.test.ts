import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { describe } from "vitest"
import { CurrentPrincipal } from "../../../../src/domain/Principal.ts"
import { draftDeed } from "../../../../src/agents/basic/deeds/draftDeed.ts"
import { readRequest } from "../../../../src/agents/basic/deeds/readRequest.ts"
import { replay } from "../../../../src/agents/basic/script.ts"
import { Importer } from "../../../../src/services/import/Importer.ts"
import { Changes } from "../../../../src/services/changes/Changes.ts"
import { ExternalIds } from "../../../../src/services/operations/ExternalIds.ts"
import { Policies } from "../../../../src/services/policies/Policies.ts"
import { IdentityResolver } from "../../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../../src/services/members/Memberships.ts"
import { callTool } from "../../../../src/tools/call.ts"
import { makeOrganization } from "../../../support/atlas.ts"
import { BasicAgent } from "../../../support/basic.ts"
import { fixture } from "../../../support/fixtures.ts"

const setting = Effect.gen(function* () {
  const organization = yield* makeOrganization(`wb-${Math.random().toString(36).slice(2)}`)
  const importer = yield* Importer
  const file = (name: string) => fixture("workbench", name)
  yield* importer.import(organization, { files: [file("seed_companies_workbench.jsonl")], type: "companies", ignore: ["people"] })
  for (const name of ["seed_people_workbench_staff.jsonl", "seed_people_changes.jsonl"])
    yield* importer.import(organization, { type: "people", create: true, files: [file(name)], ignore: ["company"] })
  yield* importer.import(organization, { type: "people", create: true, files: [file("seed_people_workbench_customers.jsonl")], map: { owner: "owner:people.email", company: "company:companies.name" } })
  yield* importer.import(organization, { files: [file("seed_meetings_changes.jsonl")], type: "meetings", create: true, map: { attendees: "attendees:people.email", owner: "owner:people.email" } })
  yield* importer.import(organization, { files: [file("tasks.jsonl")], type: "tasks", create: true, map: { assigned_to: "assigned_to:people.email" } })
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify({ version: 1, roles: { admin: { inherits: [] } }, rules: ["people", "companies", "meetings", "tasks"].flatMap((type) => ["read", "create", "update", "delete"].map((action) => ({ id: `${action}-${type}`, effect: "allow", role: "admin", action, type, columns: "*", where: {} }))) }), "test")
  const members = yield* Memberships
  yield* members.add(organization, { identifier: "sam@atlas.com", roles: ["admin"] })
  return organization
})

describe("x", () => {
  layer(BasicAgent as never as Layer.Layer<any>, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect("scores", () => Effect.gen(function* () {
      const organization = yield* setting
      const identities = yield* IdentityResolver
      const changes = yield* Changes
      const externalIds = yield* ExternalIds
      const { principal } = yield* identities.admit(organization, { kind: "email", key: "sam@atlas.com" })
      const as = Effect.provideService(CurrentPrincipal, principal)
      const types: Array<any> = []
      const listed: any = yield* as(callTool("listEntityTypes", {}))
      for (const t of listed.value.entityTypes) types.push({ id: t.id, name: t.name, plural: t.pluralName })
      types.sort((a, b) => Number(b.id === "people") - Number(a.id === "people"))
      const context: any = { today: "2023-11-30", time: "00:00", timeZone: "America/New_York", person: { name: "Sam Reyes" }, types }
      const fake: any = Effect.fnUntraced(function* (call: any) {
        if (call.name !== "requestAction") return yield* as(callTool(call.name, call.input))
        const open = yield* as(changes.actions)
        const action = open.find((a) => a.action.slug === call.input.actionId)
        if (action === undefined) return { text: "no such action" }
        return { text: "takes", value: { fields: action.action.fields.filter((f) => action.columns.includes(f.key)).map((f) => ({ id: f.slug, name: f.name, kind: f.kind, values: f.values })) } }
      })
      const run: any = Effect.fnUntraced(function* (text: string) {
        const request = readRequest(text, context)
        if (request.deeds.length === 0) return { reply: "unread", steps: 0 }
        const rounds: Array<any> = []
        for (let step = 1; ; step++) {
          const turn = replay(draftDeed(request, context), rounds)
          if (turn._tag === "Reply") return { reply: turn.text, steps: step }
          const draft: any = turn.calls.find((c: any) => c.name === "requestAction" && (c.input.values !== undefined || c.input.entityIds !== undefined))
          if (draft !== undefined) return { draft: draft.input, steps: step + 1 }
          const round = []
          for (const call of turn.calls) round.push(yield* fake(call))
          rounds.push(round)
        }
      })
      const external: any = Effect.fnUntraced(function* (type: string, ids: ReadonlyArray<string>) {
        const map = yield* externalIds.of(organization, type, ids)
        return ids.map((id) => map.get(id) ?? id)
      })
      const files = (process.env["CASES"] ?? "").split(",")
      for (const name of files) {
        const lines = readFileSync(name, "utf8").split("\n").filter((l) => l !== "")
        let exact = 0, wrong = 0, nothing = 0, max = 0
        for (const line of lines) {
          const one = line.startsWith("{") ? JSON.parse(line) : { do: line, expect: [] }
          const got: any = yield* run(one.do); if (got.steps > 6) console.log("STEPS", got.steps, one.do)
          max = Math.max(max, got.steps)
          if (got.draft === undefined) {
            nothing++
            if (one.expect.length > 0 || process.env["SAY"]) console.log("NOTHING", one.do, "\n    ", got.reply)
            continue
          }
          const [type] = got.draft.actionId.split(".")
          const ids = got.draft.entityIds ? yield* external(type, got.draft.entityIds) : []
          const values: any = {}
          for (const v of got.draft.values ?? []) {
            const at = v.indexOf("=")
            const [c, text] = [v.slice(0, at), v.slice(at + 1)]
            values[c] = /^(owner|attendees|assigned_to)$/.test(c) ? (yield* external("people", text.split(";"))).join(";") : text
          }
          const sorted = (v: any) => JSON.stringify(Object.entries(v ?? {}).map(([k, x]) => [k, Array.isArray(x) ? x.join(";") : x]).sort())
          const e = one.expect[0]
          if (e && e.action === got.draft.actionId && (e.id ?? "") === (ids[0] ?? "") && sorted(e.values) === sorted(values)) exact++
          else { wrong++; console.log("WRONG", one.do, "\n    ", got.draft.actionId, ids, JSON.stringify(values), "\n    ", JSON.stringify(e)) }
        }
        console.log(`${name}: exact ${exact} nothing ${nothing} wrong ${wrong} of ${lines.length}; most steps ${max}`)
      }
    }) as any, 300_000)
  })
})
