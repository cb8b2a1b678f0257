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
    "updating:update setting:set changing:change marking:mark moving:move deleting:delete removing:remove canceling:cancel cancelling:cancel dropping:drop adding:add creating:create scheduling:schedule booking:book renaming:rename pushing:push delaying:delay postponing:postpone assigning:assign reassigning:reassign giving:give handing:hand transferring:transfer switching:switch shifting:shift putting:put making:make taking:take getting:get calling:call bringing:bring arranging:arrange editing:edit correcting:correct registering:register entering:enter rescheduling:reschedule flagging:flag"
      .split(" ")
      .map((pair) => pair.split(":"))
  )
)
