/** Answers requests for declared actions: what reads first, then one draft of the others; what is missing is asked for. */
import { READ } from "../../../domain/DeclaredAction.ts"
import { choice } from "../buildIntent.ts"
import { DRAFTED } from "../deeds/wording.ts"
import { reasonOf } from "../deeds/vocabulary.ts"
import type { Conversation } from "../readConversation.ts"
import { type Script, tool } from "../script.ts"
import { tokenize } from "../tokenize.ts"
import { type Asked, missingOf, readAnswer, readPlan } from "./readAsked.ts"

type Values = Record<string, string>

/** Where a conversation stands: the values that identify something, and the requests of the last message with any. */
interface Standing {
  readonly known: Values
  readonly asked: ReadonlyArray<Asked>
  /** Whether the last message asked for something, or told what was missing. */
  readonly isAnswered: boolean
}

const after = (standing: Standing, text: string, actions: Conversation["actions"]): Standing => {
  const plan = readPlan(text, actions, standing.known)
  if (plan !== undefined) return { ...plan, isAnswered: true }
  const at = standing.asked.findIndex((each) => missingOf(each) !== undefined)
  const open = standing.isAnswered ? standing.asked[at] : undefined
  const field = open && missingOf(open)
  const value = field && readAnswer(text, field)
  if (open === undefined || field === undefined || value === undefined) return { ...standing, isAnswered: false }
  const filled = { ...open, values: { ...open.values, [field.slug]: value } }
  return {
    known: { ...standing.known, [field.slug]: value },
    asked: standing.asked.map((each, index) => (index === at ? filled : each)),
    isAnswered: true
  }
}

/** Answers a message that asks for declared actions, or tells what one lacks; undefined if it does neither. */
export const answerAsked = ({ actions, earlier, said }: Conversation): Script<string> | undefined => {
  if (actions.length === 0) return undefined
  const before = earlier.reduce<Standing>((standing, text) => after(standing, text, actions), {
    known: {},
    asked: [],
    isAnswered: false
  })
  const now = after(before, said, actions)
  if (now.isAnswered) return doing(now.asked)
  const chosen = before.isAnswered ? choice(tokenize(said)) : undefined
  return chosen === undefined ? undefined : doing(before.asked, chosen)
}

const stepOf = ({ action, values }: Asked) => ({
  actionId: action.slug,
  values: Object.entries(values).map(([slug, value]) => `${slug}=${value}`)
})

function* doing(asked: ReadonlyArray<Asked>, chosen?: number): Script<string> {
  for (const each of asked) {
    const field = missingOf(each)
    if (field === undefined) continue
    // Refused for what it lacks, with which a form can be offered beside the question.
    if (each.action.category !== READ) yield* tool("requestAction", stepOf(each))
    const values = field.values === undefined ? "" : `: ${field.values.slice(0, MAX_CHOICES).join(", ")}`
    return `“${each.action.name}” needs ${field.name}${values}. Which one?`
  }
  const replies: Array<string> = []
  let isDrafted = false
  const isRead = ({ action }: Asked) => action.category === READ
  for (const each of [...asked.filter(isRead), ...asked.filter((one) => !isRead(one))]) {
    const done = yield* one(each, chosen)
    if ("problem" in done) return [...replies, done.problem].join("\n\n")
    if (done.text !== undefined) replies.push(done.text)
    else isDrafted = true
  }
  return [...replies, ...(isDrafted ? [DRAFTED] : [])].join("\n\n")
}

const MAX_CHOICES = 8

interface Choice {
  readonly id?: string
  readonly value?: string
  readonly name: string
}

function* one(asked: Asked, chosen: number | undefined): Script<{ text?: string } | { problem: string }> {
  const answer = yield* tool("requestAction", stepOf(asked))
  const { choices, read } = (answer.value ?? {}) as { choices?: ReadonlyArray<Choice>; read?: ReadonlyArray<Values> }
  if (answer.value === undefined) return { problem: reasonOf(answer.text) }
  if (read !== undefined) return { text: shown(asked, read) }
  if (choices === undefined) return {}
  const question = reasonOf(answer.text.split("\n")[0]!)
  const [field] = question.split(":")
  const picked = chosen === undefined ? undefined : chosen === 0 ? choices.at(-1) : choices[chosen - 1]
  if (picked !== undefined && field !== undefined && asked.values[field] !== undefined)
    return yield* one({ ...asked, values: { ...asked.values, [field]: picked.value ?? picked.id ?? "" } }, undefined)
  return { problem: [question, ...choices.map(({ name }, index) => `${index + 1}. ${name}`)].join("\n") }
}

const MAX_SHOWN = 25

/** What was read: the names and texts of one entry, or a line for each of several. */
const shown = ({ action }: Asked, rows: ReadonlyArray<Values>): string => {
  const isList = action.executor._tag === "Http" && action.executor.entries !== undefined
  if (rows.length === 0) return "There are none."
  const lines = rows.slice(0, MAX_SHOWN).map((row) =>
    Object.entries(row)
      .map(([name, text]) => `${name}: ${text}`)
      .join(isList ? " · " : "\n")
  )
  const more = rows.length > MAX_SHOWN ? [`These are ${MAX_SHOWN} of ${rows.length}.`] : []
  return [...(isList ? lines.map((line) => `- ${line}`) : lines), ...more].join("\n")
}

/** What can be asked for, one sentence for each declared action. */
export const sayable = (actions: Conversation["actions"]): string => {
  const sentences = actions.flatMap(({ examples: [first] }) =>
    first === undefined
      ? []
      : [`- ${first.replaceAll(/\{([a-z0-9_]+)\}/g, (_, name: string) => `[${name.replaceAll("_", " ")}]`)}`]
  )
  return sentences.length === 0
    ? ""
    : `\n\nWhat else you can ask for here:\n${sentences.slice(0, MAX_SHOWN).join("\n")}`
}
