/**
 * A typed yes, no or undo, decided by code before any model. A yes or a no counts only while exactly one change of the
 * conversation waits for this person, at level `once`; everything else is a question like any other.
 */
import { Effect } from "effect"
import type { Preview } from "../domain/Change.ts"
import { foldText } from "../domain/keys.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import { byWord } from "../domain/text.ts"
import type { Changes } from "../services/changes/Changes.ts"
import type { OpenSession } from "../services/conversations/Sessions.ts"
import type { Changing } from "./changing.ts"
import { SENTENCES } from "./sentences.ts"

type Word = "yes" | "no" | "undo"

/** Whole messages, folded and without punctuation. */
const MESSAGES: Readonly<Record<Word, ReadonlyArray<string>>> = {
  yes: ["yes", "y", "yes please", "yep", "yeah", "yes do it", "do it", "go ahead", "confirm", "change it"],
  no: ["no", "n", "no thanks", "nope", "dont", "do not", "no dont", "dont do it", "reject"],
  undo: ["undo", "undo it", "undo that", "undo this", "please undo", "undo please"]
}
const WORDS = byWord<Word>(
  Object.fromEntries(
    Object.entries(MESSAGES).flatMap(([word, texts]) => texts.map((text) => [text, word as Word] as const))
  )
)

/** Characters of the longest message that can be such a word. */
const MAX_MESSAGE = 40

const wordIn = (text: string): Word | undefined =>
  text.length > MAX_MESSAGE
    ? undefined
    : WORDS[
        foldText(text)
          .replace(/['’]/g, "")
          .replace(/[\s,.!]+/g, " ")
          .trim()
      ]

/** What came of a typed decision: the answer, and the change as it is now. */
interface Decided {
  readonly text: string
  readonly shown: ReadonlyArray<Preview>
}

/** Decides what the person typed; undefined where the message is an ordinary question. */
export const decideTyped = Effect.fnUntraced(function* (
  changes: Changes["Service"],
  changing: Changing | undefined,
  principal: Principal,
  session: OpenSession,
  asked: string
) {
  const word = wordIn(asked)
  if (word === undefined || changing?.confirms !== true || session.isNew || principal.anchorEntityId === "") return
  const { via } = changing
  const as = Effect.provideService(CurrentPrincipal, principal)
  const told = (message: string): Decided => ({ text: message, shown: [] })
  const decide = Effect.gen(function* () {
    const listed = yield* as(changes.list({ which: "mine", sessionId: session.id }))
    const pending = listed.filter(({ state }) => state === "open" || state === "waiting")
    if (word === "undo") {
      const last = listed.find(({ state }) => state === "applied")
      if (last === undefined || pending.length > 0) return undefined
      const { preview } = yield* as(changes.undo(last.changeId, via))
      return { text: SENTENCES.waits, shown: [preview] }
    }
    const [change, ...others] = pending
    if (change === undefined || others.length > 0 || change.state !== "open" || change.level !== "once")
      return undefined
    const { changeId } = change
    if (word === "no") {
      yield* as(changes.reject(changeId, via))
      return { text: SENTENCES.rejected, shown: [yield* as(changes.preview(changeId, via))] }
    }
    const { digest } = yield* as(changes.preview(changeId, via))
    if (digest === undefined) return told(SENTENCES.notWhole)
    const confirmed = yield* as(changes.confirm({ changeId, digest, via }))
    const after = yield* as(changes.preview(changeId, via))
    return confirmed._tag === "Applied"
      ? { text: confirmed.receipt.message, shown: [after] }
      : { text: SENTENCES.waits, shown: [after] }
  })
  return yield* decide.pipe(
    Effect.catch((error) =>
      error._tag === "Unavailable" || error._tag === "NotAdmitted"
        ? Effect.fail(error)
        : Effect.succeed(told(error.message))
    )
  )
})
