/** The author's own words in an e-mail or a comment: without what is quoted, and without the signature. */

/** Lines after which only an earlier message follows, as mail programs write them, in lower case. */
const EARLIER: ReadonlySet<string> = new Set([
  "-----original message-----",
  "----- original message -----",
  "-----forwarded message-----",
  "---------- forwarded message ---------",
  "---------- forwarded message ----------",
  "begin forwarded message:"
])
/** The beginning and the end of the line above a quote, which has a date between them. */
const ATTRIBUTIONS: ReadonlyArray<readonly [string, string]> = [
  ["on ", " wrote:"],
  ["am ", ":"],
  ["le ", " a écrit :"],
  ["le ", " a écrit:"],
  ["el ", " escribió:"]
]
/** Characters of the longest such line. */
const MAX_LINE = 400
/** The line above a signature (RFC 3676, section 4.3), with and without its trailing space. */
const SIGNATURES: ReadonlySet<string> = new Set(["-- ", "--"])

const beginsEarlier = (line: string): boolean => {
  if (line.length > MAX_LINE) return false
  const folded = line.toLowerCase()
  return (
    EARLIER.has(folded) ||
    (/\d/.test(folded) && ATTRIBUTIONS.some(([start, end]) => folded.startsWith(start) && folded.endsWith(end)))
  )
}

/** Cuts at the first signature or earlier message, and leaves out quoted lines. */
export const ownWords = (text: string): string => {
  const kept: Array<string> = []
  for (const raw of text.split(/\r\n|\r|\n/)) {
    if (SIGNATURES.has(raw)) break
    const line = raw.trim()
    if (beginsEarlier(line)) break
    if (!line.startsWith(">")) kept.push(raw.trimEnd())
  }
  return kept
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}
