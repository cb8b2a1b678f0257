/** "Is Ada a customer", "is Ada won or lost": whether a status is the subject's. */
import { foldText } from "../../domain/keys.ts"
import { possessive } from "../english.ts"
import { type Answering, fromFocus, settle } from "./describeSubject.ts"
import { wordForms } from "./filterChoices.ts"
import type { Subject } from "./Intent.ts"
import { both, locate } from "./locate.ts"
import type { Context } from "./readConversation.ts"
import { nameOf, unclear } from "./replies.ts"
import { count, find, inParallel, type Script } from "./script.ts"

/** Whether a status is the subject's: answered only if the word is a status that exists. */
export function* isStatus(subject: Subject, words: string, context: Context, or?: string): Script<string> {
  if (subject._tag === "Focus") return yield* fromFocus(context, saysStatus(words, or), "")
  const located = yield* locate(subject, context)
  // Of several that are called so, one is chosen only if the word is a status: "is the gala fun" isn't about any of them.
  if (located._tag === "Target" && located.found.total > 1 && !(yield* isAnyStatus(located.type.id, words)))
    return unclear(context)
  return yield* settle(located, context, saysStatus(words, or), subject._tag === "Me")
}

const counted = (entityTypeId: string, forms: ReadonlyArray<string>) =>
  inParallel(forms.map((value) => count({ entityTypeId, filters: [{ columnId: "status", op: "eq", value }] })))

function* isAnyStatus(entityTypeId: string, words: string): Script<boolean> {
  const known = yield* counted(entityTypeId, wordForms(words).slice(0, 4))
  return known.some((one) => (one?.total ?? 0) > 0)
}

const saysStatus = (words: string, or?: string): Answering =>
  function* (target, context) {
    const forms = wordForms(words)
    const others = or === undefined ? [] : wordForms(or)
    const [page, known] = yield* both(
      find({ entityTypeId: target.type.id, filters: target.filters, limit: 1 }),
      counted(target.type.id, [...forms.slice(0, 4), ...others.slice(0, 2)])
    )
    const entity = page?.entities[0]
    const status = entity?.status
    if (entity === undefined || status === undefined || known.every((one) => (one?.total ?? 0) === 0))
      return unclear(context)
    if (or !== undefined) {
      // Both have to be statuses: "happy or sad" is another question.
      const isKnown = (from: number, to: number) => known.slice(from, to).some((one) => (one?.total ?? 0) > 0)
      const first = Math.min(forms.length, 4)
      if (!isKnown(0, first) || !isKnown(first, first + 2)) return unclear(context)
      return `${[...forms, ...others].includes(foldText(status)) ? "" : "Neither: "}${possessive(nameOf(entity))} status is ${status}.`
    }
    return `${forms.includes(foldText(status)) ? "Yes" : "No"}: ${possessive(nameOf(entity))} status is ${status}.`
  }
