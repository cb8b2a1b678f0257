/** A line: one of an organization's numbers, with its provider and limits. */
import { Context, Effect, Layer } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import type { ConfigurationError, Unavailable } from "../../domain/errors.ts"
import { Env, readReference } from "../../env.ts"
import type { Merging } from "../../services/texting/SenderLeases.ts"
import { SmsSettings } from "../../services/texting/SmsSettings.ts"
import type { Account, SmsProvider } from "./Provider.ts"
import { makeTwilio } from "./twilio.ts"

export interface Line extends Account {
  readonly organization: Organization
  readonly phone: string
  readonly provider: SmsProvider
  /** The URL for delivery reports; the text's id is appended. */
  readonly reportTo?: string | undefined
  /** Where Max's page is, for links. */
  readonly publicUrl?: string | undefined
  readonly merging: Merging
  /** Turns per sender and hour, segments per organization and day; unlimited if absent. */
  readonly limits?: { readonly perHour: number; readonly segmentsPerDay: number } | undefined
}

/** Timing of the channel, in seconds. */
export const SmsTiming = Context.Reference<{
  readonly merging: Merging
  /** How long an answer may take before the sender gets an apology. */
  readonly apology: number
  readonly lease: number
  /** How often the worker polls for due senders. */
  readonly poll: number
  /** The timeout of a request to the provider. */
  readonly sending: number
}>("max/channels/sms/SmsTiming", {
  defaultValue: () => ({ merging: { quiet: 1.5, most: 6 }, apology: 20, lease: 30, poll: 2, sending: 10 })
})

/** The webhooks for messages and delivery reports. */
export const TWILIO_PATH = "/v1/sms/twilio"
export const TWILIO_STATUS_PATH = `${TWILIO_PATH}/status`

export class Lines extends Context.Service<
  Lines,
  {
    /** This server's public URL; undefined if it is not configured. */
    readonly publicUrl: string | undefined
    /** The line with this number; undefined if no organization has it. */
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
            publicUrl,
            merging,
            limits: { perHour: smsPerNumber, segmentsPerDay: smsSegments }
          }
        })
      })
    })
  )
}
