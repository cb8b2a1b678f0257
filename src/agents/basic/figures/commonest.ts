/** "What is the most common status": the one type that has such a column is counted. */
import { uncapitalized } from "../../english.ts"
import { Intent } from "../Intent.ts"
import type { Context } from "../readConversation.ts"
import { and, called, tryThese } from "../replies.ts"
import { apart, columnsOf, inParallel, type Script, UNREAD } from "../script.ts"
import { written } from "../tokenize.ts"
import { figures } from "./answerFigures.ts"
import { spotsFor, targetOf } from "./columns.ts"

type Commonest = Extract<Intent, { _tag: "Commonest" }>

/** Types whose columns are looked up. */
const MAX_TYPES = 12

export function* commonest({ by, popular, upwards }: Commonest, context: Context): Script<string> {
  const types = context.types.slice(0, MAX_TYPES)
  const columns = yield* inParallel(types.map(({ id }) => apart(columnsOf(id))))
  const found = types.flatMap((type, at) => {
    const own = columns[at]!
    const [spot, ...others] = own === UNREAD ? [] : spotsFor(by, own, new Map(), context, 0, false)
    return spot === undefined || others.length > 0 ? [] : [{ type, spot }]
  })
  const words = written(by)
  const asked = (type: (typeof types)[number]) =>
    `“which ${words} has the ${upwards ? "fewest" : "most"} ${called(type.plural, type, 2)}”`
  const [first] = found
  if (first === undefined) return `I can't tell what to count by “${words}”. ${tryThese(context)}`
  // A popular genre may be one of many tracks, or of tracks that are sold often.
  if (found.length > 1 || (popular && targetOf(first.spot.column) !== undefined))
    return `I can't tell what to count by ${uncapitalized(words)}. Try ${and(
      found.slice(0, 3).map(({ type }) => asked(type)),
      "or"
    )}.`
  const lookup = { noun: { type: first.type, said: first.type.plural }, conditions: [] }
  return (
    (yield* figures({ measure: { figure: "count", lookup }, by: [by], best: { upwards, limit: 1 } }, context)) ??
    `I can't tell what to count by “${words}”. ${tryThese(context)}`
  )
}
