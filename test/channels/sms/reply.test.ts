/** The shape of a text: length, encoding, truncation, choices; and the carrier's keywords. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { plain, segmentsOf } from "../../../src/channels/sms/gsm.ts"
import { keywordOf } from "../../../src/channels/sms/keywords.ts"
import { fitted, MAX_LENGTH, shapeReply } from "../../../src/channels/sms/shapeReply.ts"
import { notAdmitted } from "../../../src/channels/sms/notices.ts"

describe("segmentsOf", () => {
  it.each([
    ["a".repeat(160), "GSM-7", 1],
    ["a".repeat(161), "GSM-7", 2],
    ["a".repeat(306), "GSM-7", 2],
    ["a".repeat(307), "GSM-7", 3],
    // A character of the extension table takes two septets and is never split.
    ["€".repeat(80), "GSM-7", 1],
    [`${"a".repeat(159)}€`, "GSM-7", 2],
    [`${"a".repeat(152)}€${"a".repeat(152)}`, "GSM-7", 3],
    ["I'm here - Ada", "GSM-7", 1],
    ["Siobhán", "UCS-2", 1],
    ["日".repeat(70), "UCS-2", 1],
    ["日".repeat(71), "UCS-2", 2],
    ["😀".repeat(35), "UCS-2", 1],
    ["😀".repeat(67), "UCS-2", 3],
    ["", "GSM-7", 1]
  ])("counts the segments of %j", (text, encoding, count) => {
    expect(segmentsOf(text)).toEqual({ encoding, count })
  })
})

describe("shapeReply", () => {
  it("replaces typography by GSM-7 characters and leaves names as they are", () => {
    expect(shapeReply("“Ada” — that’s it…\u00a0•\u200b Zoë Łukasz").body).toBe(`"Ada" - that's it... - Zoë Łukasz`)
    expect(segmentsOf(shapeReply("‘a’ ‚b‛ „c‟ «d» e–f−g · h\ti´s `ok`").body).encoding).toBe("GSM-7")
    expect(plain("a\u0000b\u202ec\r\nd")).toBe("abc\nd")
  })

  it("truncates at the maximum length, after a whole word", () => {
    const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 200 }), fc.string({ maxLength: 40 }), (words, greeting) => {
        const text = words.join(" ")
        const { body, segments } = shapeReply(text, [], greeting)
        expect(body.length).toBeLessThanOrEqual(MAX_LENGTH)
        expect(segments).toBe(segmentsOf(body).count)
        expect(body).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/)
      }),
      { numRuns: 500 }
    )
    const long = Array.from({ length: 100 }, (_, index) => `word${index}`).join(" ")
    const { body } = shapeReply(long)
    const words = body.replace(/\.\.\.$/, "").split(" ")
    expect(body.endsWith("...")).toBe(true)
    for (const one of words) expect(long.split(" ")).toContain(one)
  })

  it("never cuts a number, an amount or an address in two", () => {
    for (let before = 250; before < 330; before++) {
      const text = `${"x".repeat(before)} call +1 (512) 555 0142 or ada@analytical.example now, it is 12 500 dollars`
      const { body } = shapeReply(text)
      expect(body.length).toBeLessThanOrEqual(MAX_LENGTH)
      for (const [part, whole] of [
        ["+1", "+1 (512) 555 0142"],
        ["ada@", "ada@analytical.example"],
        [" 12", "12 500"]
      ] as const) {
        expect(!body.includes(part) || body.includes(whole), `${before} ${part}`).toBe(true)
      }
    }
    expect(fitted("x".repeat(400), 320)).toBe("...")
  })

  const names = (count: number, status?: string) =>
    Array.from({ length: count }, (_, index) => ({
      handle: `people/${index}`,
      name: `Person Number ${index}`,
      ...(status === undefined ? {} : { status })
    }))

  it("numbers the choices and names the numbers to reply with", () => {
    expect(shapeReply("Which one?", names(2, "lead"))).toMatchObject({
      body: "Which one?\n1. Person Number 0, lead\n2. Person Number 1, lead\nReply 1 or 2.",
      choices: names(2, "lead")
    })
    const own = "I found 3.\n1. Anton — Stone\n2. Anton — Wood\n3. Anton\nWhich one? Give me the number."
    expect(shapeReply(own, names(3)).body).toBe(
      "I found 3.\n1. Anton - Stone\n2. Anton - Wood\n3. Anton\nReply 1 to 3."
    )
    expect(shapeReply("Only one?", names(1)).body).toBe("Only one?")
  })

  it("offers only the choices that fit", () => {
    for (const text of ["Which one?", `Which one of these do you mean? ${"There are many of them. ".repeat(30)}`]) {
      const { body, choices } = shapeReply(text, names(8, "a status that is rather long"), "I'm Max, for atlas.")
      expect(body.length).toBeLessThanOrEqual(MAX_LENGTH)
      expect(choices.length).toBeGreaterThan(1)
      expect(choices.length).toBeLessThan(8)
      expect(body.split("\n").filter((line) => /^\d\. Person/.test(line))).toHaveLength(choices.length)
      expect(body.endsWith(choices.length === 2 ? "Reply 1 or 2." : `Reply 1 to ${choices.length}.`)).toBe(true)
    }
    const huge = names(3).map((one) => ({ ...one, name: "x".repeat(300) }))
    expect(shapeReply("Which one?", huge).choices).toEqual([])
  })

  it("notAdmitted fits in one text, whatever the names of the organization and the contact", () => {
    const text = notAdmitted("\u202eA\nvery ".repeat(40), "c".repeat(80))
    expect(text.length).toBeLessThanOrEqual(MAX_LENGTH)
    expect(text).not.toMatch(/\n|\u202e/)
  })
})

describe("keywordOf", () => {
  it.each([
    ["STOP", "stop"],
    [" stop. ", "stop"],
    ["Stop!", "stop"],
    ["ＳＴＯＰ", "stop"],
    ["unsubscribe", "stop"],
    ["Yes", "start"],
    ["INFO", "help"],
    ["stop it", undefined],
    ["yes please", undefined],
    ["OK 4821", undefined],
    ["", undefined]
  ])("reads %j as %s", (body, keyword) => {
    expect(keywordOf(body)).toBe(keyword)
  })
})
