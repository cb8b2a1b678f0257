/** Verbs in other forms than the shapes have, and words of number beside them. */
import { byWord } from "../../../domain/text.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** "The tasks can all be done": all of them, as without the word. */
export const withoutAll = (words: Words): Words =>
  words.filter(
    ({ quoted, word }, at) =>
      at < 2 ||
      quoted === true ||
      !/^(all|both|each)$/.test(word) ||
      !AUXILIARY.test(words[at - 1]?.word ?? "") ||
      /^(i|we)$/.test(words[at - 2]!.word)
  )
const AUXILIARY = /^(can|could|should|must|will|may|need|are|have|were)$/

/** "all leads are moving to Raj": the verb as of one row. */
export const inSingular = (words: Words): Words | undefined =>
  words.slice(1).some(({ quoted, word }) => quoted !== true && SINGULARS[word] !== undefined)
    ? words.map((each, at) =>
        at === 0 || each.quoted === true || SINGULARS[each.word] === undefined
          ? each
          : { ...each, word: SINGULARS[each.word]! }
      )
    : undefined
const SINGULARS: Readonly<Record<string, string>> = byWord({
  are: "is",
  were: "was",
  have: "has",
  get: "gets",
  go: "goes",
  belong: "belongs",
  move: "moves",
  "'re": "is"
})

/** "would you mind deleting": the verb's base form. */
export const lemmatized = (words: Words): Words => {
  const [first, ...rest] = words
  const base = first === undefined ? undefined : GERUNDS[first.word]
  return base === undefined ? words : [{ ...first!, word: base }, ...rest]
}
const GERUNDS: Readonly<Record<string, string>> = Object.assign(
  Object.create(null),
  Object.fromEntries(
    "updating:update setting:set changing:change marking:mark moving:move deleting:delete removing:remove canceling:cancel cancelling:cancel dropping:drop adding:add creating:create scheduling:schedule booking:book renaming:rename pushing:push delaying:delay postponing:postpone assigning:assign reassigning:reassign giving:give handing:hand transferring:transfer switching:switch shifting:shift putting:put making:make taking:take getting:get calling:call bringing:bring arranging:arrange editing:edit correcting:correct registering:register entering:enter rescheduling:reschedule flagging:flag raising:raise lowering:lower extending:extend shortening:shorten passing:pass cutting:cut"
      .split(" ")
      .map((pair) => pair.split(":"))
  )
)

const PARTICIPLES: Readonly<Record<string, string>> = Object.assign(
  Object.create(null),
  Object.fromEntries(
    "updated:update set:set changed:change marked:mark moved:move deleted:delete removed:remove cancelled:cancel canceled:cancel dropped:drop renamed:rename pushed:push delayed:delay postponed:postpone assigned:assign reassigned:reassign given:give handed:hand transferred:transfer switched:switch shifted:shift put:put made:make brought:bring rescheduled:reschedule flagged:flag raised:raise lowered:lower extended:extend shortened:shorten passed:pass cut:cut bumped:bump"
      .split(" ")
      .map((pair) => pair.split(":"))
  )
)
const MUST = /^(should|must|needs|need|has|have|ought)$/
/** What can stand between the verbs of "should now be moved". */
const BETWEEN = /^(to|be|get|now|all|please|just)$/

/** "Its follow-up needs pushing back a week", "Order laptops has to be moved to Friday": what is to be done, as a request. */
export const inActive = (words: Words): Words | undefined => {
  const must = words.findIndex(({ quoted, word }, at) => at > 0 && quoted !== true && MUST.test(word))
  if (must < 1) return undefined
  let at = must + 1
  while (words[at] !== undefined && words[at]!.quoted !== true && BETWEEN.test(words[at]!.word)) at += 1
  const verb = words[at]
  if (verb === undefined || verb.quoted === true) return undefined
  const between = words.slice(must + 1, at).map(({ word }) => word)
  const isPassive = between.includes("be") || between.includes("get")
  // "Needs moving" without "be"; "needs to move" says who moves.
  const isNeed = /^needs?$/.test(words[must]!.word) && between.every((word) => /^(now|all|please|just)$/.test(word))
  const base = isPassive ? PARTICIPLES[verb.word] : isNeed ? GERUNDS[verb.word] : undefined
  // "Moved by Raj", "set up" and "handed in" say something else.
  const goesOn = /^(to|back|forward|into|over|from)$/.test(words[at + 1]?.word ?? "")
  return base === undefined || !goesOn
    ? undefined
    : [{ ...verb, text: base, word: base, after: "" }, ...words.slice(0, must), ...words.slice(at + 1)]
}
