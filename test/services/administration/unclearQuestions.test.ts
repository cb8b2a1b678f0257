/** Questions that weren't understood: kept where an organization wants it, for a while, and never with a name or who asked. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { KEPT_DAYS, UnclearQuestions } from "../../../src/services/administration/UnclearQuestions.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { administered } from "../../support/administered.ts"
import { say } from "../../support/agent.ts"
import { BasicAgent } from "../../support/basic.ts"

const rows = Effect.flatMap(
  Database,
  ({ owner }) => owner<{ question: string }>`SELECT q::text AS question FROM max.unclear_questions q ORDER BY 1`
)

layer(BasicAgent, { excludeTestServices: true })("a question that isn't understood", (it) => {
  it.effect("is kept from when its organization wants it until it doesn't, without names, values and who asked", () =>
    Effect.gen(function* () {
      const unclear = yield* UnclearQuestions
      const [harbor, cedar] = [yield* administered({ slug: "harbor" }), yield* administered({ slug: "cedar" })]
      const ask = (who: typeof harbor, name: string, text: string) => say(who.organization, `${name}@${who.host}`, text)
      yield* ask(harbor, "lena", "blorp the companies of Olga Offen sideways")
      expect(yield* rows).toEqual([])
      expect(yield* unclear.report(harbor.organization)).toEqual({ kept: false, days: KEPT_DAYS, questions: [] })

      yield* unclear.set(harbor.organization, true)
      for (const name of ["lena", "theo"]) yield* ask(harbor, name, "blorp the companies of Olga Offen sideways")
      yield* ask(harbor, "lena", "send an e-mail to olga@harbor.example")
      yield* ask(harbor, "lena", "how many people are there")
      yield* ask(cedar, "lena", "blorp the companies of Olga Offen sideways")
      const { kept, questions } = yield* unclear.report(harbor.organization)
      expect(kept).toBe(true)
      expect(questions.map(({ question, times }) => [question, times])).toEqual([
        ["… the companies of …", 2],
        ["send an e-mail to …", 1]
      ])
      const stored = JSON.stringify(yield* rows)
      for (const hidden of ["Olga", "olga", "blorp", harbor.idOf("lena"), harbor.idOf("theo")])
        expect(stored).not.toContain(hidden)
      expect(yield* unclear.report(cedar.organization)).toMatchObject({ kept: false, questions: [] })

      yield* unclear.set(harbor.organization, false)
      expect(yield* rows).toEqual([])
      yield* ask(harbor, "lena", "blorp the companies of Olga Offen sideways")
      expect(yield* rows).toEqual([])
    })
  )

  it.effect("is forgotten when it isn't asked for 90 days, and the latest 500 are kept", () =>
    Effect.gen(function* () {
      const unclear = yield* UnclearQuestions
      const { owner } = yield* Database
      const { organization } = yield* administered({ slug: "birch" })
      yield* unclear.set(organization, true)
      yield* owner`INSERT INTO max.unclear_questions (organization_id, question, day)
        SELECT ${organization.id}::bigint, 'q' || i, (now() AT TIME ZONE ${organization.timeZone}::text)::date - i
        FROM generate_series(0, 95) i`
      // What is too old isn't shown, even before it is deleted.
      expect((yield* unclear.report(organization)).questions).toHaveLength(KEPT_DAYS)
      yield* unclear.keep(organization, "q95")
      const { questions } = yield* unclear.report(organization)
      expect(questions).toHaveLength(KEPT_DAYS + 1)
      expect(questions[0]).toMatchObject({ question: "q95", times: 2 })
      expect(yield* rows).toHaveLength(KEPT_DAYS + 1)
      yield* owner`INSERT INTO max.unclear_questions (organization_id, question, day)
        SELECT ${organization.id}::bigint, 'r' || i, (now() AT TIME ZONE ${organization.timeZone}::text)::date
        FROM generate_series(1, 700) i`
      yield* unclear.keep(organization, "the latest")
      expect(yield* rows).toHaveLength(500)
      expect((yield* unclear.report(organization)).questions.map(({ question }) => question)).toContain("the latest")
    })
  )

  it.effect("can be switched on by an administrator with the power over the policy, and read by each", () =>
    Effect.gen(function* () {
      const unclear = yield* UnclearQuestions
      const identities = yield* IdentityResolver
      const { host, organization } = yield* administered({ slug: "maple" })
      const as = (name: string) =>
        Effect.map(
          identities.admit(organization, { kind: "email", key: `${name}@${host}` }),
          ({ principal }) => principal
        )
      const [yuki, amina] = [yield* as("yuki"), yield* as("amina")]
      const outcome = yield* Effect.match(unclear.setFor(amina, true), {
        onFailure: ({ _tag }) => _tag,
        onSuccess: () => "switched on"
      })
      expect(outcome).toBe("NotAllowed")
      expect(yield* unclear.reportFor(amina)).toMatchObject({ kept: false })
      yield* unclear.setFor(yuki, true)
      expect(yield* unclear.reportFor(amina)).toMatchObject({ kept: true, questions: [] })
    })
  )
})
