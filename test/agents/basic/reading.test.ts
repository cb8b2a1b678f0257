/** Parsing of messages, without a database. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { basicStep } from "../../../src/agents/basic/BasicStep.ts"
import { answerRequest } from "../../../src/agents/basic/deeds/answerRequest.ts"
import { readTurn } from "../../../src/agents/basic/followUps.ts"
import type { Context } from "../../../src/agents/basic/readConversation.ts"
import { readFacts } from "../../../src/agents/basic/readFacts.ts"
import { readNames } from "../../../src/agents/basic/readNames.ts"
import { matchPattern, parsePattern } from "../../../src/agents/basic/patterns.ts"
import { timeAt } from "../../../src/agents/basic/readTime.ts"
import { tokenize, written } from "../../../src/agents/basic/tokenize.ts"
import { type Message, REFUSED_REPLY } from "../../../src/agents/ModelStep.ts"
import { fixture } from "../../support/fixtures.ts"
import { QUESTION_WORDS } from "../../support/sentences.ts"

/** A Wednesday. */
const TODAY = "2026-03-11"

describe("timeAt", () => {
  it.each([
    ["today", "2026-03-11", "2026-03-12"],
    ["tomorrow", "2026-03-12", "2026-03-13"],
    ["this week", "2026-03-09", "2026-03-16"],
    ["last week", "2026-03-02", "2026-03-09"],
    ["next month", "2026-04-01", "2026-05-01"],
    ["last year", "2025-01-01", "2026-01-01"],
    ["this quarter", "2026-01-01", "2026-04-01"],
    ["on friday", "2026-03-13", "2026-03-14"],
    ["on wednesday", "2026-03-11", "2026-03-12"],
    ["next wednesday", "2026-03-18", "2026-03-19"],
    ["last monday", "2026-03-09", "2026-03-10"],
    ["since March 2024", "2024-03-01", undefined],
    ["before 2025", undefined, "2025-01-01"],
    ["after May 3, 2025", "2025-05-04", undefined],
    ["in March 2024", "2024-03-01", "2024-04-01"],
    ["on the 3rd of May", "2026-05-03", "2026-05-04"],
    ["until 2024-02-29", undefined, "2024-03-01"],
    ["between May and July 2025", "2025-05-01", "2025-08-01"],
    ["between January 1 and January 15 2027", "2027-01-01", "2027-01-16"],
    ["between December 20 and January 5 2027", "2026-12-20", "2027-01-06"],
    ["between December 20 and January 5", "2026-12-20", "2027-01-06"],
    ["from December 1 to December 3", "2026-12-01", "2026-12-04"],
    ["December 1 2025 to 3", "2025-12-01", "2025-12-04"],
    ["tomorrow afternoon", "2026-03-12T12:00", "2026-03-12T18:00"],
    ["on friday in the morning", "2026-03-13T00:00", "2026-03-13T12:00"],
    ["tonight", "2026-03-11T18:00", "2026-03-12"],
    ["in the last 7 days", "2026-03-04", "2026-03-12"],
    ["next two weeks", "2026-03-11", "2026-03-26"]
  ])("resolves %j", (text, from, to) => {
    const tokens = tokenize(text)
    const timed = timeAt(tokens, TODAY)
    expect(timed?.length).toBe(tokens.length)
    expect([timed?.when.from, timed?.when.to]).toEqual([from, to])
  })

  it.each(["31 February", "2024-13", "Friday night fever", "yesterdays", "last Ada"])(
    "does not take all of %j for a time",
    (text) => {
      const tokens = tokenize(text)
      expect(timeAt(tokens, TODAY)?.length).not.toBe(tokens.length)
    }
  )
})

describe("matchPattern", () => {
  it("captures as few words as possible, and matches whole messages only", () => {
    const match = (pattern: string, text: string) => {
      const captures = matchPattern(parsePattern(pattern), tokenize(text), () => true)
      return captures && Object.fromEntries(Object.entries(captures).map(([name, tokens]) => [name, written(tokens)]))
    }
    expect(match("what is {name} 's {what}", "What's Ada O'Brien's phone number?")).toEqual({ name: "Ada O'Brien", what: "phone number" }) // prettier-ignore
    expect(match("(who|what) is (the)? {name}", "who is the boss")).toEqual({ name: "boss" })
    expect(match("who is {name}", "who was Ada")).toBeUndefined()
    expect(match("hello", "hello world")).toBeUndefined()
  })
})

describe("introductions", () => {
  const facts = (text: string) =>
    readFacts(tokenize(text)).map(({ concept, said, weight }) => `${weight} ${concept} ${said}`)

  it.each([
    ["zip 02139; she prefers short answers", ["stated zip 02139"]],
    ["my order 12345 hasn't come", []],
    ["I paid $12345 for order #54321", []],
    ["(ada@example.com)", ["stated email ada@example.com"]],
    ["flying from Boston to Denver", ["aside city Boston"]],
    ["I live in Kansas City, MO", ["stated city Kansas City", "mentioned state MO"]],
    ["postcode sw1a 1aa", ["stated zip sw1a 1aa"]],
    ["ship it to 5 Elm Street, Austin, TX 78701", ["aside zip 78701", "aside address 5 Elm Street", "aside city Austin", "aside state TX"]], // prettier-ignore
    ["not from Boston but from Denver", ["mentioned city Denver"]]
  ])("%s", (text, expected) => {
    expect(facts(text)).toEqual(expected)
  })

  it("rank the subject of a message before its speaker and other people", () => {
    const names = readNames(tokenize("This is Ann Lee on behalf of Bo Ek. My friend Cy Dow helped. Eve Fox too."))
    expect(names.map(({ name, rank }) => [name, rank])).toEqual([
      ["Bo Ek", 4],
      ["Ann Lee", 3],
      ["Eve Fox", 2],
      ["Cy Dow", 0]
    ])
  })
})

describe("basicStep", () => {
  const context = JSON.stringify({ person: {}, organization: "Atlas", today: TODAY, timeZone: "UTC", types: [{ id: "people", name: "Person", plural: "People" }] }) // prettier-ignore
  const user = (...texts: ReadonlyArray<string>): Message => ({
    role: "user",
    parts: texts.map((text) => ({ _tag: "Text", text }))
  })
  const step = (...messages: ReadonlyArray<Message>) => basicStep({ system: "", messages, tools: [], maxTokens: 1 })

  it("repeats its reply after the guard rejected it", () => {
    const first = step(user(context, "hello"))
    const again = step(
      user(context, "hello"),
      { role: "assistant", parts: [{ _tag: "Text", text: "…" }] },
      user(`${REFUSED_REPLY} A reason.`)
    )
    expect(again).toEqual(first)
  })

  it("calls only tools whose results it lacks, and reports an outage instead of an answer", () => {
    const asked = step(user(context, "who is Ada Lovelace"))
    const calls = asked.filter((event) => event._tag === "ToolCall")
    expect(calls.map(({ name }) => name)).toEqual(["listColumnsForType", "findEntities"])
    const results: Message = {
      role: "user",
      parts: calls.map(({ id, name }) => ({ _tag: "ToolResult", id, name, failed: true, text: "I can't look things up right now. Please try again in a minute." })) // prettier-ignore
    }
    expect(step(user(context, "who is Ada Lovelace"), { role: "assistant", parts: calls }, results)[0]).toEqual({
      _tag: "Delta",
      text: "I can't look things up right now. Please try again in a minute."
    })
  })

  it.each([
    "",
    "   ",
    "?",
    "🎉",
    "\u0000",
    "a".repeat(100_000),
    "who is ".repeat(5000),
    "'s 's 's",
    "((((",
    "in in in in"
  ])("finishes on the message %j", (text) => {
    expect(step(user(context, text)).at(-1)).toMatchObject({ _tag: "Finished" })
  })
})

describe("answerRequest", () => {
  const typeOf = (id: string, name: string, plural: string) => ({ id, name, plural, columns: [] })
  const types = [
    typeOf("people", "Person", "People"),
    typeOf("companies", "Company", "Companies"),
    typeOf("meetings", "Meeting", "Meetings"),
    typeOf("invoices", "Invoice", "Invoices"),
    typeOf("tracks", "Track", "Tracks"),
    typeOf("customers", "Customer", "Customers"),
    typeOf("albums", "Album", "Albums")
  ]
  const isRequest = (said: string) =>
    answerRequest({ said, earlier: [], rounds: [], actions: [], canChange: true, context: { types, today: TODAY } }) !==
    undefined

  it("leaves questions for figures to the reader of questions", () => {
    const asked = ["sentences", "probe"].flatMap((name) =>
      readFileSync(fixture("figures", `${name}.jsonl`), "utf8")
        .trim()
        .split("\n")
        .flatMap((line): ReadonlyArray<string> => JSON.parse(line).ask)
    )
    expect(asked.length).toBeGreaterThan(150)
    expect([...asked, "which company has the most people", "how do I delete Ada?"].filter(isRequest)).toEqual([])
  })
})

describe("a single word", () => {
  it("is read without an error, alone and after a question", () => {
    const types = ["people", "companies", "meetings"].map((id) => ({ id, name: id.slice(0, -1), plural: id }))
    const context: Context = { today: TODAY, types }
    for (const word of QUESTION_WORDS) {
      expect(readTurn(word, [], context)._tag).toBeTypeOf("string")
      expect(readTurn(word, ["leads of Raj"], context)._tag).toBeTypeOf("string")
    }
    expect(QUESTION_WORDS).toContain("overall")
  })
})
