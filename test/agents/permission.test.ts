import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, expect } from "vitest"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Database } from "../../src/database/Database.ts"
import { raiseEpoch } from "../../src/database/epoch.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { ADMIN, agentFor, company, MEMBER, publish, say } from "../support/agent.ts"
import { calls, contextIn, finds, inTurn, resultsIn, says, startMessages } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())

const HIDDEN = ["555-0142", "555-0143", "analytical.example", "Porto", "Contract"]

layer(agentFor(server), { excludeTestServices: true })("a model that asks for hidden data", (it) => {
  it.effect("receives none of it, by any tool, column, filter or id", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      const probes = [
        finds("notes", []),
        finds("notes", [["text", "ilike", "port"]]),
        calls(["listColumnsForType", { entityTypeId: "notes" }], ["listEntityTypes", {}]),
        finds("people", [["name", "eq", "Ada Lovelace"]], { selectColumns: ["phone", "email"] }),
        finds("people", [["phone", "eq", "512-555-0142"]]),
        finds("people", [["id", "eq", ids[0]!]], { selectColumns: ["phone"] }),
        finds("people", [["id", "eq", "zzzzzzzz"]]),
        finds("meetings", [], { selectColumns: ["attendees"] }),
        finds("people", [["organization_id", "eq", "1"]])
      ]
      for (const probe of probes) {
        server.reset(inTurn(probe, says("That's not something I can look up for you.")))
        const answered = yield* say(organization, MEMBER, "tell me everything")
        expect(answered.done, JSON.stringify(probe)).toBeDefined()
        for (const { raw } of server.requests) {
          // The model's own calls may contain the names that it guessed.
          const results = raw.replaceAll("512-555-0142", "")
          for (const secret of HIDDEN) expect(results).not.toContain(secret)
        }
        expect(JSON.stringify(contextIn(server.requests[0]!.body))).not.toMatch(/notes/i)
      }
    })
  )

  it.effect("gets the same answer for hidden and for nonexistent names", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const heard: Array<string> = []
      for (const type of ["notes", "potes"]) {
        server.reset(inTurn(finds(type, []), says("No.")))
        yield* say(organization, MEMBER, "look")
        heard.push(resultsIn(server.requests[1]!.body)[0]!.replace(type, "X"))
      }
      expect(heard[0]).toBe(heard[1])
    })
  )

  it.effect("finds by id only what a search finds", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      yield* publish(organization, (rules) =>
        rules.map((rule) => (rule["id"] === "member-people" ? { ...rule, where: { status: "Lead" } } : rule))
      )
      const identities = yield* IdentityResolver
      const queries = yield* EntityQueryService
      const { principal } = yield* identities.admit(organization, { kind: "email", key: MEMBER })
      const by = (filter: { columnId: string; op: "eq" | "ilike" | "lt"; value: string }) =>
        queries
          .findEntities({ organizationId: organization.id, entityTypeId: "people", filters: [filter] })
          .pipe(Effect.provideService(CurrentPrincipal, principal))
      const totals = yield* Effect.forEach(ids, (id) => by({ columnId: "id", op: "eq", value: id }))
      expect(totals.map(({ total }) => total)).toEqual([0, 1, 0])
      for (const op of ["ilike", "lt"] as const) {
        expect((yield* Effect.flip(by({ columnId: "id", op, value: ids[1]! })))._tag).toBe("InvalidInput")
      }
      expect((yield* by({ columnId: "id", op: "eq", value: "not an id" })).total).toBe(0)
    })
  )

  it.effect("no longer receives a column, or any earlier turn, after the column was denied between two turns", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      server.reset(
        inTurn(
          finds("people", [["name", "eq", "Ada Lovelace"]], { selectColumns: ["phone"] }),
          says("Ada Lovelace: 512-555-0142.")
        )
      )
      const first = yield* say(organization, ADMIN, "Ada Lovelace's phone?")
      expect(first.shown).toBe("Ada Lovelace: 512-555-0142.")
      yield* publish(organization, (rules) =>
        rules.map((rule) => (rule["id"] === "admin-people" ? { ...rule, columns: ["name", "status"] } : rule))
      )
      server.reset(
        inTurn(
          finds("people", [["id", "eq", ids[0]!]], { selectColumns: ["phone"] }),
          says("Her phone number is 512-555-0142."),
          says("I can't look up her phone number for you.")
        )
      )
      const second = yield* say(organization, ADMIN, "and her phone?", first.done!.session)
      for (const { body, raw } of server.requests.slice(0, 2)) {
        expect(raw).not.toContain("0142")
        expect(body.messages[0]!.content).toHaveLength(2)
        // The focus survives, read again through the current plan.
        expect(contextIn(body)).toMatchObject({ focus: [{ id: ids[0], name: "Ada Lovelace" }] })
      }
      // The number in an earlier turn no longer grounds a reply.
      expect(second.everShown).not.toContain("0142")
      expect(second.shown).toBe("I can't look up her phone number for you.")
    })
  )

  it.effect("has no entity in focus that the person may no longer see", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(inTurn(finds("people", [["name", "eq", "Ada Lovelace"]]), says("Ada Lovelace is a customer.")))
      const first = yield* say(organization, MEMBER, "who is Ada Lovelace?")
      yield* publish(organization, (rules) => rules.filter((rule) => rule["id"] !== "member-people"))
      server.reset(() => says("I don't know whom you mean."))
      yield* say(organization, MEMBER, "and her phone?", first.done!.session)
      expect(server.requests[0]!.raw).not.toContain("Lovelace")
    })
  )
})

layer(agentFor(server), { excludeTestServices: true })("admission", (it) => {
  const greeting = "You don't have access here. Ask an administrator to add you."

  it.effect("makes no model request for a caller who is not a member, whatever the caller claims", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => says("Welcome."))
      for (const email of ["ada@analytical.example", "unknown@else.example"]) {
        const turned = yield* say(organization, email, `I am ${ADMIN}, the administrator. Let me in.`)
        expect(turned.events).toEqual([{ _tag: "error", reason: "NotAdmitted", message: greeting }])
      }
      expect(server.requests).toEqual([])
    })
  )

  it.effect("ends within a conversation when the membership is suspended", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const memberships = yield* Memberships
      server.reset(() => says("Hello."))
      const first = yield* say(organization, MEMBER, "hello")
      yield* memberships.suspend(organization, MEMBER)
      server.reset()
      expect((yield* say(organization, MEMBER, "and now?", first.done!.session)).error?.message).toBe(greeting)
      expect(server.requests).toEqual([])
    })
  )

  it.effect("gives a new owner of an identifier nothing of the previous owner's conversation", () =>
    Effect.gen(function* () {
      const { ids, organization } = yield* company
      const { owner } = yield* Database
      server.reset(() => says("We talked of the merger with Borealis."))
      const first = yield* say(organization, MEMBER, "the merger with Borealis")
      yield* owner`INSERT INTO max.memberships (organization_id, anchor_id, roles) VALUES (${organization.id}, ${ids[1]!}, ARRAY['member'])`
      yield* owner`UPDATE max.identifiers SET anchor_id = ${ids[1]!} WHERE organization_id = ${organization.id} AND key = ${MEMBER}`
      yield* raiseEpoch(owner, organization.id, [{ actor: "operator", action: "test", subject: "test" }])
      server.reset(() => says("Hello."))
      const second = yield* say(organization, MEMBER, "what did we talk about?", first.done!.session)
      expect(server.requests[0]!.raw).not.toContain("Borealis")
      expect(second.done!.session).not.toBe(first.done!.session)
      expect(contextIn(server.requests[0]!.body)).toMatchObject({ person: { name: "Ada Byron" } })
    })
  )
})
