/**
 * Reads a request to change something. Every word has to be used: a request that says more than was understood is declined
 * whole, because half of it could be another change than the person wants.
 */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { Effort } from "../Effort.ts"
import { CARDINALS } from "../../english.ts"
import { nounAt } from "../Lookup.ts"
import { startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { clausesOf, isPlaceOf, JOINERS, withoutClosers, withoutOpeners } from "./clauses.ts"
import { combine } from "./combine.ts"
import { corrected, isRetracted, isTagged, isTakenBack } from "./corrections.ts"
import { Deed, Part, type Request, Setting } from "./Deed.ts"
import { isDuty, isFinishing } from "./duties.ts"
import { withNoun } from "./everything.ts"
import { exceptedIn } from "./exceptions.ts"
import { lengthAt } from "./lengths.ts"
import { withFollowUps } from "./followUps.ts"
import { FRAMES, isFrame } from "./frames.ts"
import { FUNCTION_WORDS, ORDERS } from "./lexicon.ts"
import { calendarOf, eitherDay, momentOf } from "./moments.ts"
import { CREATES, isValue, readCreate } from "./readCreate.ts"
import { couldBeName, EXCEPT, readSubject } from "./readSubject.ts"
import { pairsOf } from "./pairs.ts"
import { isPolite, reasonsOf } from "./reasons.ts"
import { respelt } from "./respelt.ts"
import { isOfCell, withCellMeant } from "./cellMeant.ts"
import {
  assigned,
  withExceptionApart,
  withExceptionLast,
  withoutAbsence,
  withIts,
  withOwner,
  withoutPlease,
  withSpelling
} from "./rewrite.ts"
import type { Rule } from "./parts.ts"
import { RULES } from "./rules.ts"
import { type Fits, indexed, matches, shapeOf } from "./shapes.ts"
import { inActive, inSingular, lemmatized, withoutAll } from "./verbForms.ts"
import { MAX_WORDS, readWords, type Said, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** The words of the longest set of rows. */
const MAX_SUBJECT = 26
/** More readings than this are too many to try. */
const MAX_READINGS = 24

/** A fifth more than the longest requests of the tests need. */
const MAX_EFFORT = 24_000
/** What an attempt costs: about its share of the time. */
const COSTS = { shapes: 100, capture: 1, subject: 2, join: 6 }

/** Every way in which the message asks for a change; none if it asks for something else, or for more. */
export const readRequest = (message: string, context: Context): Request =>
  readAgain(
    withSpelling(
      withOwner(
        withoutAbsence(
          withCellMeant(withFollowUps(withIts(withoutPlease(withExceptionLast(readWords(message)))), context), context),
          context
        )
      )
    ),
    context
  )

/** Reads words that were prepared before. */
export const readAgain = (said: Said, context: Context): Request => {
  const correction = corrected(said, calendarOf(context))
  if (isTagged(said) || isRetracted(said.words) || (correction === undefined && isTakenBack(said.words)))
    return { said, deeds: [], loose: [], framed: [] }
  const [effort, more] = [new Effort(MAX_EFFORT), new Effort(MAX_EFFORT / 2)]
  const [parts, others] = [partReader(context, effort), partReader(context, more)]
  const read = (each: Said) => readOne(each, context, parts, effort)
  const [before, instead] = [correction?.before ?? said, correction?.after].map((each) => each && read(each))
  const pairs =
    correction === undefined
      ? pairsOf(said)
          .map((two) => two.map((each) => ofOwnRows(readOne(each, context, others, more))))
          .filter((two) => two.every((each) => readingsOf(each).length > 0))
      : []
  const request =
    instead === undefined || [before!, instead].some((each) => readingsOf(each).length === 0)
      ? read(said)
      : { ...before!, instead }
  return effort.isSpent
    ? { said, deeds: [], loose: [], framed: [] }
    : { ...request, ...(pairs.length > 0 && !more.isSpent && { pairs }) }
}

/** The readings that name their rows: "it" is of the other request. */
const ofOwnRows = (request: Request): Request => {
  const own = (deeds: ReadonlyArray<Deed>) =>
    deeds.filter((deed) => deed._tag === "Create" || deed.subject._tag !== "It")
  return { ...request, deeds: own(request.deeds), loose: own(request.loose), framed: own(request.framed) }
}

const readOne = (
  said: Said,
  context: Context,
  parts: (clause: Words) => ReadonlyArray<Part>,
  effort: Effort
): Request => {
  const readSaid = (each: Said) => readParts(each, parts, effort)
  const signed = assigned(said)
  const plain = readSaid(said)
  const own = signed === undefined ? plain : withAll(plain, readSaid(signed))
  const general = context.types
    .slice(0, MAX_GENERAL)
    .flatMap((type) => withNoun(said, type) ?? [])
    .flatMap((each) => readingsOf(readSaid(each)))
    // "Everything can be done" tells of nothing.
    .filter(
      (deed) => deed._tag !== "Create" && deed.subject._tag === "Rows" && deed.subject.lookup.conditions.length > 0
    )
  const request = { ...own, framed: [...own.framed, ...general] }
  if (readingsOf(request).length > 0) return request
  const apart = withExceptionApart(said)
  const excepted = apart && readSaid(apart)
  if (excepted !== undefined && readingsOf(excepted).length > 0) return excepted
  const other = respelt(said)
  return other === undefined ? request : { ...readSaid(other), said }
}

/** Whether a message asks for a change in any way. */
export const asksForChange = (request: Request): boolean =>
  readingsOf(request).length > 0 || (request.pairs ?? []).length > 0

const readingsOf = ({ deeds, framed, loose }: Request): ReadonlyArray<Deed> => [...deeds, ...loose, ...framed]

const ALSO = [
  "(and|also|plus)? {x} (too|as well|likewise)",
  "(and|also)? (the)? same (goes|applies|holds)? (for|to|with) {x}",
  "(and)? (ditto|likewise) (for)? {x}"
].map(shapeOf)

/** A whole name, and no sentence: "Jamie Moore" of "Jamie Moore too". "Raj too" can be another owner. */
const isOnlyName = (words: Words): boolean =>
  words.length <= 6 &&
  (words.length > 1 || words[0]!.quoted === true) &&
  couldBeName(words) &&
  (words[0]!.capital || words[0]!.quoted === true || words[0]!.word === "the") &&
  !words.some(({ quoted, word }) => quoted !== true && SENTENCE.test(word))
const SENTENCE = /^(is|are|was|were|'s|has|have|had|to|goes|go|gets|get|should|must|needs?|wants?|will|can)$/

/** Types of which "everything" is tried. */
const MAX_GENERAL = 4

const readParts = (said: Said, parts: (clause: Words) => ReadonlyArray<Part>, effort: Effort): Request => {
  const { words } = said
  if (words.length < 2 || words.length > MAX_WORDS) return { said, deeds: [], loose: [], framed: [] }
  const mayFinish = !isDuty(said)
  const found = { deeds: new Map<string, Deed>(), loose: new Map<string, Deed>(), framed: new Map<string, Deed>() }
  for (const clauses of clausesOf(words)) {
    if (effort.isSpent) break
    const read = clauses.map(parts)
    if (read.some((each) => each.length === 0)) continue
    for (const { among, deed } of combine(read, words.at(-1)!.after.includes("?"), () => effort.spend(COSTS.join)))
      if (mayFinish || !isFinishing(deed)) found[among].set(JSON.stringify(deed), deed)
  }
  const few = (deeds: ReadonlyMap<string, Deed>) => (deeds.size > MAX_READINGS ? [] : [...deeds.values()])
  return { said, deeds: few(found.deeds), loose: few(found.loose), framed: few(found.framed) }
}

/** The readings of both; a new row has no sign before its name. */
const withAll = (plain: Request, signed: Request): Request => {
  const own = (deeds: ReadonlyArray<Deed>) => deeds.filter(({ _tag }) => _tag !== "Create")
  return {
    ...plain,
    deeds: [...plain.deeds, ...own(signed.deeds)],
    loose: [...plain.loose, ...own(signed.loose)],
    framed: [...plain.framed, ...own(signed.framed)]
  }
}

const compile = (rules: ReadonlyArray<Rule>) =>
  indexed(
    rules.flatMap(([shapes, build]) =>
      shapes.map((text) => ({ build, pattern: shapeOf(text), placed: text.includes("{place}") }))
    )
  )
const SHAPES = compile(RULES)
const FRAMED = compile(FRAMES)

const THEY: Word = { text: "they", word: "they", after: "", capital: false, start: 0, end: 0 }

/** Reads a clause as the parts that it can be. */
const partReader = (context: Context, effort: Effort) => {
  const calendar = calendarOf(context)
  const subjects = readSubject(context, calendar)
  const read = readOnce((words) => (effort.spend(COSTS.subject * words.length ** 2) ? subjects(words) : undefined))
  const isNoun = (words: Words) => words.length > 0 && nounAt(words, context)?.length === words.length
  const isPlace = isPlaceOf(isNoun)
  const fits: Fits = (name, words) => {
    if (!effort.spend(COSTS.capture)) return false
    const [first] = words
    switch (name) {
      case "x":
        return words.length <= MAX_SUBJECT
      case "p":
      case "who":
        return couldBeName(words)
      case "c":
      case "c2":
        return (
          words.length <= 4 &&
          !words.some(({ quoted }) => quoted) &&
          !FUNCTION_WORDS.has(first!.word) &&
          !FUNCTION_WORDS.has(words.at(-1)!.word) &&
          words.every(
            ({ word }, at) =>
              (!FUNCTION_WORDS.has(word) || word === "of") &&
              !/^\d/.test(word) &&
              // "Last contact" is a column, "first meeting" a row.
              (ORDERS[word] === undefined || (at === 0 && words.length === 2 && DATED.test(words[1]!.word)))
          )
        )
      case "t":
      case "t2":
        return momentOf(words, calendar) !== undefined || eitherDay(words, calendar) !== undefined
      case "s":
        return (
          words.length <= 3 &&
          isValue(words) &&
          !FUNCTION_WORDS.has(first!.word) &&
          // What stands after "to" is the value of another reading.
          !words.some(({ word }, at) => /^(to|as|into)$/.test(word) && words[at + 1]?.word !== "do")
        )
      case "h":
        return words.length <= 3 && /^(on|in|under)$/.test(first!.word) && isValue(words)
      case "d":
        return lengthAt(words)?.length === words.length
      case "n":
        return words.length <= 3 && words.every(({ word }) => !FUNCTION_WORDS.has(word) || /^(of|our)$/.test(word))
      case "place":
        return isPlace(words)
      case "link":
      case "more":
      case "taking":
      case "lacking":
        return isFrame(name, words)
      case "e":
        return words.length <= 5 && words.some(({ text }) => text.includes("@") || text.replace(/\D/g, "").length > 5)
      case "list":
        return isValue(words, true)
      case "o":
        return (
          words.length <= 4 && (isValue(words) || (first!.word === "the" && momentOf(words, calendar) !== undefined))
        )
      default:
        // "Done apart from Prepare the demo" is more than a value.
        if (
          words.some(
            ({ quoted }, at) => quoted !== true && EXCEPT.some((phrase) => startsWith(words.slice(at), phrase))
          )
        )
          return false
        // "the 14th of December" and "a week from today" are values, too.
        return isValue(words) || (/^(the|a)$/.test(first!.word) && momentOf(words, calendar) !== undefined)
    }
  }
  const known = new Map<string, ReadonlyArray<Part>>()

  const shaped = (words: Words, placed: boolean, rules = SHAPES): ReadonlyArray<Part> => {
    const found: Array<Part> = []
    if (!effort.spend(COSTS.shapes)) return found
    for (const shape of rules(words)) {
      if (shape.placed !== placed) continue
      for (const captures of matches(shape.pattern, words, fits)) {
        const made = shape.build(captures, read, calendar)
        if (made !== undefined) found.push(...("_tag" in made ? [made] : made))
      }
    }
    return found
  }

  /** "add Ada Lovelace to the crm", "we have a new lead called Ada", "they are a new lead". */
  const created = (words: Words, place: Words): ReadonlyArray<Part> =>
    CREATES.flatMap(({ bare, gives, moves = false, pattern, statement, titled }) =>
      [...matches(pattern, words, (name, taken) => name === "rest" || couldBeName(taken))].flatMap(({ rest, who }) => {
        const receiver = who === undefined ? {} : { receiver: [{ ...words[0]!, text: "for", word: "for" }, ...who] }
        const deeds = readCreate(
          rest!,
          context,
          { ...receiver, place, bare, titled, statement, moves, ...(gives === true && { gives }) },
          isPlace
        )
        return deeds.map((deed) => (statement ? Part.Statement({ deed, enough: false }) : Part.Order({ deed })))
      })
    )

  const kinds = (words: Words): ReadonlyArray<Part> =>
    KINDS.flatMap((pattern) =>
      [...matches(pattern, words, (name, taken) => (name === "n" ? isNoun(taken) : taken.length <= 6))].flatMap(
        ({ n, x }): ReadonlyArray<Part> => {
          const noun = nounAt(n!, context)!.noun
          if (noun.type.id !== PEOPLE || noun.kind === undefined) return []
          const subject = read(x!)
          if (subject?._tag === "It")
            return [
              Part.Statement({
                deed: Deed.Update({ subject, settings: [Setting.Value({ value: n! })] }),
                enough: false
              })
            ]
          return subject?._tag === "Named"
            ? [
                Part.Statement({
                  deed: Deed.Create({
                    type: noun.type,
                    kind: noun.kind,
                    name: subject.words,
                    rest: [],
                    people: [],
                    settings: []
                  }),
                  enough: false
                })
              ]
            : []
        }
      )
    )

  /** "we've got a new customer that has moved to proposal": what follows is about them. */
  const relative = (words: Words): ReadonlyArray<Part> =>
    [...matches(RELATIVE, words, (name, taken) => name === "rest" || (taken.length <= 3 && isNoun(taken)))].flatMap(
      ({ rest }) => shaped([THEY, ...rest!], false)
    )

  /** "Tasks without an owner: give them to Nia": the rows that the next clause is about. */
  const topic = (words: Words): ReadonlyArray<Part> => {
    const { after } = words.at(-1)!
    const subject = /[:,—–-]/.test(after) ? read(words[0]!.word === "for" ? words.slice(1) : words) : undefined
    if (subject === undefined || subject._tag === "It") return []
    return subject._tag === "Rows" || /[:—–-]/.test(after) ? [Part.Statement({ enough: false, subject })] : []
  }

  /** ", both of them", after a set. */
  const counted = (words: Words): ReadonlyArray<Part> => {
    const [, number] = OF_THEM.exec(words.map(({ quoted, word }) => (quoted === true ? '"' : word)).join(" ")) ?? []
    const count = number === "both" ? 2 : CARDINALS[number ?? ""]
    return number === undefined || (number !== "all" && count === undefined)
      ? []
      : [Part.Counted(count === undefined ? {} : { count })]
  }

  /** "Jamie Moore too", "same for Jamie Moore": another row for the change before. */
  const also = (words: Words): ReadonlyArray<Part> =>
    ALSO.flatMap((shape) => [...matches(shape, words, (_, taken) => isOnlyName(taken))]).flatMap(({ x }) => {
      const subject = read(x!)
      return subject?._tag === "Named" && subject.each === undefined ? [Part.Also({ subject })] : []
    })

  /** "Yuki asks that Rotate keys goes to Raj": what another person wants, which "please do so" has to follow. */
  const reported = (words: Words): ReadonlyArray<Part> =>
    [...matches(REPORTED, words, (name, taken) => name === "rest" || couldBeName(taken))].flatMap(({ rest }) =>
      shaped(rest!, false).flatMap((part) =>
        (part._tag === "Order" || part._tag === "Statement") && part.deed !== undefined
          ? [Part.Statement({ deed: part.deed, enough: false, isReported: true })]
          : []
      )
    )

  const unique = (parts: ReadonlyArray<Part>) => [
    ...new Map(parts.map((part): [string, Part] => [JSON.stringify(part), part])).values()
  ]

  return (clause: Words): ReadonlyArray<Part> => {
    const key = keyOf(clause)
    const before = known.get(key)
    if (before !== undefined) return before
    if (isPolite(clause)) return [Part.Reason({ isLoose: false })]
    const found = withoutOpeners(clause).flatMap((stage) => {
      const unplaced = withoutClosers(lemmatized(stage), isPlace, false)
      const bare = withoutAll(unplaced)
      const kept = withoutClosers(lemmatized(stage), isPlace, true)
      const singular = inSingular(bare)
      const active = inActive(bare)
      return [
        ...shaped(bare, false),
        ...(singular === undefined ? [] : shaped(singular, false).filter(isOfRows)),
        ...(active === undefined ? [] : shaped(active, false)),
        ...(bare.length < kept.length ? shaped(kept, true) : []),
        // "New task for me: …": whose it is.
        ...(isInstead(stage) ? [] : created(/:/.test(stage.at(-1)!.after) ? stage : bare, kept.slice(unplaced.length))),
        ...kinds(bare),
        ...relative(bare),
        ...reported(bare),
        ...topic(bare)
      ]
    })
    // "and need to be assigned to Nadia": the subject of the clause before.
    const implied = IMPLIED.test(withoutOpeners(clause).at(-1)![0]!.word)
      ? shaped([THEY, ...withoutClosers(withoutOpeners(clause).at(-1)!, isPlace, false)], false)
      : []
    const shapes = [...found, ...implied, ...exceptedIn(clause, context, calendar), ...counted(clause), ...also(clause)]
    const framed = withoutOpeners(clause)
      .flatMap((stage) => shaped(withoutClosers(lemmatized(stage), isPlace, false), false, FRAMED))
      .map((part): Part => ({ ...part, isFramed: true }) as Part)
    const own = unique([...shapes, ...framed])
    const isJoined = /^(and|then)$/.test(clause[0]!.word)
    // A statement of a value that no row has can be a reason: "she is a hot one".
    const isStated = shapes.every(({ _tag }) => _tag === "Statement")
    const reasons =
      isJoined || !isStated
        ? []
        : reasonsOf(withoutOpeners(clause).at(-1)!, read, shapes.length > 0, clause[0]!.word === "because")
    const details =
      shapes.length > 0 || JOINERS.has(clause[0]!.word)
        ? []
        : [Part.Detail({ rest: withoutClosers(clause, isPlace, false) })]
    const parts = [...own, ...reasons, ...details].map((part) => ofCell(part, clause))
    known.set(key, parts)
    return parts
  }
}

/** "Ada's phone is dead": marks what is told of a cell. */
const ofCell = (part: Part, clause: Words): Part => {
  if ((part._tag !== "Reason" && part._tag !== "Statement") || part.subject?._tag !== "Named") return part
  const [first, last] = [part.subject.words[0]!, part.subject.words.at(-1)!]
  const from = clause.findIndex(({ start }) => start === first.start)
  const to = clause.findIndex(({ end }) => end === last.end) + 1
  return isOfCell(clause, from, to) ? { ...part, isOfCell: true } : part
}

/** "Could we have the call with Nadia at 4 instead": it is there already. */
const isInstead = (words: Words): boolean =>
  words.at(-1)!.word === "instead" &&
  words.some(({ quoted, word }, at) => at < 3 && quoted !== true && /^(the|my|our)$/.test(word))

/** Tells the same words of a message, in the same spelling, from all others. */
const keyOf = (words: Words): string =>
  `${words[0]?.start}-${words.at(-1)?.end}-${words.map(({ after, word }) => word + after).join(" ")}`

/** Reads the same words once. */
const readOnce = <A>(read: (words: Words) => A): ((words: Words) => A) => {
  const known = new Map<string, { readonly value: A }>()
  return (words) => {
    const key = keyOf(words)
    const found = known.get(key) ?? { value: read(words) }
    known.set(key, found)
    return found.value
  }
}

/** Whether a part is about a set of rows, or about several names. */
const isOfRows = (part: Part): boolean =>
  (part._tag === "Order" || part._tag === "Statement") &&
  part.deed !== undefined &&
  part.deed._tag !== "Create" &&
  (part.deed.subject._tag === "Rows" || (part.deed.subject._tag === "Named" && part.deed.subject.each !== undefined))

const IMPLIED = /^(need|needs|should|must|has|have|will|is|are|to|can|ought|belong|belongs|go|goes)$/

/** What a column of dates can be called after "last" and "next". */
const DATED = /^(contact|contacted|call|visit|step|review|activity|reply|update|name)$/
const OF_THEM = /^(?:all (?:the )?)?(\S+) of (?:them|those|these)$/
const REPORTED = shapeOf(
  "{who} (asks|asked|says|said|wants|suggests|suggested|requests|requested|thinks|agreed|insists) (that)? {rest}"
)
const RELATIVE = shapeOf("<have> <article>? (new)? {n} (that|who|which) {rest}")
const KINDS = [
  "{x} (is|are|'s) (a|an|our|the|another) (new|newest|latest|brand new|potential)? {n}",
  "{x} (is|are|'s) (a|an|our|another) (new|brand new|potential)? {n} (for us|of ours)"
].map(shapeOf)
