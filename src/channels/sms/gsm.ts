/** How a carrier counts a text: the GSM 7-bit alphabet (3GPP TS 23.038) while every character is in it, else UCS-2. */

const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
/** Each takes the place of two. */
const EXTENDED = "^{}\\[~]|€\f"

const WIDTHS = new Map([
  ...[...BASIC].map((one) => [one, 1] as const),
  ...[...EXTENDED].map((one) => [one, 2] as const)
])

export interface Segments {
  readonly encoding: "GSM-7" | "UCS-2"
  readonly count: number
}

/** A text of several segments loses some room in each to the header that joins them; no character is split. */
const packed = (widths: ReadonlyArray<number>, whole: number, part: number): number => {
  const total = widths.reduce((sum, width) => sum + width, 0)
  if (total <= whole) return 1
  let count = 1
  let used = 0
  for (const width of widths) {
    if (used + width > part) {
      count += 1
      used = 0
    }
    used += width
  }
  return count
}

/** How many segments a text comes to, and in which encoding. */
export const segmentsOf = (text: string): Segments => {
  const characters = [...text]
  const widths = characters.map((character) => WIDTHS.get(character))
  return widths.every((width) => width !== undefined)
    ? { encoding: "GSM-7", count: packed(widths, 160, 153) }
    : {
        encoding: "UCS-2",
        count: packed(
          characters.map(({ length }) => length),
          70,
          67
        )
      }
}

const PLAIN: ReadonlyArray<readonly [RegExp, string]> = [
  [/[\u2018\u2019\u201a\u201b\u2032`\u00b4]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2022\u2023\u25aa\u25cf\u00b7]/g, "-"],
  [/\u2026/g, "..."],
  [/[\t\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/\r\n?|[\u2028\u2029]/g, "\n"],
  [/[\u0000-\u0009\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, ""]
]

/** Typography in the carrier's alphabet; letters of names stay as they are. */
export const plain = (text: string): string => PLAIN.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text)
