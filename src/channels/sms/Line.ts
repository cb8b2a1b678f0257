/** A number of an organization's, and how texts leave from it. */
import { Context, Effect, Layer } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import type { ConfigurationError, Unavailable } from "../../domain/errors.ts"
import { Env, readReference } from "../../env.ts"
import type { Merging } from "../../services/texting/SmsInbox.ts"
import { SmsSettings } from "../../services/texting/SmsSettings.ts"
import type { Account, SmsProvider } from "./Provider.ts"
import { makeTwilio } from "./twilio.ts"

export interface Line extends Account {
  readonly organization: Organization
  readonly phone: string
  readonly provider: SmsProvider
  /** The address that a text's id is added to, for reports of how far it has come. */
  readonly reportTo?: string | undefined
  readonly merging: Merging
  /** Turns of one number in an hour and segments of the organization in a day; without it nothing is counted. */
  readonly limits?: { readonly perHour: number; readonly segmentsPerDay: number } | undefined
}

/** Seconds. */
export const SmsTiming = Context.Reference<{
  readonly merging: Merging
  readonly apology: number
  readonly lease: number
  /** How often somebody looks for what is due, whether or not anybody has called. */
  readonly poll: number
  /** How long the provider has for an answer. */
  readonly sending: number
}>("max/channels/sms/SmsTiming", {
  defaultValue: () => ({ merging: { quiet: 1.5, most: 6 }, apology: 20, lease: 30, poll: 2, sending: 10 })
})

/** Where Twilio brings messages, and reports of a text. */
export const TWILIO_PATH = "/v1/sms/twilio"
export const TWILIO_STATUS_PATH = `${TWILIO_PATH}/status`

export class Lines extends Context.Service<
  Lines,
  {
    /** Under which address people and providers know this server; undefined while that isn't configured. */
    readonly publicUrl: string | undefined
    /** The line of a number of ours; undefined when it is nobody's. */
    readonly of: (phone: string) => Effect.Effect<Line | undefined, ConfigurationError | Unavailable>
  }
>()("max/channels/sms/Lines") {
  static readonly layer = Layer.effect(
    Lines,
    Effect.gen(function* () {
      const { publicUrl, smsPerNumber, smsSegments, twilioUrl } = yield* Env
      const settings = yield* SmsSettings
      const { merging, sending } = yield* SmsTiming
      const twilio = makeTwilio({ url: twilioUrl, timeout: sending * 1000 })
      return Lines.of({
        publicUrl,
        of: Effect.fnUntraced(function* (phone) {
          const found = yield* settings.find(phone)
          if (found === undefined) return undefined
          const { account, secret } = found.number
          return {
            organization: found.organization,
            phone,
            provider: twilio,
            account,
            secret: (yield* readReference("The secret of a number", secret)).secret,
            reportTo: publicUrl === undefined ? undefined : `${publicUrl}${TWILIO_STATUS_PATH}`,
            merging,
            limits: { perHour: smsPerNumber, segmentsPerDay: smsSegments }
          }
        })
      })
    })
  )
}
