/** A server with a scripted model and a scripted carrier, and the people who text it. */
import { Effect, Exit, Layer, Redacted, Schedule, Scope } from "effect"
import { SmsTiming } from "../../../src/channels/sms/Line.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { SmsLog } from "../../../src/services/texting/SmsLog.ts"
import { SmsSettings } from "../../../src/services/texting/SmsSettings.ts"
import { addPeople, makeOrganization, type PersonRow } from "../../support/atlas.ts"
import {
  ACCOUNT,
  messageFrom,
  OURS,
  type Params,
  post,
  PUBLIC_URL,
  startCarrier,
  TOKEN
} from "../../support/carrier.ts"
import { migratedDatabase } from "../../support/database.ts"
import { startServer } from "../../support/http.ts"
import { says, startMessages } from "../../support/messages.ts"

export const ADA = "+15125550142"
export const BOB = "+15125550143"
/** A number that the data does not have. */
export const STRANGER = "+15125550199"

type Overrides = Parameters<typeof startServer>[1]
type TimingOf = (typeof SmsTiming)["Service"]
type Mutable<A> = { -readonly [Key in keyof A]: A[Key] extends number ? A[Key] : Mutable<A[Key]> }

/** The channel's timing, at least ten times faster. */
const QUICK: TimingOf = { merging: { quiet: 0.08, most: 0.6 }, apology: 60, lease: 10, poll: 0.1, sending: 1 }

export const startSetting = async (
  overrides: Overrides = {},
  timing: Partial<TimingOf> = {},
  observed: Layer.Layer<never> = Layer.empty
) => {
  process.env["SMS_TEST_TOKEN"] = TOKEN
  const own: Mutable<TimingOf> = structuredClone({ ...QUICK, ...timing })
  const scope = Scope.makeUnsafe()
  const carrier = await startCarrier()
  const model = await startMessages(() => says("Hello there."))
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const server = await startServer(
    url,
    {
      publicUrl: PUBLIC_URL,
      twilioUrl: carrier.url,
      provider: "anthropic",
      anthropicKey: Redacted.make("sk-test"),
      anthropicUrl: model.url,
      smsPerNumber: 10_000,
      smsSegments: 1_000_000,
      ...overrides
    },
    Layer.mergeAll(observed, Layer.succeed(SmsTiming, own))
  )
  const run = server.run
  const organization: Organization = await run(makeOrganization("atlas"))
  await run(
    Effect.gen(function* () {
      const settings = yield* SmsSettings
      const number = { provider: "twilio", account: ACCOUNT, secret: "env:SMS_TEST_TOKEN" }
      yield* settings.addNumber(organization, { ...number, phone: OURS })
    })
  )
  /** Adds people; a `role` makes one a member by their number. */
  const people = (rows: ReadonlyArray<PersonRow & { readonly role?: string }>) =>
    run(
      Effect.gen(function* () {
        const ids = yield* addPeople(organization, rows)
        const members = yield* Memberships
        for (const { phone, role } of rows) {
          if (role !== undefined) yield* members.add(organization, { identifier: phone!, roles: [role] })
        }
        return ids
      })
    )
  const sql = <Row extends object>(text: string, parameters: ReadonlyArray<unknown> = []) =>
    run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<Row>(text, parameters))) as Promise<ReadonlyArray<Row>>
  /** Waits until no message waits, no text is unsent and no sender is leased. */
  const quiet = () =>
    run(
      Effect.flatMap(Database, ({ owner }) =>
        Effect.repeat(
          owner`SELECT 1 FROM max.sms_inbox WHERE state = 'waiting' UNION ALL
            SELECT 1 FROM max.sms_outbox WHERE state IN ('queued', 'trying') UNION ALL
            SELECT 1 FROM max.sms_senders WHERE lease IS NOT NULL`,
          { until: (rows) => rows.length === 0, schedule: Schedule.spaced("20 millis") }
        )
      )
    )
  const setting = {
    ...server,
    timing: own,
    carrier,
    model,
    organization,
    people,
    sql,
    quiet,
    /** The texts that a person received. */
    heard: (phone: string) => carrier.accepted.filter(({ to }) => to === phone).map(({ body }) => body),
    /** Sends a message as a person; fails unless the webhook acknowledges it. */
    text: async (from: string, body: string, more: Params = {}) => {
      const params = messageFrom(from, body, more)
      const answer = await post(server, params)
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
      return params
    },
    /** Sends a message as a person and returns the texts in answer. */
    ask: async (from: string, body: string, more: Params = {}) => {
      const before = setting.heard(from).length
      await setting.text(from, body, more)
      await quiet()
      return setting.heard(from).slice(before)
    },
    log: (bodies = false) =>
      run(Effect.flatMap(SmsLog, (log) => log.list(organization, { limit: 1000, bodies }))) as Promise<any>,
    settings: <A, E>(use: (settings: SmsSettings["Service"]) => Effect.Effect<A, E>) =>
      run(Effect.flatMap(SmsSettings, use)),
    /** Deletes all messages, texts and conversations. */
    reset: async () => {
      for (const table of ["sms_inbox", "sms_outbox", "sms_senders", "sms_days", "turns", "sessions"]) {
        await sql(`DELETE FROM max.${table}`)
      }
      carrier.reset()
      model.reset(() => says("Hello there."))
    },
    stop: async () => {
      await server.stop()
      await carrier.close()
      await model.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
  return setting
}

export type Setting = Awaited<ReturnType<typeof startSetting>>
