/** Answers an intent with its script; a follow-up is resolved against the earlier messages. */
import { Unavailable } from "../../domain/errors.ts"
import { uncapitalized } from "../english.ts"
import { browse } from "./browse.ts"
import { answerRequest, declineRequest } from "./deeds/answerRequest.ts"
import type { Conversation, Context, ContextType } from "./readConversation.ts"
import { introduce } from "./introduce.ts"
import { Intent, Subject } from "./Intent.ts"
import { readIntent } from "./readIntent.ts"
import { eqName } from "./locate.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { Condition, type Lookup } from "./Lookup.ts"
import { readNames } from "./readNames.ts"
import { apart, count, inParallel, listedTypes, type Script, UNREAD } from "./script.ts"
import { colleagues, describe, describeChosen, describeVia, isStatus, several } from "./describeSubject.ts"
import { type Token, written } from "./tokenize.ts"
import { amount, called, cannotDo, example, greeting, notForYou, tryThese, unclear } from "./replies.ts"

/** A context with this many types may be incomplete. */
const MANY_TYPES = 8

/** Answers the last message. */
export function* answer(conversation: Conversation): Script<string> {
  const { earlier, context, said } = conversation
  const request = answerRequest(conversation)
  if (request !== undefined) return yield* request
  const declined = declineRequest(conversation)
  const intent = resolveFollowUp(readIntent(said, context), earlier, context)
  if (declined !== undefined && !(intent._tag === "Introduce" && intent.sure)) return declined
  const open = intent._tag === "NotKnown" || intent._tag === "Unclear" || intent._tag === "Who"
  if (context.types.length < MANY_TYPES || !open) return yield* run(intent, earlier, context)
  const all = { ...context, types: yield* everyType(context.types) }
  return yield* run(resolveFollowUp(readIntent(said, all), earlier, all), earlier, all)
}

function* everyType(types: ReadonlyArray<ContextType>): Script<ReadonlyArray<ContextType>> {
  const listed = yield* listedTypes()
  const more = listed.filter(({ id }) => !types.some((type) => type.id === id))
  return [...types, ...more.map(({ id, name, pluralName }) => ({ id, name, plural: pluralName }))]
}

/** The last question, skipping messages that only selected from an answer. */
const previousIntent = (earlier: ReadonlyArray<string>, context: Context): Intent | undefined => {
  for (let at = earlier.length - 1; at >= 0; at--) {
    const intent = resolveFollowUp(readIntent(earlier[at]!, context), earlier.slice(0, at), context)
    if (intent._tag !== "Choose" && intent._tag !== "More" && intent._tag !== "Thanks") return intent
  }
  return undefined
}

/** Completes a follow-up from the intent before it. */
const resolveFollowUp = (intent: Intent, earlier: ReadonlyArray<string>, context: Context): Intent => {
  const last = () => previousIntent(earlier, context)
  switch (intent._tag) {
    case "Again": {
      const previous = last()
      if (previous?._tag !== "Browse") return Intent.Unclear({ tokens: [] })
      const conditions = previous.lookup.conditions.filter(({ _tag }) => _tag !== "Time")
      return Intent.Browse({
        ...previous,
        skip: 0,
        lookup: { ...previous.lookup, conditions: [...conditions, intent.condition] }
      })
    }
    case "Instead": {
      const previous = last()
      const { lookup, mode } = previous?._tag === "Browse" ? previous : { lookup: { conditions: [] }, mode: "list" as const } // prettier-ignore
      return Intent.Browse({ mode, skip: 0, lookup: { ...lookup, noun: intent.noun } })
    }
    case "More": {
      const previous = last()
      if (previous?._tag !== "Browse") return Intent.Unclear({ tokens: [] })
      const times = earlier.length - earlier.findLastIndex((text) => readIntent(text, context)._tag !== "More")
      return Intent.Browse({ ...previous, mode: "list", skip: 5 * (previous.mode === "count" ? times - 1 : times) })
    }
    case "Choose":
      // Two lists have two rows of each number.
      return last()?._tag === "Both" ? Intent.Unclear({ tokens: [] }) : intent
    case "Introduce": {
      // "she lives in Boston" adds a fact to the person of the last question.
      if (intent.names.some(({ rank }) => rank >= 2) || (context.focus ?? []).length < 2) return intent
      const previous = last()
      if (previous?._tag === "Introduce")
        return Intent.Introduce({ ...previous, facts: [...previous.facts, ...intent.facts] })
      if ((previous?._tag === "Who" || previous?._tag === "Detail") && previous.subject._tag === "Named") {
        return Intent.Introduce({
          ...intent,
          names: readNames(previous.subject.tokens, true),
          sure: true,
          ...(previous._tag === "Detail" ? { what: previous.what } : {})
        })
      }
      return intent
    }
    default:
      return intent
  }
}

function* run(intent: Intent, earlier: ReadonlyArray<string>, context: Context): Script<string> {
  switch (intent._tag) {
    case "Greeting":
      return greeting(context)
    case "Thanks":
      return "You're welcome."
    case "Bye":
      return "Goodbye."
    case "Help":
      return `I'm Max, in basic mode: no language model is connected, so I answer simple questions in English about what you may see. ${tryThese(context)} You can also describe a person: name and town or zip code, an e-mail address or a phone number.`
    case "Who":
      return yield* describe(intent.subject, context)
    case "Detail":
      return yield* describe(intent.subject, context, intent.what)
    case "Several":
      return yield* several(intent.subjects, intent.whole, context, intent.what)
    case "Is":
      return yield* isStatus(intent.subject, intent.words, context)
    case "Via":
      return yield* describeVia(intent.subject, intent.via, intent.what, context)
    case "Colleagues":
      return yield* colleagues(context)
    case "Request":
      return cannotDo(intent.of, context)
    case "Both":
      return (yield* inParallel(intent.intents.map((one) => run(one, earlier, context)))).join("\n\n")
    case "Separate":
      return `One question at a time, please: I count ${intent.count} here. Ask the first one: “${intent.first}”.`
    case "Foreign":
      return (yield* exactly(intent.tokens, context)) ?? intent.reply(example(context))
    case "Browse":
      return yield* browse(intent.mode, intent.lookup, intent.skip, context)
    case "Introduce":
      return yield* introduce(intent, context)
    case "Choose": {
      const previous = previousIntent(earlier, context)
      const what = previous?._tag === "Detail" || previous?._tag === "Introduce" ? previous.what : undefined
      return yield* describeChosen(intent.index, context, what)
    }
    case "Uncountable":
      return yield* uncountable(intent.lookup, context)
    case "Titled":
      return yield* titled(intent, context)
    case "NotKnown":
      return notForYou(context)
    case "Unclear":
      return (yield* exactly(intent.tokens, context)) ?? unclear(context)
    case "Again":
    case "Instead":
    case "More":
      return unclear(context)
  }
}

/** Rows of one type that are called so, in the singular or as it is said. */
function* titled({ mine, mode, title }: Extract<Intent, { _tag: "Titled" }>, context: Context): Script<string> {
  const types = context.types.filter(({ id }) => id !== PEOPLE && id !== "companies").slice(0, MAX_TYPES)
  const names = [...new Set([title.replace(/(?<=[^s])s$/, ""), title])]
  const tries = types.flatMap((type) => names.map((name) => ({ type, name })))
  const pages = yield* inParallel(
    tries.map(({ name, type }) => count({ entityTypeId: type.id, filters: eqName(name) }))
  )
  const hit = tries.find((_, index) => (pages[index]?.total ?? 0) > 0)
  if (hit === undefined) return notForYou(context)
  const conditions = [Condition.Called({ name: hit.name }), ...(mine ? [Condition.Mine()] : [])]
  return yield* browse(mode, { noun: { type: hit.type, said: hit.type.plural }, conditions }, 0, context)
}

/** The longest name that words which are no question can be. */
const MAX_NAME = 9
const MAX_TYPES = 5

/** A name to the letter, which may consist of any words: "Let There Be Rock". */
function* exactly(tokens: ReadonlyArray<Token>, context: Context): Script<string | undefined> {
  if (tokens.length === 0 || tokens.length > MAX_NAME) return undefined
  const types = context.types.slice(0, MAX_TYPES)
  const pages = yield* inParallel(
    types.map(({ id }) => apart(count({ entityTypeId: id, filters: eqName(written(tokens)) })))
  )
  if (pages.length > 0 && pages.every((page) => page === UNREAD)) return Unavailable.error.message
  return pages.some((page) => page !== UNREAD && (page?.total ?? 0) > 0)
    ? yield* describe(Subject.Named({ tokens }), context)
    : undefined
}

/** Declines an aggregate and offers the count instead. */
function* uncountable(lookup: Lookup | undefined, context: Context): Script<string> {
  const no = "I can't add up, average, group, rank or compare: I can only count and list."
  if (lookup === undefined) return `${no} ${tryThese(context)}`
  const { type } = lookup.noun
  const page = yield* count({ entityTypeId: type.id, filters: [] })
  const plural = called(type.plural, type, 2)
  return page === undefined
    ? no
    : `${no} What I can say: there ${page.total === 1 ? "is" : "are"} ${amount(page)} ${called(type.plural, type, page.total)}${page.limited === true ? " that you can see" : ""}. Try “list ${uncapitalized(plural)}” with a condition, such as a status or a time.`
}
