/** Answers an intent with its script; a follow-up is resolved against the earlier messages. */
import { Unavailable } from "../../domain/errors.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import { uncapitalized } from "../english.ts"
import { answerAsked, sayable } from "./declared/answerAsked.ts"
import { browse } from "./browse.ts"
import { comparison } from "./comparing.ts"
import { commonest } from "./figures/commonest.ts"
import { howLong } from "./howLong.ts"
import { answerRequest, declineRequest } from "./deeds/answerRequest.ts"
import type { Conversation, Context, ContextType } from "./readConversation.ts"
import { introduce } from "./introduce.ts"
import { Intent, Subject } from "./Intent.ts"
import { hasCue } from "./figures/readAsked.ts"
import { example as groupExample } from "./figures/resolveFigures.ts"
import { figures } from "./figures/answerFigures.ts"
import { eqName } from "./locate.ts"
import { continues, previousIntent, readTurn } from "./followUps.ts"
import { type Lookup, MANY_TYPES, nounAt } from "./Lookup.ts"
import { readBesides, readByParts } from "./readIntent.ts"
import { respell } from "./respell.ts"
import { titled } from "./titled.ts"
import { apart, columnsOf, count, inParallel, listedTypes, type Script, UNREAD } from "./script.ts"
import { colleagues } from "./colleagues.ts"
import { describe, describeChosen, describeVia, several } from "./describeSubject.ts"
import { isStatus } from "./isStatus.ts"
import { type Token, tokenize, written } from "./tokenize.ts"
import { atMoment } from "./underWay.ts"
import { called, cannotDo, declines, example, greeting, notForYou, tryThese, UNCLEAR, unclear } from "./replies.ts"

/** Intents that another type could change. */
const OPEN: ReadonlySet<Intent["_tag"]> = new Set([
  "NotKnown",
  "Unclear",
  "Titled",
  "Who",
  "Detail",
  "Figures",
  "Commonest",
  "Comparison",
  "Uncountable"
] as const)

/** Intents that another type could change in a message that may ask for figures. */
const CUED: ReadonlySet<Intent["_tag"]> = new Set(["Introduce", "Detail", "Several", "Is"] as const)

/** "How many tracks per genre" where only genres are known yet: a word before the noun can be another type. */
const isQualified = (intent: Intent): boolean =>
  intent._tag === "Browse" && intent.lookup.conditions.some(({ _tag }) => _tag === "Quality")

/** Answers the last message; what isn't understood also gets what the declared actions can do. */
export function* answer(conversation: Conversation): Script<string> {
  const reply = yield* respelt(conversation, yield* answered(conversation))
  return reply.startsWith(UNCLEAR) ? reply + sayable(conversation.actions) : reply
}

const NOT_FOUND = "I couldn't find "

const PERSONAL = /\b(?:her|his|him|she|he)\b/i
/** "Her phone" after an answer about a meeting. */
const isNoPerson = (intent: Intent, message: string, { focus = [] }: Context): boolean =>
  intent._tag === "Detail" &&
  intent.subject._tag === "Focus" &&
  focus.length === 1 &&
  focus[0]!.type !== PEOPLE &&
  PERSONAL.test(message)

/** A declined question, answered as its parts say where these are understood in another order. */
function* byParts({ context, earlier, said }: Conversation, reply: string): Script<string> {
  const isMissing = reply.startsWith(NOT_FOUND)
  if (!(declines(reply) || isMissing) || continues(said, earlier, context)) return reply
  const isWhole = context.types.length < MANY_TYPES
  const all = isWhole || !hasCue(tokenize(said)) ? context : { ...context, types: yield* everyType(context.types) }
  for (const other of isMissing ? readBesides(said, all) : readByParts(said, all)) {
    if (isNoPerson(other, said, all)) continue
    const again = yield* run(other, [], all)
    if (!declines(again)) return again
  }
  return reply
}

/** A declined message, answered as it is meant where words of the question are misspelt; the answer names them. */
function* respelt(conversation: Conversation, reply: string): Script<string> {
  const meant = declines(reply) ? respell(conversation.said, conversation.context) : undefined
  if (meant === undefined) return yield* byParts(conversation, reply)
  const again = yield* answered({ ...conversation, said: meant.text, canChange: false })
  const words = meant.changed.map(({ meant, said }) => `“${said}” as “${meant}”`).join(" and ")
  return declines(again) ? reply : `${again}\nI read ${words}.`
}

/** Answers the last message as it is written. */
export function* answered(conversation: Conversation): Script<string> {
  const { earlier, context, said } = conversation
  const asked = answerAsked(conversation)
  if (asked !== undefined) return yield* asked
  const request = answerRequest(conversation)
  const drafted = request && (yield* request)
  if (drafted !== undefined) return drafted
  const declined = declineRequest(conversation)
  const read = readTurn(said, earlier, context)
  const intent = isNoPerson(read, said, context) ? Intent.Unclear({ tokens: [] }) : read
  if (declined !== undefined && !(intent._tag === "Introduce" && intent.sure))
    return declined + sayable(conversation.actions)
  const open = OPEN.has(intent._tag) || ((CUED.has(intent._tag) || isQualified(intent)) && hasCue(tokenize(said)))
  if (context.types.length < MANY_TYPES || !open) return yield* run(intent, earlier, context)
  const all = { ...context, types: yield* everyType(context.types) }
  return yield* run(readTurn(said, earlier, all), earlier, all)
}

function* everyType(types: ReadonlyArray<ContextType>): Script<ReadonlyArray<ContextType>> {
  const listed = yield* listedTypes()
  const more = listed.filter(({ id }) => !types.some((type) => type.id === id))
  return [...types, ...more.map(({ id, name, pluralName }) => ({ id, name, plural: pluralName }))]
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
      return yield* isStatus(intent.subject, intent.words, context, intent.or)
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
    case "Browse": {
      const reply = yield* browse(intent.mode, atMoment(intent.lookup), intent.skip, context)
      return declines(reply) ? ((yield* ofOne(intent.lookup, context)) ?? reply) : reply
    }
    case "Comparison":
      return yield* comparison(intent, context)
    case "HowLong":
      return yield* howLong(intent.of, context)
    case "Commonest":
      return yield* commonest(intent, context)
    case "Introduce":
      return yield* introduce(intent, context)
    case "Choose": {
      const previous = previousIntent(earlier, context)
      const what = previous?._tag === "Detail" || previous?._tag === "Introduce" ? previous.what : undefined
      return yield* describeChosen(intent.index, context, what)
    }
    case "Figures":
      return yield* runFigures(intent, earlier, context)
    case "Uncountable":
      return yield* uncountable(intent.lookup, context)
    case "Titled":
      return (yield* titled(intent, context)) ?? (yield* run(intent.otherwise, earlier, context))
    case "NotKnown":
      return notForYou(context)
    case "Unclear":
      return (yield* exactly(intent.tokens, context)) ?? unclear(context)
    case "Regroup":
    case "Only":
    case "Again":
    case "Also":
    case "Instead":
    case "More":
      return unclear(context)
  }
}

/** "The artist of American Idiot", where no filter of artists fits it: a detail of the row with that name, if it has such a column. */
function* ofOne({ conditions, noun }: Lookup, context: Context): Script<string | undefined> {
  const [of, ...others] = conditions
  const isOne = others.length === 0 && (of?._tag === "With" || (of?._tag === "At" && of.preposition === "of"))
  const isOfPeople = noun.type.id === PEOPLE || noun.type.id === "companies"
  if (!isOne || isOfPeople || foldText(noun.said) !== foldText(noun.type.name)) return undefined
  // "Of the album American Idiot": its noun is a hint only.
  const name = of.words.slice(nounAt(of.words, context)?.length ?? 0)
  if (name.length === 0) return undefined
  const reply = yield* describe(Subject.Named({ tokens: name }), context, noun.said)
  return ["'", "'s"].some((owns) => reply.includes(`${owns} ${noun.said} is `)) ? reply : undefined
}

/** Groups and figures, or what else the words mean if they name no column. */
function* runFigures(
  { asked, otherwise }: Extract<Intent, { _tag: "Figures" }>,
  earlier: ReadonlyArray<string>,
  context: Context
): Script<string> {
  const reply = yield* figures(asked, context)
  if (reply !== undefined) return reply
  if (otherwise !== undefined) return yield* run(otherwise, earlier, context)
  const { type } = asked.measure.lookup.noun
  return `I can't group ${uncapitalized(type.plural)} by “${asked.by.map(written).join("” and “")}”. Try “list ${uncapitalized(called(type.plural, type, 2))}” to see what is known of them.`
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

/** Declines a figure that isn't understood, and offers the ones that are. */
function* uncountable(lookup: Lookup | undefined, context: Context): Script<string> {
  const no = "I can't work that figure out. I know counts, sums, averages, the highest and lowest, and groups."
  if (lookup === undefined) return `${no} ${tryThese(context)}`
  const { type } = lookup.noun
  return `${no} Try ${groupExample(type, yield* columnsOf(type.id))}.`
}
