/**
 * Families of text that make a superlinear matcher slow: each is one piece, repeated to a length.
 * JavaScript, because `npm run attack -- naughty` sends them, too.
 */
const FAMILIES = {
  digits: "1",
  "digits and spaces": "1 ",
  "at signs": "@",
  "full stops": ".",
  "beginnings of addresses": "a@",
  "characters that normalize to many": "㌖",
  "ligatures that normalize to eighteen": "ﷺ",
  "combining marks": "\u0301\u0323",
  "zero-width characters": "\u200b",
  quotes: `"'`,
  "opening brackets": "([{<",
  "closing brackets": ")]}>",
  "schemes of links": "://",
  "beginnings of links": "http://a.",
  "host labels": "a-",
  dates: "2026-11-22 ",
  "months and days": "May 3 ",
  months: "may  ",
  times: "12:30 ",
  "relative dates": "in 3 days ",
  currencies: "$1,000.50 ",
  "phone numbers": "+1 512 555 ",
  spaces: " ",
  newlines: " \n",
  hyphens: "-",
  apostrophes: "a'",
  "joined emoji": "👩‍",
  "right-to-left text": "א\u202e",
  "lone surrogates": "\ud800",
  "long words": "aA",
  underscores: "_a1_",
  "names and commas": "name is Ada, ",
  "openers of questions": "please ",
  questions: "Is it today? ",
  abbreviations: "A. ",
  commas: ",",
  zeros: "0.0",
  elements: "<row ",
  "ARABIC digits": "٣",
  "backslashes in strings": `"\\`
}

/** Endings that make a match of the whole run fail. */
const ENDINGS = ["", "!", "x½"]

/**
 * A hostile text of each family and ending.
 * @param {number} length
 * @returns {ReadonlyArray<readonly [family: string, text: string]>}
 */
export const hostileTexts = (length) =>
  Object.entries(FAMILIES).flatMap(([family, piece]) =>
    ENDINGS.map((ending) => [
      `${family}${ending === "" ? "" : ` before ${ending}`}`,
      piece.repeat(Math.ceil(length / piece.length)).slice(0, length - ending.length) + ending
    ])
  )
