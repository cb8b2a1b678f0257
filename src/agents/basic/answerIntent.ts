/** Which script answers an intent; what was meant before is read from the earlier messages. */
import { browse } from "./browse.ts"
import type { Conversation, Known, KnownType } from "./readConversation.ts"
import { introduce } from "./introduce.ts"
import { Intent } from "./Intent.ts"
import { readIntent } from "./readIntent.ts"
import type { Lookup } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { count, listedTypes, type Script } from "./script.ts"
import { tell, tellChosen } from "./describeSubject.ts"
import { amount, called, greeting, notForYou, small, tryThese, unclear } from "./replies.ts"

/** A context that names this many types may have left some out. */
const MANY_TYPES = 8

/** What to do about what was said last. */
export function* answer({ earlier, known, said }: Conversation): Script<string> {
  const intent = inContext(readIntent(said, known), earlier, known)
  const open = intent._tag === "NotKnown" || intent._tag === "Unclear" || intent._tag === "Who"
  if (known.types.length < MANY_TYPES || !open) return yield* act(intent, earlier, known)
  const all = { ...known, types: yield* everyType(known.types) }
  return yield* act(inContext(readIntent(said, all), earlier, all), earlier, all)
}

function* everyType(types: ReadonlyArray<KnownType>): Script<ReadonlyArray<KnownType>> {
  const listed = yield* listedTypes()
  const more = listed.filter(({ id }) => !types.some((type) => type.id === id))
  return [...types, ...more.map(({ id, name, pluralName }) => ({ id, name, plural: pluralName }))]
}

/** The last thing that was asked, leaving out what only picked from an answer. */
const before = (earlier: ReadonlyArray<string>, known: Known): Intent | undefined => {
  for (let at = earlier.length - 1; at >= 0; at--) {
    const intent = inContext(readIntent(earlier[at]!, known), earlier.slice(0, at), known)
    if (intent._tag !== "Choose" && intent._tag !== "More" && intent._tag !== "Thanks") return intent
  }
  return undefined
}

/** An intent that leans on the one before it, made whole. */
const inContext = (intent: Intent, earlier: ReadonlyArray<string>, known: Known): Intent => {
  const last = () => before(earlier, known)
  switch (intent._tag) {
    case "Again": {
      const previous = last()
      if (previous?._tag !== "Browse") return Intent.Unclear()
      const kept = previous.lookup.conditions.filter(({ _tag }) => _tag !== "Time")
      return Intent.Browse({
        ...previous,
        skip: 0,
        lookup: { ...previous.lookup, conditions: [...kept, intent.condition] }
      })
    }
    case "More": {
      const previous = last()
      if (previous?._tag !== "Browse") return Intent.Unclear()
      const times = earlier.length - earlier.findLastIndex((text) => readIntent(text, known)._tag !== "More")
      return Intent.Browse({ ...previous, mode: "list", skip: 5 * (previous.mode === "count" ? times - 1 : times) })
    }
    case "Introduce": {
      // "she lives in Boston", said of somebody who was named before.
      if (intent.names.some(({ rank }) => rank >= 2) || (known.focus ?? []).length < 2) return intent
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

function* act(intent: Intent, earlier: ReadonlyArray<string>, known: Known): Script<string> {
  switch (intent._tag) {
    case "Greeting":
      return greeting(known)
    case "Thanks":
      return "You're welcome."
    case "Bye":
      return "Goodbye."
    case "Help":
      return `I'm Max, in basic mode: no language model is connected, so I answer simple questions in English about what you may see. ${tryThese(known)} You can also describe a person: name and town or zip code, an e-mail address or a phone number.`
    case "Who":
      return yield* tell(intent.subject, known)
    case "Detail":
      return yield* tell(intent.subject, known, intent.what)
    case "Browse":
      return yield* browse(intent.mode, intent.lookup, intent.skip, known)
    case "Introduce":
      return yield* introduce(intent, known)
    case "Choose": {
      const previous = before(earlier, known)
      const what = previous?._tag === "Detail" || previous?._tag === "Introduce" ? previous.what : undefined
      return yield* tellChosen(intent.index, known, what)
    }
    case "Uncountable":
      return yield* uncountable(intent.lookup, known)
    case "NotKnown":
      return notForYou(known)
    case "Again":
    case "More":
    case "Unclear":
      return unclear(known)
  }
}

/** What can't be worked out, and the nearest thing that can. */
function* uncountable(lookup: Lookup | undefined, known: Known): Script<string> {
  const no = "I can't add up, average, group, rank or compare: I can only count and list."
  if (lookup === undefined) return `${no} ${tryThese(known)}`
  const { type } = lookup.noun
  const page = yield* count({ entityTypeId: type.id, filters: [] })
  const plural = called(type.plural, type, 2)
  return page === undefined
    ? no
    : `${no} What I can say: there ${page.total === 1 ? "is" : "are"} ${amount(page)} ${called(type.plural, type, page.total)}${page.limited === true ? " that you can see" : ""}. Try “list ${small(plural)}” with a condition, such as a status or a time.`
}
