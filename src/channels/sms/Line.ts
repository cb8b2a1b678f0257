/** A line: one of an organization's numbers, with its provider and limits. */
import { Context, Effect, Layer } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import { ConfigurationError, type Unavailable } from "../../domain/errors.ts"
import { TWILIO_PATH } from "../../domain/Sms.ts"
import { Env, readReference } from "../../env.ts"
import type { Merging } from "../../services/texting/SenderLeases.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { ON_PAGE, secretOf, SmsSettings } from "../../services/texting/SmsSettings.ts"
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

/** The webhook for delivery reports. */
export const TWILIO_STATUS_PATH = `${TWILIO_PATH}/status`

const GONE = ConfigurationError.of("The secret of a number is gone. Add the number again.")

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
      const secrets = yield* Secrets
      const { merging, sending } = yield* SmsTiming
      const twilio = makeTwilio({ url: twilioUrl, timeout: sending * 1000 })
      return Lines.of({
        publicUrl,
        of: Effect.fnUntraced(function* (phone) {
          const found = yield* settings.find(phone)
          if (found === undefined) return undefined
          const { account, secret } = found.number
          const ofNumber =
            secret === ON_PAGE
              ? secrets.read(found.organization, secretOf(phone)).pipe(
                  Effect.catchTag("OperatorError", ({ message }) => Effect.fail(ConfigurationError.of(message))),
                  Effect.flatMap((read) => (read === undefined ? Effect.fail(GONE) : Effect.succeed(read)))
                )
              : readReference("The secret of a number", secret)
          return {
            organization: found.organization,
            phone,
            provider: twilio,
            account,
            secret: (yield* ofNumber).secret,
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
