import { describe, expect, it } from "vitest"
import { basicStep } from "../../src/agents/basic/BasicStep.ts"
import { Effort } from "../../src/agents/basic/Effort.ts"
import { MAX_EFFORT, MAX_TRIED } from "../../src/agents/basic/deeds/draftDeed.ts"
import { readNew } from "../../src/agents/basic/deeds/readNew.ts"
import { readRequest } from "../../src/agents/basic/deeds/readRequest.ts"
import { readFacts } from "../../src/agents/basic/readFacts.ts"
import { readTurn } from "../../src/agents/basic/followUps.ts"
import { readIntent } from "../../src/agents/basic/readIntent.ts"
import { readNames } from "../../src/agents/basic/readNames.ts"
import { tokenize } from "../../src/agents/basic/tokenize.ts"
import { claimsDeed } from "../../src/agents/guards/deeds.ts"
import { Figures } from "../../src/agents/guards/figures.ts"
import { Said } from "../../src/agents/guards/Said.ts"
import { Grounding } from "../../src/agents/guards/Grounding.ts"
import { lenientGuard, type ReplyGuard, strictGuard } from "../../src/agents/guards/ReplyGuard.ts"
import { words } from "../../src/agents/guards/normalize.ts"
import { plain } from "../../src/channels/sms/gsm.ts"
import { keywordOf } from "../../src/channels/sms/keywords.ts"
import { shapeReply } from "../../src/channels/sms/shapeReply.ts"
import { emailKey, foldText, phoneDigits, phoneKey } from "../../src/domain/keys.ts"
import { labelFrom, slugFrom } from "../../src/domain/names.ts"
import { closest, masked, printable, quoted } from "../../src/domain/text.ts"
import { dateRange, isoDate, isoTimestamp, parseId } from "../../src/domain/values.ts"
import { repeatedKey } from "../../src/permissions/repeatedKey.ts"
import { slowAmong, slowTexts } from "../support/linear.ts"
import { knownDescriptions, knownQuestions, knownRequests } from "../support/sentences.ts"

const grounding = () => new Grounding({ country: "US", today: "2026-11-22" })
const context = {
  today: "2026-11-22",
  types: ["people", "companies", "meetings"].map((id) => ({ id, name: id.slice(0, -1), plural: id }))
}
const names = Array.from({ length: 500 }, (_, index) => `column_${index}`)

const figures = (label = "won") => {
  const found = new Figures()
  const groups = [label, "open"].map((value, count) => ({ keys: [{ value }], count }))
  found.add({ total: 1, entities: [], groups, headings: ["by status"] })
  return found
}

const reply = (guard: ReplyGuard, text: string) => {
  if (guard.push(text).fault === undefined) guard.end()
}

/** Every matcher over text that people, files, rows and models write. */
const MATCHERS: Readonly<Record<string, (text: string) => unknown>> = {
  "a reply under the strict guard": (text) => reply(strictGuard(grounding()), text),
  "a reply under the lenient guard": (text) => reply(lenientGuard(grounding()), text),
  "a message that grounds a reply": (text) => grounding().addText(text),
  "a row that grounds a reply": (text) => grounding().addResult({ entities: [{ columns: { notes: text } }] }),
  "a reply that may claim a deed": (text) => claimsDeed(text.slice(0, 2000), { wide: true, drafted: ["won"] }),
  "a reply about groups": (text) => figures().problem(text.slice(0, 600), { country: "US", today: "2026-11-22" }),
  "a group's label": (text) => figures(text),
  "what a person has said": (text) => [new Said({ country: "US", today: "2026-11-22" }).add(text).has(text)],
  "a value of a draft": (text) =>
    new Said({ country: "US", today: "2026-11-22" }).add("at 3").hasTemporal(text, [1, 2]),
  "an answer's words": words,
  "basic mode's words": tokenize,
  "basic mode's names": (text) => readNames(tokenize(text)),
  "basic mode's facts": (text) => readFacts(tokenize(text)),
  "basic mode's intent": (text) => readIntent(text, context),
  "basic mode's intent of a question": (text) => readIntent(`how many ${text.slice(0, 4000)}`, context),
  "basic mode's step": (text) =>
    basicStep({
      system: "",
      messages: [
        { role: "user", parts: [JSON.stringify(context), text].map((part) => ({ _tag: "Text", text: part })) }
      ],
      tools: [],
      maxTokens: 1000
    }),
  // Lookups refuse longer values.
  "a search key": (text) => foldText(text.slice(0, 4000)),
  "a phone number": (text) => [phoneKey(text, "US"), phoneDigits(text)],
  "an e-mail address": emailKey,
  "a date": (text) => [isoDate(text), isoTimestamp(text), dateRange(text, () => "2026-11-22")],
  "an id": (text) => (["uuid", "bigint", "text", undefined] as const).map((ids) => parseId(text, ids)),
  "a name's slug": (text) => [slugFrom(text), labelFrom(text)],
  "a name's suggestion": (text) => closest(text, names),
  "a suggestion among long names": (text) => closest("column", [text, ...names]),
  "a quotation": (text) => [printable(text), quoted(text), masked(text)],
  "a keyword of a text message": keywordOf,
  "a reply by text message": (text) => [plain(text), shapeReply(text)],
  "a policy's repeated keys": repeatedKey
}

describe("a conversation of follow-ups", () => {
  // Twice as long with each message, forty would take years.
  it.each(["What about Spain? And Italy?", "and the last one?", "2", "and on Friday?", "how many meetings?"])(
    "is read in one reading of each message: %s",
    (message) => {
      expect(readTurn(message, ["my meetings", ...Array<string>(40).fill(message)], { ...context })._tag).toBeTypeOf(
        "string"
      )
    }
  )
})

describe("matchers over text from outside", () => {
  it.each(Object.entries(MATCHERS))("read %s in time that grows with its length only", (_, match) =>
    expect(slowTexts(match)).toEqual([])
  )
})

/** A task's columns, and a meeting's guests. */
const FIELDS = [
  { id: "name", name: "Name", kind: "text" },
  { id: "status", name: "Status", kind: "text" },
  { id: "priority", name: "Priority", kind: "text", values: ["High", "Low"] },
  { id: "assignee", name: "Assignee", kind: "reference" },
  { id: "attendees", name: "Attendees", kind: "references" },
  { id: "due", name: "Due", kind: "date" },
  { id: "start", name: "Start", kind: "timestamp" },
  { id: "minutes", name: "Duration", kind: "integer" }
]
const TASKS = { ...context, types: [...context.types, { id: "tasks", name: "task", plural: "tasks" }] }

/** Each reading has a context of its own, as each turn has, so that nothing is known from the one before. */
const newRow = (text: string) => {
  const own = { ...TASKS }
  const { deeds } = readRequest(text, own)
  const effort = new Effort(MAX_EFFORT)
  const rows = deeds.flatMap((deed) => (deed._tag === "Create" ? [deed] : [])).slice(0, MAX_TRIED)
  return rows.map((deed) => readNew(deed, { type: deed.type, columns: FIELDS }, FIELDS, own, effort))
}

describe("sentences of the words that the rules know", () => {
  // Found by a search for the slowest sentences: the same search found 0.6 s, 0.4 s and, for the last one, 11 s.
  const QUESTIONS = [
    "anyone 3pm carry anyone havent anyone ordered arrived belonging tail apart arrived belonging tail ordered belonging right havent anyone ordered fewer full belonging closed apart arrived shoes ordered, believe arrived",
    "t anyone may've depart anyone employees dawn may've king wolf may've ranked, east every around zum may've tel east ranked"
  ]
  const REQUESTS = [
    "needs lately needs company needs lately needs lately needs lately spoke lately kick lately needs lately day lately needs lately raised lately needs lately needs lately needs kept needs lately lately, needs lately lately, duplicate lately needs lately, needs lately needs lately retired",
    "gets gets high gets gets gets close contact am gets, gets, longer gets gets contact teams gets already gets stretch stopped gets over gets gets. left 2 did gets gets, should gets, corrected things gets gets"
  ]
  const DESCRIPTIONS = [
    `create a task ${Array.from({ length: 8 }, (_, at) => `with Ada${at} and Bob${at}`).join(" ")} owl the`
  ]

  it("are read as questions without holding the event loop", () =>
    expect(slowAmong([...knownQuestions(150), ...QUESTIONS], (text) => readIntent(text, { ...TASKS }))).toEqual([]))

  it("are read as requests without holding the event loop", () =>
    expect(slowAmong([...knownRequests(150), ...REQUESTS], (text) => readRequest(text, { ...TASKS }))).toEqual([]))

  it("are read as descriptions of a new row without holding the event loop", () => {
    const sentences = [...knownDescriptions(80), ...DESCRIPTIONS]
    expect(sentences.flatMap(newRow).length).toBeGreaterThan(40)
    expect(slowAmong(sentences, newRow)).toEqual([])
  })
})
