/** Answers a request to change something: the hook of basic mode. A message that asks for nothing of the kind is left to the questions. */
import { choice } from "../buildIntent.ts"
import type { Context, Conversation, Focus } from "../readConversation.ts"
import { hasCue } from "../figures/readAsked.ts"
import { readIntent } from "../readIntent.ts"
import { tokenize } from "../tokenize.ts"
import type { Script } from "../script.ts"
import { draftDeed } from "./draftDeed.ts"
import type { Row } from "./rows.ts"
import { asksForChange, readRequest } from "./readRequest.ts"
import { notWhole } from "./wording.ts"
import { mayBeTelegram } from "./telegram.ts"
import { MAX_CHARACTERS, readWords } from "./words.ts"

/** Drafts what the message asks for; undefined, at once or after lookups, if it isn't a request. */
export const answerRequest = ({
  canChange,
  context,
  earlier,
  said
}: Conversation): Script<string | undefined> | undefined => {
  if (!canChange) return undefined
  if ((MAYBE.test(said) || ASSIGNED.test(said)) && !QUESTION.test(withoutFillers(said))) {
    const request = readRequest(said, context)
    // "Give me the number of invoices by weekday" gives nothing to me.
    const asked = MAYBE.test(said) ? NOT_REQUESTS : NOT_ASSIGNED
    const isShaped = request.deeds.length + request.loose.length + (request.pairs ?? []).length > 0
    if (asksForChange(request)) {
      const intent = readIntent(said, context)
      const isUnclear = NO_QUESTIONS.has(intent._tag) || (intent._tag === "Introduce" && !intent.sure)
      if (isShaped ? !asked.has(intent._tag) : isUnclear) return draftDeed(request, context)
    }
  }
  const index = choice(tokenize(said))
  const before = earlier.at(-1)
  if (index === undefined)
    return mayBeTelegram(readWords(said)) && isUnread(said, context)
      ? draftDeed(readRequest(said, context), context)
      : undefined
  if (before === undefined || !MAYBE.test(before)) return undefined
  const request = readRequest(before, context)
  const chosen = index === 0 ? context.focus?.at(-1) : context.focus?.[index - 1]
  const row = chosen && rowOf(chosen, context.types)
  return request.deeds.length === 0 || row === undefined ? undefined : draftDeed(request, context, row)
}

/** Whether a message is no question that can be answered. */
const isUnread = (said: string, context: Context): boolean =>
  !QUESTION.test(withoutFillers(said)) && !hasCue(tokenize(said)) && NO_QUESTIONS.has(readIntent(said, context)._tag)

const rowOf = ({ id, name, type: slug }: Focus, types: Conversation["context"]["types"]): Row | undefined => {
  const type = types.find((each) => each.id === slug)
  return type && { _tag: "Row", type, id, name }
}

/** Declines a message that begins as a request and wasn't understood whole; undefined for any other. */
export const declineRequest = ({ canChange, context, said }: Conversation): string | undefined =>
  canChange && begins(said) ? notWhole(context) : undefined

/** Words of which every request has at least one; other messages are not read as requests. */
const MAYBE =
  /\b(updat|set|sett|chang|edit|modif|correct|fix|amend|adjust|alter|switch|revis|mak|made|put|bring|mov|turn|flip|convert|promot|demot|advanc|progress|bump|upgrad|downgrad|reset|replac|enter|record|mark|flag|label|tag|log|list|regist|class|count|not|treat|show|shift|reschedul|push|postpon|delay|rebook|defer|renam|retitl|relabel|call|titl|nam|assign|reassign|re-assign|giv|hand|pass|transfer|allocat|delegat|rout|sen[dt]|delet|remov|cancel|drop|eras|get|rid|scrap|scratch|clear|purg|discard|eliminat|trash|bin|wip|nix|ax|tak|took|strik|cross|kill|throw|creat|add|schedul|book|arrang|plan|organi[sz]|open|start|begin|insert|includ|pencil|block|reserv|input|sav|new|need|want|have|has|slot|extend|lengthen|short|prolong|stretch|reduc|trim|cut|pull|slid|slip|becom|becam|should|must|will|is|now|go|goes|gone|own|owns|look|responsible|empty|blank|unset|can|could|may|let|instead|finish|complet|tick|check|done|->|→|=)/i

/** "Quinn Thomas: phone 512-555-0188", without a verb. */
const ASSIGNED = /[^\s:]:\s+\S/
/** What a message asks for instead of a change; without a verb it is a question if it can be one. */
const NOT_REQUESTS: ReadonlySet<string> = new Set(["Figures"])
const NOT_ASSIGNED: ReadonlySet<string> = new Set(["Figures", "Who", "Detail", "Browse", "List"])
/** What a message is as a question where only a frame reads it as a request. */
const NO_QUESTIONS: ReadonlySet<string> = new Set(["Request", "Unclear", "NotKnown"])

/** What a request may begin with before its verb. */
const FILLER = /^(?:please|can you|could you|would you|will you|kindly|hey|hi|max|ok|okay|so)[\s,]/i
const VERB =
  /^(?:delete|remove|cancel|rename|reassign|reschedule|postpone|delay|mark|update|set|assign|move|change|create|add|schedule|book|push|erase|drop|transfer)\b(?!\s(?:on|me|my mind)\b)/i
const MAX_FILLERS = 8
/** Characters of a condition before the comma that ends it. */
const MAX_CONDITION = 130

/** A message that begins so asks a question: "when you have time, …" doesn't. */
const QUESTION = /^(?:which|whose|whom|who|what|how|where|why|when(?! (?:you|she|he|they)))\b/i

/** Whether a message begins as a request to change something. */
const begins = (said: string): boolean => VERB.test(withoutFillers(said))

const withoutFillers = (said: string): string => {
  let rest = said.slice(0, MAX_CHARACTERS)
  for (let fillers = 0; fillers < MAX_FILLERS; fillers++) {
    rest = rest.replace(/^[\s\p{P}]+/u, "")
    const condition = /^if\b/i.test(rest) ? rest.slice(0, MAX_CONDITION).indexOf(",") + 1 : 0
    const filler = FILLER.exec(rest)?.[0].length ?? condition
    if (filler === 0) break
    rest = rest.slice(filler)
  }
  return rest
}
