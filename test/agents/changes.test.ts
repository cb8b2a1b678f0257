/** Changes that a conversation drafts, with a scripted model, a real database and the real SDK. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { SYSTEM_PROMPT } from "../../src/tools/prompt.ts"
import { toolDefinitions } from "../../src/tools/definitions.ts"
import { ADMIN, agentFor, company, heard, MEMBER, turn } from "../support/agent.ts"
import { calls, contextIn, finds, inTurn, resultsIn, says, startMessages, type Reply } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())

const VIA = { channel: "test" }

/** Runs a turn on a channel that lets it change something. */
const ask = (organization: Organization, text: string, session?: string, email = ADMIN) =>
  Effect.map(
    turn({
      organization,
      who: { kind: "email", key: email },
      session,
      say: { text },
      changes: { via: VIA, confirms: true }
    }),
    heard
  )

const draftsIn = ({ events }: ReturnType<typeof heard>) =>
  events.flatMap((event) => (event._tag === "draft" ? [event.draft] : []))

/** The changes service as the administrator. */
const asAdmin = Effect.fnUntraced(function* (organization: Organization) {
  const changes = yield* Changes
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(organization, { kind: "email", key: ADMIN })
  return { changes, as: Effect.provideService(CurrentPrincipal, principal) }
})

/** The context of a request to the model. */
const dataIn = (index: number) =>
  contextIn(server.requests[index]!.body) as { readonly can?: unknown; readonly drafts?: unknown }

const statesOf = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  const rows = yield* owner<{ state: string }>`
    SELECT state FROM max.changes WHERE organization_id = ${organization.id} ORDER BY created_at`
  return rows.map(({ state }) => state)
})

const request = (actionId: string, entityIds: ReadonlyArray<string>, ...values: ReadonlyArray<string>): Reply =>
  calls(["requestAction", { actionId, ...(entityIds.length === 0 ? {} : { entityIds }), values }])

/** A lookup by what the person says. */
const lookUp = (name = "Ada") => finds("people", [["name", "ilike", name]])

layer(agentFor(server), { excludeTestServices: true })("changes in a conversation", (it) => {
  it.effect("drafts a change that opens with its turn, and code says that it waits", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(
        inTurn(
          finds("people", [["name", "eq", "Ada Lovelace"]]),
          request("people.update", [ids[0]!], "status=Won"),
          says("Ada Lovelace would become Won.")
        )
      )
      const first = yield* ask(organization, "set the status of Ada Lovelace to Won")
      expect(first.done?.text).toBe(
        "Ada Lovelace would become Won.\n\nNothing has changed yet: this waits for your confirmation."
      )
      expect(first.shown).toBe(first.done?.text)
      const [draft] = draftsIn(first)
      expect(first.done?.drafts).toEqual([draft])
      expect(draft).toMatchObject({
        state: "open",
        level: "once",
        rows: 1,
        complete: true,
        steps: [
          {
            actionId: "people.update",
            entityId: ids[0],
            displayName: "Ada Lovelace",
            cells: [{ columnId: "status", was: "Customer", becomes: "Won" }]
          }
        ]
      })
      expect(draft!.seconds).toBe(300)
      const { as, changes } = yield* asAdmin(organization)
      const kept = yield* as(changes.preview(draft!.changeId, VIA))
      expect(kept.digest).toBe(draft!.digest)
      const confirmed = yield* as(changes.confirm({ changeId: draft!.changeId, digest: draft!.digest!, via: VIA }))
      expect(confirmed._tag).toBe("Applied")
      const tokens = server.requests.map(
        ({ body }) => encode(JSON.stringify([body.system, body.tools, body.messages])).length
      )
      console.log(`a change: ${tokens.join(" + ")} o200k tokens in`)
      expect(tokens.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(5000)
      expect(server.requests.every(({ rejected }) => rejected === undefined)).toBe(true)
      expect(encode(JSON.stringify(dataIn(0).can)).length).toBeLessThanOrEqual(40)

      server.reset(inTurn(says("Welcome.")))
      yield* ask(organization, "thanks", first.done!.session)
      expect(dataIn(0).drafts).toEqual(["applied: people.update, 1 row"])
    })
  )

  it.effect("puts all drafts of one answer into one change, in the order of the calls", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(
        inTurn(
          lookUp(),
          calls(
            ["requestAction", { actionId: "people.update", entityIds: [ids[1]], values: ["status=Lost"] }],
            ["requestAction", { actionId: "people.create", values: ["name=Grace Hopper", "status=Lead"] }]
          ),
          request("people.update", [ids[2]!], "status=Lead"),
          says("Two people and a new one wait.")
        )
      )
      const answer = yield* ask(
        organization,
        "Ada Byron's status becomes Lost, the other Ada Byron becomes a Lead, and add Grace Hopper as a Lead"
      )
      const [draft, ...others] = draftsIn(answer)
      expect(others).toEqual([])
      expect(draft!.steps.map(({ actionId, displayName }) => [actionId, displayName])).toEqual([
        ["people.update", "Ada Byron"],
        ["people.create", "Grace Hopper"],
        ["people.update", "Ada Byron"]
      ])
      expect(yield* statesOf(organization)).toEqual(["open"])
    })
  )

  it.effect("leaves nothing to confirm after a turn that fails", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(inTurn(lookUp(), request("people.update", [ids[0]!], "status=Won"), { status: 400 }))
      const answer = yield* ask(organization, "set the status of Ada Lovelace to Won")
      expect(answer.error).toBeDefined()
      expect(draftsIn(answer)).toEqual([])
      expect(yield* statesOf(organization)).toEqual(["drafted"])
      const { as, changes } = yield* asAdmin(organization)
      expect(yield* as(changes.list({ which: "mine" }))).toEqual([])
    })
  )

  it.effect("says what an action takes, and refuses a hidden action like one that doesn't exist", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(
        inTurn(
          calls(["requestAction", { actionId: "people.update" }]),
          calls(["requestAction", { actionId: "people.delete", values: [] }]),
          request("people.update", [ids[0]!], "status Won"),
          request("nothing.update", [ids[0]!], "status=Won"),
          says("Which one?")
        )
      )
      const answer = yield* ask(organization, "what can I change?")
      expect(draftsIn(answer)).toEqual([])
      const results = server.requests.slice(1).map(({ body }) => resultsIn(body).at(-1))
      expect(results[0]).toMatch(/^takes entityIds values; the person confirms\n[^]*status\tStatus\ttext/)
      expect(results[1]).toBe("takes entityIds; the person confirms twice")
      expect(results[2]).toBe('needs: Write a value as columnId=value, not "status Won".')
      expect(results[3]).toMatch(/^needs: There is no action "nothing\.update"\./)
    })
  )

  it.effect("offers the tool only to callers who may change something, on channels that let them", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const three = JSON.stringify([SYSTEM_PROMPT, toolDefinitions.map(({ name }) => name)])
      const sent = () => {
        const { system, tools } = server.requests.at(-1)!.body
        const text = typeof system === "string" ? system : (system as ReadonlyArray<{ text: string }>)[0]!.text
        return JSON.stringify([text, tools!.map(({ name }) => name)])
      }
      server.reset(() => says("Hello."))
      yield* ask(organization, "hello", undefined, MEMBER)
      expect(sent()).toBe(three)
      expect(contextIn(server.requests[0]!.body)).not.toHaveProperty("can")
      yield* turn({ organization, who: { kind: "email", key: ADMIN }, say: { text: "hello" } })
      expect(sent()).toBe(three)
      server.reset(inTurn(calls(["requestAction", { actionId: "people.update" }]), says("No.")))
      yield* turn({ organization, who: { kind: "email", key: ADMIN }, say: { text: "hello" } })
      expect(resultsIn(server.requests[1]!.body)).toEqual(['There is no tool "requestAction".'])
      server.reset(() => says("Hello."))
      yield* ask(organization, "hello")
      expect(sent()).toContain('"findEntities","requestAction"]')
    })
  )

  it.effect("takes a typed yes, undo and no to the one change that waits, without asking the model", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(
        inTurn(lookUp(), request("people.update", [ids[0]!], "status=Won"), says("Ada Lovelace would become Won."))
      )
      const first = yield* ask(organization, "set the status of Ada Lovelace to Won")
      const session = first.done!.session
      server.reset(() => says("The model answers."))
      const yes = yield* ask(organization, "Yes, please!", session)
      expect(yes.done?.text).toBe(draftsIn(yes)[0]!.receipt!.message)
      expect(draftsIn(yes)).toMatchObject([{ state: "applied", changeId: draftsIn(first)[0]!.changeId }])
      const undo = yield* ask(organization, "undo that", session)
      expect(draftsIn(undo)).toMatchObject([
        { state: "open", steps: [{ cells: [{ was: "Won", becomes: "Customer" }] }] }
      ])
      const no = yield* ask(organization, "No.", session)
      expect(no.done?.text).toBe("All right: nothing was changed.")
      expect(yield* statesOf(organization)).toEqual(["applied", "rejected"])
      expect(server.requests).toHaveLength(0)
      expect((yield* ask(organization, "yes", session)).done?.text).toBe("The model answers.")
    })
  )

  it.effect(
    "leaves a typed yes to the model when two changes wait, one needs more than a yes, or the channel can't confirm",
    () =>
      Effect.gen(function* () {
        const { ids, organization } = yield* company
        server.reset(inTurn(lookUp(), request("people.update", [ids[0]!], "status=Won"), says("One.")))
        const first = yield* ask(organization, "set the status of Ada Lovelace to Won")
        const session = first.done!.session
        server.reset(() => says("The model answers."))
        const who = { kind: "email", key: ADMIN } as const
        const say = { text: "yes" }
        const without = yield* turn({ organization, who, session, say, changes: { via: VIA, confirms: false } })
        expect(heard(without).done?.text).toBe("The model answers.")
        server.reset(inTurn(lookUp(), request("people.update", [ids[1]!], "status=Lost"), says("Two.")))
        yield* ask(organization, "and Ada Byron to Lost", session)
        server.reset(() => says("The model answers."))
        expect((yield* ask(organization, "yes", session)).done?.text).toBe("The model answers.")
        expect(yield* statesOf(organization)).toEqual(["open", "open"])
        server.reset(
          inTurn(lookUp(), calls(["requestAction", { actionId: "people.delete", entityIds: [ids[2]] }]), says("Gone?"))
        )
        const other = yield* ask(organization, "delete the lost Ada Byron")
        server.reset(() => says("The model answers."))
        expect((yield* ask(organization, "yes", other.done!.session)).done?.text).toBe("The model answers.")
        expect(yield* statesOf(organization)).toEqual(["open", "open", "open"])
      })
  )
})
