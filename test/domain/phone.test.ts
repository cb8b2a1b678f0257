import * as fc from "fast-check"
import { parsePhoneNumberFromString } from "libphonenumber-js/min"
import { describe, expect, it } from "vitest"
import { phoneKey } from "../../src/domain/keys.ts"

/** The library's result, without our fast path. */
const byLibrary = (text: string, country: "US" | "CA"): string | undefined => {
  const parse = (written: string) => parsePhoneNumberFromString(written, { defaultCountry: country, extract: false })
  const own = parse(text)
  // The prefix of most countries, where the country's own reading fails.
  const phone = own?.isPossible() !== true && /^00[1-9]/.test(text) ? parse(text.replace("00", "+")) : own
  return phone !== undefined && phone.isPossible() && phone.ext === undefined ? phone.number : undefined
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
const separator = fc.constantFrom("", "-", ".", " ", ") ", ")", "(", "--", "/")

describe("phone numbers of North America", () => {
  it("get the same key from the fast path as from the library", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("US" as const, "CA" as const),
        fc.constantFrom("", "(", "1", "1-", "+1 "),
        digits(3),
        separator,
        digits(3),
        separator,
        fc.oneof({ weight: 5, arbitrary: digits(4) }, { weight: 1, arbitrary: digits(3) }, fc.constant("4567 x9")),
        (country, ...parts) => {
          const text = parts.join("")
          expect(phoneKey(text, country), text).toBe(byLibrary(text, country))
        }
      ),
      { numRuns: 20_000 }
    )
  })
})

describe("a country's code in brackets", () => {
  it("is read as it is without them, in every country", () => {
    for (const country of ["US", "DE", "GB", "IN"])
      for (const bracketed of ["(+49) 711 2842222", "(+49)711-2842222", " ( +49 ) 711 2842222", "(0049) 711 2842222"])
        expect(phoneKey(bracketed, country), `${country} ${bracketed}`).toBe("+497112842222")
    expect(phoneKey("(49) 711 2842222", "GB")).toBeUndefined()
    expect(phoneKey("(+49 711 2842222", "GB")).toBeUndefined()
    expect(phoneKey("(711) 284-2222", "US")).toBe("+17112842222")
    // No country has the code 4: Austria is 43.
    expect(phoneKey("(004)300000", "US")).toBeUndefined()
  })
})
