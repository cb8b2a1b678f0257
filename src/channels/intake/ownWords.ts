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

/** Closings of letters, after which the author's name and address follow, in lower case and without punctuation. */
const CLOSINGS: ReadonlySet<string> = new Set([
  "regards",
  "best",
  "best regards",
  "best wishes",
  "kind regards",
  "kindest regards",
  "warm regards",
  "with kind regards",
  "with best regards",
  "sincerely",
  "yours sincerely",
  "sincerely yours",
  "yours faithfully",
  "yours truly",
  "cheers",
  "thanks",
  "thank you",
  "many thanks",
  "thanks a lot",
  "thanks and regards"
])
/** Closings that people also write before they go on. */
const THANKS: ReadonlySet<string> = new Set(["cheers", "thanks", "thank you", "many thanks", "thanks a lot", "best"])
/** The longest closing with a name on its line. */
const MAX_CLOSING = 60

/** A name: a few words with capitals and no digits. */
const isName = (line: string): boolean =>
  line.length <= MAX_CLOSING && /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){0,3}$/u.test(line)

/** What a message closes with, a name after it on the same line included. */
const closingOf = (line: string): { readonly closing: string; readonly name: string } | undefined => {
  if (line.length > MAX_CLOSING) return undefined
  const [said = "", rest = ""] = line.split(/[,!.]/)
  const [closing, name] = [said.trim().toLowerCase(), rest.trim()]
  return CLOSINGS.has(closing) && (name === "" || isName(name)) ? { closing, name } : undefined
}

/**
 * Where a message closes: with a closing alone or before a name, and with nothing after it but the signature. A postscript is no
 * signature, and what comes after thanks is one only if it is a name.
 */
const closingIn = (lines: ReadonlyArray<string>): number => {
  let found = lines.length
  let after = 0
  let names = 0
  // From the end, so that each line is looked at once.
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at]!.trim()
    if (line === "") continue
    if (/^p\.? ?s\b/i.test(line)) break
    const { closing, name } = closingOf(line) ?? {}
    const isSigned = after > 0 && after <= 2 && names === after
    if (closing !== undefined && (!THANKS.has(closing) || isSigned || name !== "")) found = at
    after += 1
    if (isName(line)) names += 1
  }
  return found
}

/** What telephones add. */
const SENT_FROM = /^Sent from my \p{L}+(?: \p{L}+)?\.?$/u

const beginsEarlier = (line: string): boolean => {
  if (line.length > MAX_LINE) return false
  const folded = line.toLowerCase()
  return (
    EARLIER.has(folded) ||
    (/\d/.test(folded) && ATTRIBUTIONS.some(([start, end]) => folded.startsWith(start) && folded.endsWith(end)))
  )
}

/** The lines before the first signature or earlier message, without quoted ones. */
const beforeQuotes = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = lines.findIndex((line) => SIGNATURES.has(line) || beginsEarlier(line.trim()))
  return lines.slice(0, end < 0 ? lines.length : end).filter((line) => !line.trim().startsWith(">"))
}

/** Cuts at the first signature or earlier message, and leaves out quoted lines. */
export const ownWords = (text: string): string => {
  const kept: Array<string> = []
  const lines = beforeQuotes(text.split(/\r\n|\r|\n/))
  for (const raw of lines.slice(0, closingIn(lines))) {
    const line = raw.trim()
    if (line.length <= MAX_CLOSING && SENT_FROM.test(line)) break
    kept.push(raw.trimEnd())
  }
  return kept
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}
