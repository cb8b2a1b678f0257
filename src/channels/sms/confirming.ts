/** A yes or a no by text: `OK 4821`, decided by code without a model, only for a change at level `once`. */
import { Effect } from "effect"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import type { Changes } from "../../services/changes/Changes.ts"
import type { SenderKey } from "../../services/texting/SenderLeases.ts"
import type { SmsCodes } from "../../services/texting/SmsCodes.ts"
import { linkOf } from "./changeText.ts"
import type { CodeMessage } from "./codes.ts"
import { NOTICES } from "./notices.ts"

export const VIA = { channel: "sms" }

/** Decides what a message with a code decides, and returns the answer. */
export const decideByCode = Effect.fnUntraced(function* (
  { code, word }: CodeMessage,
  key: SenderKey,
  principal: Principal,
  publicUrl: string | undefined,
  { changes, codes }: { readonly changes: Changes["Service"]; readonly codes: SmsCodes["Service"] }
) {
  if (word === "other") return NOTICES.codeWords
  const checked = yield* codes.check(key, principal.anchorEntityId, code)
  if (checked._tag === "Locked") return NOTICES.codesLocked
  if (checked._tag === "Wrong") return NOTICES.wrongCode
  const { changeId } = checked
  const decide = Effect.gen(function* () {
    const { complete, digest, level, receipt, state } = yield* changes.preview(changeId, VIA)
    // A message that is processed again after a crash gets the answer of the first time.
    if (receipt !== undefined) return receipt.message
    if (state === "rejected") return NOTICES.rejected
    if (state !== "open") return `Nothing was changed: it is ${state}.`
    if (word === "no") return yield* Effect.as(changes.reject(changeId, VIA), NOTICES.rejected)
    if (level !== "once" || !complete || digest === undefined)
      return `Nothing has changed yet. Look at this change and confirm it here: ${linkOf(publicUrl, changeId)}`
    const confirmed = yield* changes.confirm({ changeId, digest, via: VIA })
    return confirmed._tag === "Applied" ? confirmed.receipt.message : NOTICES.waits
  })
  return yield* decide.pipe(
    Effect.provideService(CurrentPrincipal, principal),
    Effect.catch((error) =>
      error._tag === "Unavailable" || error._tag === "NotAdmitted" ? Effect.fail(error) : Effect.succeed(error.message)
    )
  )
})
