/** "Who did I meet most often": groups of meetings by the people in them; each meeting is in the group of every one of them. */
import { untilNow } from "../conditionBuilders.ts"
import type { Captures } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { tokenize } from "../tokenize.ts"
import type { Asked } from "./Asked.ts"
import { boundOf, counted, numberOf } from "./asking.ts"
import { type Rule, rules, WHICH } from "./measures.ts"

const MEET =
  "(meet|meet with|met|met with|see|saw|seen|talk to|talk with|talked to|speak to|speak with|spoke to|spoken to|spoken with|meet up with|met up with)"
// Colleagues are only some of the people of meetings.
const PERSON = "(person|attendee|participant|guest)"
const PEOPLE = "(people|attendees|participants|guests)"
const OFTEN = "(often|frequently|regularly|times)"
const RARELY = "(least|the least|least often|the least often|fewest times|the fewest times|least frequently|rarest)"

/** `over`: "did" asks for meetings that are over. */
const companions =
  (over: boolean, best?: { readonly upwards: boolean; readonly limit?: 1 }) =>
  ({ lookup = tokenize("meetings"), n, ...captures }: Captures, context: Context): Asked | undefined => {
    const asked = counted({ ...captures, lookup, by: tokenize("attendees") }, context)
    // "We" are several: whose own group is left out?
    if (asked?.measure.lookup.noun.type.id !== "meetings" || captures["i"]?.[0]?.word === "we") return undefined
    const limit = n === undefined ? best?.limit : numberOf(n)
    const { measure } = asked
    const conditions = [...measure.lookup.conditions, ...(over ? [untilNow(context.today)] : [])]
    return {
      ...asked,
      measure: { ...measure, lookup: { ...measure.lookup, conditions } },
      besides: true,
      ...(best === undefined ? {} : { best: { upwards: best.upwards, ...(limit === undefined ? {} : { limit }) } })
    }
  }

/** Groups by the people of meetings that are over, the asker among them: "who attended more than five meetings". */
const attending =
  (ask: (captures: Captures) => Partial<Asked> | undefined) =>
  (captures: Captures, context: Context): Asked | undefined => {
    const asked = counted({ ...captures, by: tokenize("attendees") }, context)
    const more = ask(captures)
    if (more === undefined || asked?.measure.lookup.noun.type.id !== "meetings") return undefined
    const { measure } = asked
    const conditions = [...measure.lookup.conditions, untilNow(context.today)]
    return { ...asked, ...more, measure: { ...measure, lookup: { ...measure.lookup, conditions } } }
  }
const ATTENDED =
  "(attended|were in|was in|took part in|sat in|joined|went to|were at|was at|have attended|has attended|participated in)"

/** Each as it is, and with a time or another condition at its end. */
const withTail = (...patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  patterns.flatMap((pattern) => [pattern, `${pattern} {tail}`])

const who = (often: string, most: string, do_: string): ReadonlyArray<string> =>
  withTail(
    `(who|whom|with whom|with who) ${do_} {i} ${MEET} ${often}`,
    `(who|whom) ${do_} {i} (have|had|hold)? (the)? <${most}> {lookup} with`,
    `(with whom|with who) ${do_} {i} (have|had|hold)? (the)? <${most}> {lookup}`,
    `${WHICH} ${PERSON} ${do_} {i} ${MEET} ${often}`,
    `${WHICH} ${PERSON} ${do_} {i} (have|had|hold)? (the)? <${most}> {lookup} with`,
    `(with|by) which ${PERSON} ${do_} {i} (have|had|hold)? (the)? <${most}> {lookup}`
  )

const MOST = `(the)? most ${OFTEN}?`
const EACH = `(each|every|each of my|each of the) (${[PERSON, PEOPLE].map((words) => words.slice(1, -1)).join("|")}|of them)?`

const inTense = (over: boolean): ReadonlyArray<Rule<Asked>> => {
  const do_ = over ? "(did|have|had|was)" : "(do|am)"
  return [
    [
      withTail(`how many (different|distinct|various)? ${PEOPLE} ${do_} {i} (have|had)? ${MEET}`),
      (captures, context) => {
        const asked = companions(over)(captures, context)
        return asked && { ...asked, number: true }
      }
    ],
    [who(MOST, "most", do_), companions(over, { upwards: false, limit: 1 })],
    [who(RARELY, "fewest", do_), companions(over, { upwards: true, limit: 1 })],
    [
      withTail(
        `(which|what) (top)? {n} ${PEOPLE} ${do_} {i} (have|had)? ${MEET} ${MOST}`,
        `(which|what) ${PEOPLE} ${do_} {i} (have|had)? ${MEET} ${MOST}`
      ),
      companions(over, { upwards: false })
    ],
    [
      withTail(
        `how many {lookup} ${do_} {i} (have|had|hold)? with ${EACH}`,
        `how (often|many times) ${do_} {i} (have|had)? ${MEET} (each|every) ${PERSON}`
      ),
      companions(over)
    ]
  ]
}

export const COMPANION_QUESTIONS = rules<Asked>(
  [
    [
      `(which|what|the|name the|list the|show the)? ${PEOPLE} (that|who)? ${ATTENDED} {compared} {n} {lookup}`,
      `who ${ATTENDED} {compared} {n} {lookup}`
    ],
    attending(({ compared, n }) => {
      const having = boundOf(compared, n!)
      return having && { having }
    })
  ],
  [
    [
      `how many (different|distinct)? (people|persons|attendees|participants|guests) ${ATTENDED} (a|an|any|at least one|one or more|some)? {lookup}`,
      "how many (different|distinct)? (people|persons|attendees|participants|guests) (were there|took part) in (a|an|any|at least one)? {lookup}"
    ],
    attending(() => ({ number: true }))
  ],
  ...inTense(true),
  ...inTense(false),
  [
    withTail(`(the)? ${PERSON} (who|that|whom)? {i} (have|had)? (met|met with|saw|seen) ${MOST}`),
    companions(true, { upwards: false, limit: 1 })
  ],
  [
    withTail(`(the)? top {n} ${PEOPLE} (who|that|whom)? {i} (have|had)? (met|met with|saw|seen)`),
    companions(true, { upwards: false })
  ],
  [
    [
      `who (was|were|has been|have been|attended|joined) (in|at)? (the)? <most> {lookup}`,
      `${WHICH} ${PERSON} (was|has been|attended|joined) (in|at)? (the)? <most> {lookup}`
    ],
    companions(true, { upwards: false, limit: 1 })
  ],
  [
    [
      `who (was|were|has been|have been|attended|joined) (in|at)? (the)? <fewest> {lookup}`,
      `${WHICH} ${PERSON} (was|has been|attended|joined) (in|at)? (the)? <fewest> {lookup}`
    ],
    companions(true, { upwards: true, limit: 1 })
  ]
)
