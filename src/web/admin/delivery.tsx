/** How far a text came, in words. */
import type { BadgeKind } from "./parts.tsx"

export type Label = readonly [text: string, kind?: BadgeKind]

/** The delivery state of a sent text. */
export const SENT: Readonly<Record<string, Label>> = {
  queued: ["Waiting to be sent"],
  trying: ["Being sent"],
  accepted: ["On its way"],
  sent: ["Sent"],
  delivered: ["Delivered", "good"],
  undelivered: ["Not delivered", "bad"],
  dead: ["Not sent", "bad"]
}

/** Twilio's codes for the reasons that an administrator can do something about. */
const REASONS: Readonly<Record<string, string>> = {
  20003: "Twilio refuses the account or its token",
  20429: "too many requests to Twilio at once",
  21211: "the person's number isn't a valid one",
  21408: "the Twilio account may not text to that country",
  21606: "the number isn't one of the account's that can text",
  21608: "a trial account texts to numbers only that were verified at Twilio",
  21610: "the person has sent STOP to this number",
  21612: "no carrier leads from this number to that one",
  21614: "the person's number can't receive texts",
  21659: "the number isn't one of the account's",
  30002: "the Twilio account is suspended",
  30003: "the phone can't be reached: it is off or out of range",
  30004: "the person or their carrier blocks texts from this number",
  30005: "the number isn't in use",
  30006: "the number is a landline, or its carrier can't be reached",
  30007: "the carrier took it for spam",
  30008: "the carrier gave no reason",
  30032: "the toll-free number isn't verified yet",
  30034: "the number isn't registered for business texts (A2P 10DLC)"
}

/** Why a text isn't delivered: Max's own reason, or the provider's code with its meaning. */
export const Reason = ({ error }: { readonly error: string | undefined }) => {
  if (error === undefined) return null
  const known = REASONS[error]
  return (
    <div class="soft fine">
      {!/^\d+$/.test(error) ? error : known === undefined ? `code ${error}` : `${known} (code ${error})`}
    </div>
  )
}
