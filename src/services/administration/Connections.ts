/**
 * The model and the phone line of an organization, for administrators with the power `secrets`, over the services of the
 * commands. Who else the line answers is a matter of members, and what it may change one of the policy.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import {
  InvalidInput,
  type NotAdmitted,
  type NotAllowed,
  type OperatorError,
  type Unavailable
} from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type * as Wire from "../../wire/admin/connections.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { mayGive, requirePower } from "../members/powers.ts"
import { ModelSettings } from "../models/ModelSettings.ts"
import { type Given, Secrets, type Shown } from "../secrets/Secrets.ts"
import { ON_PAGE, secretOf, SmsSettings } from "../texting/SmsSettings.ts"
import { TestTexts } from "../texting/TestTexts.ts"

type Fault = InvalidInput | NotAdmitted | NotAllowed | OperatorError | Unavailable

export interface LineSettings {
  /** Asks the provider whether an account has this token; the error says why it doesn't serve. */
  readonly tryAccount: (account: string, token: Redacted.Redacted<string>) => Effect.Effect<void, OperatorError>
  /** Where the provider posts messages; undefined without a public address. */
  readonly webhook: string | undefined
}

export class Connections extends Context.Service<
  Connections,
  {
    readonly model: (administrator: Principal) => Effect.Effect<Wire.ModelConnection, Fault>
    /** Tries a key with the provider, then seals it. */
    readonly setModelKey: (administrator: Principal, given: Wire.SetModelKey) => Effect.Effect<void, Fault>
    readonly removeModelKey: (administrator: Principal) => Effect.Effect<void, Fault>
    readonly setModel: (administrator: Principal, change: Wire.SetModel) => Effect.Effect<void, Fault>
    readonly line: (administrator: Principal) => Effect.Effect<Wire.PhoneLine, Fault>
    /** Tries the account's token with the provider, then seals it. */
    readonly addNumber: (administrator: Principal, number: Wire.AddNumber) => Effect.Effect<void, Fault>
    readonly removeNumber: (administrator: Principal, phone: string) => Effect.Effect<void, Fault>
    /** Sends one text from a number to the administrator's own. */
    readonly testLine: (administrator: Principal, line: string) => Effect.Effect<void, Fault>
    readonly lineTests: (administrator: Principal) => Effect.Effect<Wire.LineTests, Fault>
    readonly setLine: (administrator: Principal, change: Wire.SetLine) => Effect.Effect<void, Fault>
  }
>()("max/services/Connections") {
  static readonly layer = ({ tryAccount, webhook }: LineSettings) =>
    Layer.effect(
      Connections,
      Effect.gen(function* () {
        const identities = yield* IdentityResolver
        const models = yield* ModelSettings
        const secrets = yield* Secrets
        const sms = yield* SmsSettings
        const tests = yield* TestTexts

        const current = Effect.fnUntraced(function* (administrator: Principal) {
          const { principal, state } = yield* identities.readmit(administrator)
          yield* requirePower(state.policy, principal, "secrets")
          return { principal, state, organization: state.catalog.organization }
        })

        return Connections.of({
          model: Effect.fn("Connections.model")(function* (administrator) {
            const { organization } = yield* current(administrator)
            const { configured, dayTokens, dayTurns, defaultModel } = models.limits
            const plan = yield* models.plan(organization.id)
            const key = yield* models.key(organization)
            const own = plan.model ?? defaultModel
            return {
              ...(configured === undefined ? {} : { configured: configured.provider }),
              answers:
                configured === undefined
                  ? key === undefined
                    ? "basic"
                    : own
                  : configured.provider === "basic"
                    ? "basic"
                    : (configured.model ?? defaultModel),
              ...(plan.model === undefined ? {} : { model: plan.model }),
              defaultModel,
              ...(key === undefined ? {} : { key: shownOf(key) }),
              files: yield* secrets.files(organization),
              ...(plan.dayTurns === undefined ? {} : { dayTurns: plan.dayTurns }),
              ...(plan.dayTokens === undefined ? {} : { dayTokens: plan.dayTokens }),
              mostTurns: dayTurns,
              mostTokens: dayTokens
            }
          }),

          setModelKey: Effect.fn("Connections.setModelKey")(function* (administrator, given) {
            const { organization, principal } = yield* current(administrator)
            yield* models.setKey(organization, yield* givenOf(given), principal)
          }),

          removeModelKey: Effect.fn("Connections.removeModelKey")(function* (administrator) {
            const { organization, principal } = yield* current(administrator)
            yield* models.removeKey(organization, principal)
          }),

          setModel: Effect.fn("Connections.setModel")(function* (administrator, change) {
            const { organization, principal } = yield* current(administrator)
            yield* models.set(organization, change, principal)
          }),

          line: Effect.fn("Connections.line")(function* (administrator) {
            const { organization, state } = yield* current(administrator)
            const { changes, contact, openRole, tellsApprovers } = yield* sms.channel(organization.id)
            const numbers = yield* Effect.forEach(
              yield* sms.numbers(organization),
              Effect.fnUntraced(function* ({ account, phone, secret }) {
                const shown = secret === ON_PAGE ? yield* secrets.shown(organization, secretOf(phone)) : undefined
                return {
                  phone,
                  account: `${account.slice(0, 6)}…`,
                  isOperators: secret !== ON_PAGE,
                  ...(shown === undefined ? {} : { secret: shownOf(shown) })
                }
              })
            )
            return {
              numbers,
              ...(webhook === undefined ? {} : { webhook }),
              files: yield* secrets.files(organization),
              ...(contact === undefined ? {} : { contact }),
              ...(openRole === undefined ? {} : { openRole }),
              roles: Object.keys(state.policy.roles),
              changes,
              tellsApprovers
            }
          }),

          addNumber: Effect.fn("Connections.addNumber")(function* (administrator, { account, phone, ...given }) {
            const { organization, principal } = yield* current(administrator)
            if (!/^AC[0-9a-f]{32}$/i.test(account))
              return yield* InvalidInput.of("The account is AC and 32 digits, as Twilio's console shows it.")
            const secret = yield* givenOf(given)
            yield* tryAccount(account, yield* secrets.take(organization, secret))
            yield* sms.addNumber(organization, { phone, provider: "twilio", account, secret }, principal)
          }),

          removeNumber: Effect.fn("Connections.removeNumber")(function* (administrator, phone) {
            const { organization, principal } = yield* current(administrator)
            yield* sms.removeNumber(organization, phone, principal)
          }),

          testLine: Effect.fn("Connections.testLine")(function* (administrator, line) {
            const { organization, principal } = yield* current(administrator)
            yield* tests.queue(organization, { anchorId: principal.anchorEntityId, line }, principal)
          }),

          lineTests: Effect.fn("Connections.lineTests")(function* (administrator) {
            const { organization, principal } = yield* current(administrator)
            const to = yield* tests.numberOf(organization, principal.anchorEntityId)
            const latest = yield* tests.latest(organization, principal.anchorEntityId)
            return { ...(to === undefined ? {} : { to }), tests: latest }
          }),

          setLine: Effect.fn("Connections.setLine")(function* (administrator, change) {
            const { organization, principal, state } = yield* current(administrator)
            const { changes, contact, openRole, tellsApprovers } = change
            // Every requirement first: a change is made whole or not at all, as far as permissions go.
            if (openRole !== undefined) yield* mayGive(state.policy, principal, openRole === null ? [] : [openRole])
            if (changes !== undefined) yield* requirePower(state.policy, principal, "policy")
            if (contact !== undefined) yield* sms.setContact(organization, contact, principal)
            if (changes !== undefined || tellsApprovers !== undefined)
              yield* sms.set(
                organization,
                {
                  ...(changes === undefined ? {} : { changes }),
                  ...(tellsApprovers === undefined ? {} : { tellsApprovers })
                },
                principal
              )
            // Last, because it renews the epoch.
            if (openRole !== undefined)
              yield* openRole === null
                ? sms.close(organization, principal)
                : sms.open(organization, openRole, principal)
          })
        })
      })
    )
}

const shownOf = ({ at, by, ending, file, opens }: Shown) => ({
  opens,
  by,
  at,
  ...(ending === undefined ? {} : { ending }),
  ...(file === undefined ? {} : { file })
})

/** Exactly one of a pasted secret and a name. */
const givenOf = ({ file, secret }: Wire.SetModelKey): Effect.Effect<Given, InvalidInput> =>
  secret !== undefined && file === undefined
    ? Effect.succeed({ secret: Redacted.make(secret) })
    : file !== undefined && secret === undefined
      ? Effect.succeed({ file })
      : Effect.fail(InvalidInput.of("Send exactly one of secret and file."))
