/** Conversations with Max in basic mode on a real database, without a model. */
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BasicStep } from "../../src/agents/basic/BasicStep.ts"
import { MaxAgent } from "../../src/agents/MaxAgent.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Importer, type ImportRequest } from "../../src/services/import/Importer.ts"
import { ExternalIds } from "../../src/services/operations/ExternalIds.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { say } from "./agent.ts"
import { asMember } from "./atlas.ts"
import { TestServices } from "./database.ts"

export const BasicAgent = MaxAgent.layer.pipe(
  Layer.provideMerge(BasicStep),
  Layer.provideMerge(ToolHandlers),
  Layer.provideMerge(TestServices),
  Layer.orDie
)

export const ADMIN = "admin@atlas.example"

/** Imports rows as a file of a type. */
export const load = Effect.fnUntraced(function* (
  organization: Organization,
  type: string,
  rows: ReadonlyArray<object>,
  request: Partial<ImportRequest> = {}
) {
  const importer = yield* Importer
  const folder = mkdtempSync(join(tmpdir(), "max-basic-"))
  const file = join(folder, `${type}.jsonl`)
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"))
  return yield* importer
    .import(organization, { files: [file], type, create: true, ...request })
    .pipe(Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true }))))
})

/** Publishes a policy whose admin sees everything of these types, and adds that admin. */
export const openTo = Effect.fnUntraced(function* (organization: Organization, ...types: ReadonlyArray<string>) {
  const policies = yield* Policies
  const rules = types.map((type) => ({ id: type, effect: "allow", role: "admin", action: "read", type, columns: "*" }))
  const roles = { admin: { inherits: [] } }
  yield* policies.publish(organization, JSON.stringify({ version: 1, roles, rules }), "test")
  const members = yield* Memberships
  if ((yield* members.list(organization)).length === 0) yield* asMember(organization, ADMIN, "admin")
})

/** Asks as a member; returns the reply and its session. */
export const hear = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  text: string,
  session?: string
) {
  const { done, error } = yield* say(organization, email, text, session)
  return { text: done?.text ?? error?.message ?? "", session: done?.session }
})

/** Says the messages of one conversation; returns the text of the last reply. */
export const converse = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  turns: ReadonlyArray<string>
) {
  let session: string | undefined
  let text = ""
  for (const turn of turns) ({ session, text } = yield* hear(organization, email, turn, session))
  return text
})

/** Asks as the admin; returns the reply and the external ids of the entities that it presents. */
export const ask = Effect.fnUntraced(function* (organization: Organization, text: string, session?: string) {
  const { done, error, events } = yield* say(organization, ADMIN, text, session)
  const externalIds = yield* ExternalIds
  const about: Array<string> = []
  for (const { id, type } of done?.references ?? []) {
    const externalIdOf = yield* externalIds.of(organization, type, [id])
    about.push(externalIdOf.get(id) ?? id)
  }
  return {
    text: done?.text ?? error?.message ?? "",
    error,
    about,
    session: done?.session,
    steps: done?.usage.steps ?? 0,
    events
  }
})
