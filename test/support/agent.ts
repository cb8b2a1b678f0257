/** Conversations with Max through the real SDK, a scripted model server and a real database. */
import { Effect, Layer, Redacted, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MaxAgent, type TurnInput } from "../../src/agents/MaxAgent.ts"
import { anthropicStep } from "../../src/agents/providers/AnthropicStep.ts"
import type { TurnEvent } from "../../src/wire/TurnEvent.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { Importer } from "../../src/services/import/Importer.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { addPeople, asMember, makeOrganization } from "./atlas.ts"
import { migratedDatabase } from "./database.ts"
import type { MessagesServer } from "./messages.ts"

type Settings = Parameters<typeof Env.layerWith>[0]

/** All services over a database, and an agent whose model is the scripted server. */
export const agentOver = (server: MessagesServer, url: string, settings: Settings = {}, retries = 2) =>
  MaxAgent.layer.pipe(
    Layer.provideMerge(
      anthropicStep({ key: Redacted.make("sk-test"), model: "claude-haiku-5-5", url: server.url, retries })
    ),
    Layer.provideMerge(ToolHandlers),
    Layer.provideMerge(Services),
    Layer.provideMerge(ConfiguredDatabase),
    Layer.provideMerge(
      Env.layerWith({
        databaseUrl: Redacted.make(url),
        lookupTimeout: 10_000,
        searchTimeout: 30_000,
        turnSeconds: 30,
        ...settings
      })
    ),
    Layer.orDie
  )

/** The same over a new database. */
export const agentFor = (server: MessagesServer, settings: Settings = {}) =>
  Layer.unwrap(Effect.map(migratedDatabase, (url) => agentOver(server, url, settings)))

/** Collects the events of one turn. */
export const turn = (input: TurnInput) =>
  Effect.flatMap(MaxAgent, (agent) => Effect.map(Stream.runCollect(agent.turn(input)), (events) => [...events]))

/** Runs a turn as the person with this e-mail address. */
export const say = (organization: Organization, email: string, text: string, session?: string) =>
  Effect.map(turn({ organization, who: { kind: "email", key: email }, session, say: { text } }), heard)

export interface Heard {
  readonly events: ReadonlyArray<TurnEvent>
  /** The text shown at the end. */
  readonly shown: string
  /** All text shown at any time, including retracted text. */
  readonly everShown: string
  readonly done: Extract<TurnEvent, { _tag: "done" }> | undefined
  readonly error: Extract<TurnEvent, { _tag: "error" }> | undefined
}

export const heard = (events: ReadonlyArray<TurnEvent>): Heard => {
  let shown = ""
  let everShown = ""
  for (const event of events) {
    if (event._tag === "delta") {
      shown += event.text
      everShown += event.text
    }
    if (event._tag === "retract") shown = ""
  }
  const last = events.at(-1)
  return {
    events,
    shown,
    everShown,
    done: last?._tag === "done" ? last : undefined,
    error: last?._tag === "error" ? last : undefined
  }
}

export const ADMIN = "admin@atlas.example"
export const MEMBER = "member@atlas.example"

/** An organization with an admin and a member, three people of whom two share a name, and notes that only admins see. */
export const company = Effect.gen(function* () {
  const organization = yield* makeOrganization(`atlas-${randomBytes(4).toString("hex")}`)
  const ids = yield* addPeople(organization, [
    { name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142", email: "ada@analytical.example" },
    { name: "Ada Byron", status: "Lead", phone: "+1 512-555-0143" },
    { name: "Ada Byron", status: "Lost", phone: "+1 512-555-0144" }
  ])
  yield* asMember(organization, ADMIN, "admin")
  yield* asMember(organization, MEMBER, "member")
  const folder = mkdtempSync(join(tmpdir(), "max-agent-test-"))
  const file = join(folder, "notes.jsonl")
  writeFileSync(file, JSON.stringify({ name: "Contract", text: "Signed in Porto" }))
  const importer = yield* Importer
  yield* importer.import(organization, { files: [file], type: "notes", create: true, map: {}, ignore: [] })
  rmSync(folder, { recursive: true })
  return { organization, ids }
})

type Rules = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Publishes the current policy with changed rules. */
export const publish = Effect.fnUntraced(function* (organization: Organization, change: (rules: Rules) => Rules) {
  const policies = yield* Policies
  const policy = JSON.parse((yield* policies.current(organization)).document) as { readonly rules: Rules }
  yield* policies.publish(organization, JSON.stringify({ ...policy, rules: change(policy.rules) }), "test")
})
