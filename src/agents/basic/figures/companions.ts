/** "Who did I meet most often": groups of meetings by the people in them; each meeting is in the group of every one of them. */
import type { Captures } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { tokenize } from "../tokenize.ts"
import type { Asked } from "./Asked.ts"
import { counted, numberOf } from "./asking.ts"
import { rules, WHICH } from "./measures.ts"

const MEET =
  "(meet|meet with|met|met with|see|saw|seen|talk to|talk with|talked to|speak to|speak with|spoke to|spoken to|spoken with|meet up with|met up with)"
// Colleagues are only some of the people of meetings.
const PERSON = "(person|attendee|participant|guest)"
const PEOPLE = "(people|attendees|participants|guests)"
const OFTEN = "(often|frequently|regularly|times)"
const RARELY = "(least|the least|least often|the least often|fewest times|the fewest times|least frequently|rarest)"

const companions =
  (best?: { readonly upwards: boolean; readonly limit?: 1 }) =>
  ({ lookup = tokenize("meetings"), n, ...captures }: Captures, context: Context): Asked | undefined => {
    const asked = counted({ ...captures, lookup, by: tokenize("attendees") }, context)
    if (asked?.measure.lookup.noun.type.id !== "meetings") return undefined
    const limit = n === undefined ? best?.limit : numberOf(n)
    return {
      ...asked,
      besides: true,
      ...(best === undefined ? {} : { best: { upwards: best.upwards, ...(limit === undefined ? {} : { limit }) } })
    }
  }

/** Each as it is, and with a time or another condition at its end. */
const withTail = (...patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  patterns.flatMap((pattern) => [pattern, `${pattern} {tail}`])

const who = (often: string, most: string): ReadonlyArray<string> =>
  withTail(
    `(who|whom|with whom|with who) (did|do|have|had|am|was) {i} ${MEET} ${often}`,
    `(who|whom) (did|do|have|had) {i} (have|had|hold)? (the)? <${most}> {lookup} with`,
    `(with whom|with who) (did|do|have|had) {i} (have|had|hold)? (the)? <${most}> {lookup}`,
    `${WHICH} ${PERSON} (did|do|have|had) {i} ${MEET} ${often}`,
    `${WHICH} ${PERSON} (did|do|have|had) {i} (have|had|hold)? (the)? <${most}> {lookup} with`,
    `(with|by) which ${PERSON} (did|do|have|had) {i} (have|had|hold)? (the)? <${most}> {lookup}`,
    `(the)? ${PERSON} (who|that|whom)? {i} (have|had)? ${MEET} ${often}`
  )

const PRESENT = "(was|were|is|are|has been|have been|attended|joined|took part in|sat in)"

export const COMPANION_QUESTIONS = rules<Asked>(
  [
    [`who ${PRESENT} (in|at)? (the)? <most> {lookup}`, `${WHICH} ${PERSON} ${PRESENT} (in|at)? (the)? <most> {lookup}`],
    companions({ upwards: false, limit: 1 })
  ],
  [
    [
      `who ${PRESENT} (in|at)? (the)? <fewest> {lookup}`,
      `${WHICH} ${PERSON} ${PRESENT} (in|at)? (the)? <fewest> {lookup}`
    ],
    companions({ upwards: true, limit: 1 })
  ],
  [
    withTail(`how many (different|distinct|various)? ${PEOPLE} (did|do|have|had) {i} (have|had)? ${MEET}`),
    (captures, context) => {
      const asked = companions()(captures, context)
      return asked && { ...asked, number: true }
    }
  ],
  [who(`(the)? most ${OFTEN}?`, "most"), companions({ upwards: false, limit: 1 })],
  [who(RARELY, "fewest"), companions({ upwards: true, limit: 1 })],
  [
    withTail(
      `(which|what|the)? (top)? {n} ${PEOPLE} (did|do|have|had)? {i} (have|had)? ${MEET} (the)? most ${OFTEN}?`,
      `(the)? top {n} ${PEOPLE} (who|that|whom)? {i} (have|had)? ${MEET}`,
      `(which|what|the)? ${PEOPLE} (did|do|have|had)? {i} (have|had)? ${MEET} (the)? most ${OFTEN}?`
    ),
    companions({ upwards: false })
  ],
  [
    withTail(
      `how many {lookup} (did|do|have|had) {i} (have|had|hold)? with (each|every|each of my|each of the) (${[PERSON, PEOPLE].map((words) => words.slice(1, -1)).join("|")}|of them)?`,
      `how (often|many times) (did|do|have|had) {i} (have|had)? ${MEET} (each|every) ${PERSON}`
    ),
    companions()
  ]
)
