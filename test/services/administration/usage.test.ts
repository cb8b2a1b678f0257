import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { todayIn } from "../../../src/domain/values.ts"
import { SENTENCES } from "../../../src/agents/sentences.ts"
import { Administration } from "../../../src/services/administration/Administration.ts"
import { type Outcome, Spending } from "../../../src/services/conversations/Spending.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { administered } from "../../support/administered.ts"
import { ADMIN, agentFor, company, say } from "../../support/agent.ts"
import { BasicAgent } from "../../support/basic.ts"
import { TestServices } from "../../support/database.ts"
import { says, startMessages } from "../../support/messages.ts"

const PRICES = new Map([["priced", { input: 2, output: 10 }]])
const SETTINGS = { prices: PRICES, mostConversationDays: 30 }

/** A day of the organization's calendar. */
const dayBefore = ({ timeZone }: Organization, days: number): string =>
  new Date(Date.parse(`${todayIn(timeZone)}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)

const asked = Effect.fnUntraced(function* (
  organization: Organization,
  anchorId: string,
  daysAgo: number,
  model: string,
  outcome: Outcome
) {
  const spending = yield* Spending
  const reservation = { day: dayBefore(organization, daysAgo), tokens: 0 }
  const spent = { model, inputTokens: model === "basic" ? 0 : 1000, outputTokens: model === "basic" ? 0 : 100 }
  yield* spending.settle({ organizationId: organization.id, anchorId }, reservation, spent, outcome)
})

const as = ({ host, organization }: Effect.Success<ReturnType<typeof administered>>, name: string) =>
  Effect.flatMap(IdentityResolver, (identities) =>
    Effect.map(identities.admit(organization, { kind: "email", key: `${name}@${host}` }), ({ principal }) => principal)
  )

layer(TestServices, { excludeTestServices: true })("usage", (it) => {
  it.effect("is summed up by day, person and model as SQL does, for one organization alone", () =>
    Effect.gen(function* () {
      const [harbor, cedar] = [yield* administered({ slug: "harbor" }), yield* administered({ slug: "cedar" })]
      const { idOf, organization } = harbor
      const outcomes = ["answered", "answered", "declined", "failed", "stopped"] as const
      for (const [index, outcome] of outcomes.entries()) {
        yield* asked(organization, idOf("lena"), index, "priced", outcome)
        yield* asked(organization, idOf("theo"), 0, "basic", outcome)
        for (const again of [1, 2, 3]) yield* asked(cedar.organization, cedar.idOf("lena"), again, "other", outcome)
      }
      yield* asked(organization, idOf("lena"), 7, "priced", "answered")
      const { usage } = yield* Administration
      const week = yield* usage(yield* as(harbor, "yuki"), 7, SETTINGS)
      const { owner } = yield* Database
      const [sums] =
        yield* owner`SELECT sum(turns)::int AS questions, sum(answered)::int AS answered, sum(declined)::int AS declined,
        sum(failed)::int AS failed, sum(input_tokens)::int AS "inputTokens", sum(output_tokens)::int AS "outputTokens"
        FROM max.usage WHERE organization_id = ${organization.id} AND day > ${dayBefore(organization, 7)}::text::date`
      expect(week.total).toEqual({ ...sums, dollars: (5 * (1000 * 2 + 100 * 10)) / 1_000_000 })
      expect(week.total).toMatchObject({ questions: 10, answered: 4, declined: 2, failed: 2 })
      const days = yield* owner`SELECT day::text, sum(turns)::int AS questions FROM max.usage
        WHERE organization_id = ${organization.id} AND day > ${dayBefore(organization, 7)}::text::date GROUP BY 1 ORDER BY 1 DESC`
      expect(week.byDay.map(({ day, questions }) => ({ day, questions }))).toEqual(days)
      expect(week.byPerson).toMatchObject([
        { id: idOf("lena"), name: "Lena Brandt", questions: 5, declined: 1 },
        { id: idOf("theo"), name: "Théo Mercier", questions: 5, dollars: 0 }
      ])
      expect(week.byModel.map(({ model, questions }) => [model, questions])).toEqual([
        ["basic", 5],
        ["priced", 5]
      ])
      expect((yield* usage(yield* as(harbor, "yuki"), 8, SETTINGS)).total.questions).toBe(11)
      const other = yield* usage(yield* as(cedar, "yuki"), 7, SETTINGS)
      expect(other.total.questions).toBe(15)
      // The price of its model is unknown.
      expect(other.total.dollars).toBeUndefined()
      expect(JSON.stringify(other)).not.toContain(idOf("lena"))
    })
  )

  it.effect("is empty for a period without a question", () =>
    Effect.gen(function* () {
      const birch = yield* administered({ slug: "birch" })
      yield* asked(birch.organization, birch.idOf("lena"), 30, "basic", "answered")
      const { usage } = yield* Administration
      expect(yield* usage(yield* as(birch, "yuki"), 30, SETTINGS)).toEqual({
        days: 30,
        conversationDays: 30,
        mostConversationDays: 30,
        total: { questions: 0, answered: 0, declined: 0, failed: 0, inputTokens: 0, outputTokens: 0, dollars: 0 },
        byDay: [],
        byPerson: [],
        byModel: []
      })
    })
  )

  it.effect("names only the people whose name the administrator's own plan shows", () =>
    Effect.gen(function* () {
      const maple = yield* administered({ slug: "maple" })
      yield* asked(maple.organization, maple.idOf("lena"), 0, "basic", "answered")
      const { usage } = yield* Administration
      // The auditor sees no name of people whose status is unknown.
      const seen = yield* usage(yield* as(maple, "amina"), 7, SETTINGS)
      expect(seen.byPerson).toMatchObject([{ id: maple.idOf("lena"), questions: 1 }])
      expect(JSON.stringify(seen)).not.toContain("Lena")
    })
  )

  it.effect("lists 200 people, and the rest as one", () =>
    Effect.gen(function* () {
      const aspen = yield* administered({ slug: "aspen" })
      const { owner } = yield* Database
      yield* owner`INSERT INTO max.usage (organization_id, day, anchor_id, model, turns, answered, input_tokens, output_tokens)
        SELECT ${aspen.organization.id}, ${dayBefore(aspen.organization, 0)}::text::date, 'p' || i, 'basic', i, i, 0, 0
        FROM generate_series(1, 203) i`
      const { usage } = yield* Administration
      const { byPerson, others, total } = yield* usage(yield* as(aspen, "yuki"), 7, SETTINGS)
      expect(byPerson).toHaveLength(200)
      expect(byPerson[0]).toMatchObject({ id: "p203", questions: 203 })
      expect(others).toMatchObject({ people: 3, questions: 1 + 2 + 3 })
      expect(total.questions).toBe((203 * 204) / 2)
    })
  )
})

const outcomesOf = (organization: Organization) =>
  Effect.gen(function* () {
    const spending = yield* Spending
    const rows = yield* spending.report(organization, 1, "model")
    const [row] = rows
    return row && [row.turns, row.answered, row.declined, row.failed]
  })

layer(BasicAgent, { excludeTestServices: true })("the outcome of a turn in basic mode", (it) => {
  it.effect("is answered for a lookup, and declined where the reply answers nothing", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      for (const question of ["how many people are there", "who is Ada Byron", "hello"])
        yield* say(organization, ADMIN, question)
      expect(yield* outcomesOf(organization)).toEqual([3, 3, 0, 0])
      const declined = [
        "blorp the frobnicator sideways",
        "send an e-mail to Ada Byron",
        "wie viele kunden haben wir",
        "what is the salary of Ada Byron"
      ]
      for (const question of declined) yield* say(organization, ADMIN, question)
      expect(yield* outcomesOf(organization)).toEqual([3 + declined.length, 3, declined.length, 0])
    })
  )
})

const server = await startMessages()
afterAll(() => server.close())

layer(agentFor(server, { dayTurns: 3 }), { excludeTestServices: true })("the outcome of a turn with a model", (it) => {
  it.effect("is declined for a refusal, failed for a broken model and for a spent budget", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => says("Hello."))
      yield* say(organization, ADMIN, "hello")
      server.reset(() => says("No.", { stop: "refusal" }))
      expect((yield* say(organization, ADMIN, "hello")).shown).toBe(SENTENCES.refused)
      server.reset(() => says("It is a long story.", { diesAfter: 2 }))
      yield* say(organization, ADMIN, "hello")
      expect(yield* outcomesOf(organization)).toEqual([3, 1, 1, 1])
      expect((yield* say(organization, ADMIN, "hello")).error?.reason).toBe("Budget")
      expect(yield* outcomesOf(organization)).toEqual([4, 1, 1, 2])
    })
  )
})

const slow = agentFor(server, { turnSeconds: 4 })
layer(Layer.fresh(slow), { excludeTestServices: true })("the outcome of a turn at its deadline", (it) => {
  it.effect("is failed, although the deadline interrupts it as a person does", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => new Promise(() => {}))
      expect((yield* say(organization, ADMIN, "hello")).error?.reason).toBe("Timeout")
      expect(yield* outcomesOf(organization)).toEqual([1, 0, 0, 1])
    })
  )
})
