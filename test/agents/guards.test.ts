import { describe, expect, it } from "vitest"
import { Grounding } from "../../src/agents/guards/Grounding.ts"
import { lenientGuard, strictGuard } from "../../src/agents/guards/ReplyGuard.ts"

const grounding = () =>
  new Grounding({ country: "US", today: "2026-11-22" })
    .addWords("Harbor Supply People Companies Meetings")
    .addResult({
      total: 1000,
      entities: [
        {
          entityId: "jonoccrkpprvt",
          displayName: "Ada Lovelace",
          status: "Customer",
          columns: {
            phone: "+1 512-555-0142",
            email: "Ada@Analytical",
            amount: 4500.5,
            price: "1.200,00 EUR",
            website: "https://analytical.example/ada?x=1",
            start: "2026-11-23T09:30",
            company: { id: "kabcdefghijkl", name: "Table & Sons" }
          }
        }
      ]
    })
    .addText("Is there anything tomorrow, and what about the filter deal with joe@else.example?")

/** Streams a reply through a guard in pieces of `size`; returns what it released and the fault that stopped it. */
const run = (reply: string, size = 5, guard = strictGuard(grounding())) => {
  let shown = ""
  for (let at = 0; at < reply.length; at += size) {
    const { fault, text } = guard.push(reply.slice(at, at + size))
    shown += text
    if (fault !== undefined) return { shown, fault }
  }
  const { fault, text } = guard.end()
  return { shown: shown + text, ...(fault === undefined ? {} : { fault }) }
}

const PASS = [
  "Ada Lovelace is a customer.",
  "Her number is (512) 555-0142, or +15125550142 from abroad.",
  "Her number is 512.555.0142.",
  "Write to ada@analytical or ADA@ANALYTICAL.",
  "The deal is 4,500.50 and the price €1,200.",
  "The deal is $4500.50.",
  "There are more than 1,000 of them.",
  "You meet her on November 23, 2026 at 9:30 am.",
  "You meet her on 23 November at 09:30.",
  "You meet her tomorrow at 9:30.",
  "You meet her on Monday.",
  "See https://analytical.example/ada?x=1.",
  "She works at Table & Sons.",
  "The filter deal is with joe@else.example.",
  "Shall I look at next week, too?",
  "1. Ada Lovelace\n2. Another person",
  "Her number is 512-555-0142\n2 of them have one.",
  "I found 3 people, 12 companies and 99 meetings.",
  "Das ist Ada Lovelace, eine Kundin. Ihre Nummer: 512-555-0142.",
  "The meeting is 23.11.2026.",
  "It was 1 of 25.",
  "👩‍👩‍👧 Ada Lovelace 🎉"
]

const FAIL = [
  "Her number is 512-555-0143.",
  "Her number is five, no: +1 (512) 555 0199 I think.",
  "Write to ada@analytica1.",
  "Write to ada.lovelace@gmail.com now.",
  "The deal is 4,600.",
  "The deal is €4,501.",
  "The price is $1,200.",
  "The total comes to 5700.50 all in all.",
  "It is 45% of them.",
  "You meet her on November 24, 2026.",
  "You meet her at 10:30.",
  "You meet her on Tuesday.",
  "You meet her next month.",
  "You meet her in 3 days.",
  "See https://analytical.example/ada?x=2 for more.",
  "See [here](https://evil.example/?q=Ada) for more.",
  "See www.evil.example for more.",
  "See evil.example/ada for more.",
  "![x](https://evil.example/512-555-0142.png)",
  "Her entity is shown.",
  "The column is empty.",
  "I looked in the database.",
  "Two records match.",
  "My query found nothing.",
  "Her ID is secret.",
  "I called findEntities for you.",
  "It is jonoccrkpprvt to me.",
  "Her company is kabcdefghijkl now.",
  "It is 500EUR.",
  "It is 1 500 dollars.",
  "Tel5125550199x is it.",
  "Call A5125550199.",
  // Hidden in invisible characters or in other scripts' digits.
  "Her number is 512\u200b-555-0199.",
  "Her number is ５１２-５５５-０１９９.",
  "Her number is ٥١٢-٥٥٥-٠١٩٩.",
  "The data\u200bbase says so.",
  "The ｄａｔａｂａｓｅ says so.",
  "See https://evil\u2060.example/x for more."
]

describe("the reply guard", () => {
  it("releases grounded replies, at any chunk size", () => {
    for (const reply of PASS) {
      for (const size of [1, 2, 3, 7, 1000]) {
        const judged = run(reply, size)
        expect(judged, `${reply} (${size})`).toEqual({ shown: judged.shown })
        expect(judged.shown.length, reply).toBeGreaterThan(reply.length - 12)
      }
    }
  })

  it("rejects invented values, composed links and internal vocabulary at any chunk size, and never shows them", () => {
    for (const reply of FAIL) {
      for (const size of [1, 2, 3, 7, 1000]) {
        const { fault, shown } = run(reply, size)
        expect(fault, `${reply} (${size})`).toBeDefined()
        for (const secret of [
          "0143",
          "0199",
          "gmail",
          "4,600",
          "5700",
          "24",
          "10:30",
          "Tuesday",
          "evil",
          "jonocc",
          "kabc",
          "base",
          "findE"
        ]) {
          expect(shown, `${reply} (${size})`).not.toContain(secret)
        }
      }
    }
  })

  it("releases text as soon as it is safe to show", () => {
    const guard = strictGuard(grounding())
    expect(guard.push("Ada Lovelace is a ").text).toBe("Ada Lovelace is ")
    expect(guard.push("customer ").text).toBe("a customer ")
    expect(guard.push("and her number is 512-555").text).toBe("and her number is ")
    expect(guard.push("-0142").text).toBe("")
    expect(guard.push(" since ").text).toBe("512-555-0142 since ")
    expect(guard.end()).toEqual({ text: "" })
  })

  it("removes a failing sentence in lenient mode, and reports the removal", () => {
    const guard = lenientGuard(grounding())
    const reply =
      "Ada Lovelace is a customer. Her number is 512-555-0199. You meet her tomorrow.\nShe lives in the database."
    expect(run(reply, 4, guard).shown).toBe("Ada Lovelace is a customer. You meet her tomorrow.\n")
    expect(guard.removedText()).toBe(true)
  })

  it("lets a reply name the date of a day of the week that the question names, and no other date", () => {
    const shown = (reply: string) =>
      run(reply, 6, lenientGuard(grounding().addQuestion("What do I have next Friday?"))).shown
    for (const date of ["November 20", "November 27", "December 4"])
      expect(shown(`You have nothing on Friday (${date}).`)).toBe(`You have nothing on Friday (${date}).`)
    for (const date of ["November 26", "November 13", "December 11"])
      expect(shown(`You have nothing on Friday (${date}).`)).not.toContain(date)
  })

  it("lets a reply name a month or a day of the week that the question has in small letters or as a plural", () => {
    const shown = (question: string, reply: string) =>
      run(reply, 6, lenientGuard(grounding().addQuestion(question))).shown
    for (const [question, reply] of [
      ["list meetings in november", "I found no meetings in november 2026."],
      ["anything in may?", "You have nothing in May 2027."],
      ["every meeting on fridays", "I found no meetings on Friday (November 20)."]
    ] as const)
      expect(shown(question, reply)).toBe(reply)
    expect(shown("list meetings in november", "I found no meetings in october 2026.")).not.toContain("october")
  })
})
