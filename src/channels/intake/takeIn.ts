/**
 * A ticket or an e-mail: one turn of the integration's member, in a conversation that belongs to the message. Its author is
 * no principal: what the message drafts needs another member's approval (services/changes/level.ts), and nothing that it
 * says confirms.
 */
import { Effect, Stream } from "effect"
import { MaxAgent } from "../../agents/MaxAgent.ts"
import { cleaned } from "../../agents/question.ts"
import { SENTENCES } from "../../agents/sentences.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { InvalidInput, Unavailable } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { Changes } from "../../services/changes/Changes.ts"
import { Conversations } from "../../services/conversations/Conversations.ts"
import { type Source, Sources, type Taken } from "../../services/conversations/Sources.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import { ownWords } from "./ownWords.ts"

/** A message that an integration hands in. */
export interface Message extends Source {
  readonly text: string
  readonly credentialId?: string | undefined
}

/** Characters of a message with everything that it quotes. */
const MAX_MESSAGE = 200_000

const tooLong = InvalidInput.of(`A message has at most ${MAX_MESSAGE} characters.`)
const otherText = InvalidInput.of("This sourceId was taken in with another text. Give each message an id of its own.")

/** Answers a message, or says what came of it when it was answered before. A turn that fails is returned as its event. */
export const takingIn = Effect.gen(function* () {
  const agent = yield* MaxAgent
  const changes = yield* Changes
  const conversations = yield* Conversations
  const queries = yield* EntityQueryService
  const sources = yield* Sources

  const outcomeOf = Effect.fnUntraced(function* (principal: Principal, { session }: Taken, known: boolean) {
    const owner = { organizationId: principal.organizationId, anchorId: principal.anchorEntityId }
    const basis = yield* queries.basis(owner)
    const found = yield* conversations.show(owner, session, basis, { limit: 1 })
    const answered = found?.turns[0]?.answered
    const drafted = yield* Effect.catch(changes.list({ which: "mine", sessionId: session }), (error) =>
      // Changes are switched off: none is shown.
      error._tag === "Unavailable" ? Effect.fail(error) : Effect.succeed([])
    )
    return { conversation: session, known, ...(answered === undefined ? {} : { reply: answered }), changes: drafted }
  })

  return Effect.fn("intake")(function* (organization: Organization, message: Message) {
    const principal = yield* CurrentPrincipal
    const owner = { organizationId: principal.organizationId, anchorId: principal.anchorEntityId }
    if (message.text.length > MAX_MESSAGE) return yield* tooLong
    const text = ownWords(message.text)
    const before = yield* sources.find(owner, message)
    if (before !== undefined) return yield* again(principal, before, text)
    const events = yield* agent
      .turn({
        organization,
        who: principal,
        say: { text },
        changes: {
          via: { channel: "intake", credentialId: message.credentialId },
          confirms: false,
          waits: SENTENCES.waitsForAnother
        },
        persist: (save, { session }) => sources.keep(owner, message, session, save)
      })
      .pipe(Stream.runCollect)
    const last = events.at(-1)
    if (last?._tag === "done") return yield* outcomeOf(principal, { session: last.session, asked: text }, false)
    // The same message, taken in at the same time, was stored first.
    const taken = yield* sources.find(owner, message)
    if (taken !== undefined) return yield* again(principal, taken, text)
    return last?._tag === "error" ? last : yield* Effect.fail(Unavailable.error)
  })

  function again(principal: Principal, taken: Taken, text: string) {
    return taken.asked === cleaned(text) ? outcomeOf(principal, taken, true) : Effect.fail(otherText)
  }
})
