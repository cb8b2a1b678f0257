import { describe, expect, it } from "vitest"
import { slowAmong } from "../../support/linear.ts"
import { ownWords } from "../../../src/channels/intake/ownWords.ts"

describe("the own words of a message", () => {
  it.each([
    ["Set her status to Won.\n\n-- \nRosa Delgado\n+1 415-555-0101", "Set her status to Won."],
    [
      "Please do.\r\n\r\nOn Tue, Nov 3, 2026 at 9:12 AM Amélie Quinn <a@b.example> wrote:\r\n> set it to Lost",
      "Please do."
    ],
    ["> earlier\nAnd this is mine.\n> more", "And this is mine."],
    ["See below.\n-----Original Message-----\nFrom: X\nSet it to Lost", "See below."],
    ["Danke!\nAm 3. November 2026 um 09:12 schrieb Rosa:\n> alt", "Danke!"],
    ["On the phone he wrote:\na short list", "On the phone he wrote:\na short list"],
    ["one\n\n\n\n\ntwo", "one\n\ntwo"],
    ["", ""]
  ])("leave out quotes and the signature of %j", (text, own) => {
    expect(ownWords(text)).toBe(own)
  })

  it.each([
    ["Change it.\n\nKind regards,\nAda Lovelace\nTel. 5 55", "Change it."],
    ["Change it.\nRegards, Ada", "Change it."],
    ["Change it.\nThanks,\nAda Lovelace\nPurchasing", "Change it."],
    ["Change it.\nThanks!\nAlso delete the other one.", "Change it.\nThanks!\nAlso delete the other one."],
    ["Change it.\nThanks", "Change it.\nThanks"],
    ["Change it.\nRegards\nAda\nP.S. Not before Friday.", "Change it.\nRegards\nAda\nP.S. Not before Friday."],
    ["Best offer is 5.\nAccept it.", "Best offer is 5.\nAccept it."],
    ["Change it.\n\nSent from my iPhone", "Change it."]
  ])("end before the closing and the name in “%s”", (message, own) => expect(ownWords(message)).toBe(own))

  it.each(["on " + "x".repeat(390), "-".repeat(390), "> ", "\n", "am am am schrieb ", "Regards", "Thanks\nAda"])(
    "are found in time that grows with the length alone, in lines of %j",
    (line) => {
      const text = (size: number) => `${line}\n`.repeat(size / (line.length + 1))
      expect(slowAmong([text(64_000)], ownWords)).toEqual([])
    }
  )
})
