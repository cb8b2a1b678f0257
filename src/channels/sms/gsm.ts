/** SMS encodings and segments: GSM 7-bit (3GPP TS 23.038) if its alphabet has every character, otherwise UCS-2. */

const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
/** Each takes two septets. */
const EXTENDED = "^{}\\[~]|€\f"

const WIDTHS = new Map([
  ...[...BASIC].map((one) => [one, 1] as const),
  ...[...EXTENDED].map((one) => [one, 2] as const)
])

export interface Segments {
  readonly encoding: "GSM-7" | "UCS-2"
  readonly count: number
}

/** Segments of a text: a header takes room in each if there are several, and no character is split. */
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

/** The encoding of a text and its number of segments. */
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

/** Replaces typography by GSM-7 characters; letters stay as they are. */
export const plain = (text: string): string => PLAIN.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text)
