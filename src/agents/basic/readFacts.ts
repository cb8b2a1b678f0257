/**
 * What free text states of a person besides the name: an e-mail address, a phone number, a zip or postcode, a town, a
 * state, a street, an account's own number. Each carries its weight: what is on file must agree with what was stated.
 */
import {
  UNRELATED_CUES,
  COMMON_WORDS,
  PLACE_PREPOSITIONS,
  RESIDENCE_CUES,
  OTHER_NUMBER_CUES,
  STATES,
  STREETS,
  TOWNS,
  type Concept
} from "./lexicon.ts"
import { runsOf } from "./readNames.ts"
import { folded, type Token, written } from "./tokenize.ts"

export interface Fact {
  readonly concept: Extract<Concept, "email" | "phone" | "zip" | "city" | "state" | "address" | "handle">
  /** Ways of writing it, the likeliest first. */
  readonly values: ReadonlyArray<string>
  /** As the person wrote it. */
  readonly said: string
  /**
   * `stated`: has to fit. `mentioned`: has to fit when anybody has it (a capitalized word may be a town or a product).
   * `aside`: of a journey, a parcel, a change; it only tells namesakes apart.
   */
  readonly weight: "stated" | "mentioned" | "aside"
  /** It stands right beside a name, written like a town, so that leaving it out has to be said. */
  readonly beside?: true
}

export const readFacts = (tokens: ReadonlyArray<Token>): ReadonlyArray<Fact> => {
  const { asides, facts: towns } = places(tokens)
  const facts = [...codes(tokens, asides), ...towns]
  const seen = new Set<string>()
  return facts.filter(({ concept, values }) => {
    const key = `${concept} ${values[0]!.toLowerCase()}`
    return seen.has(key) ? false : (seen.add(key), true)
  })
}

const NEAR = 7

/** The words shortly before a place in the same sentence. */
const before = (tokens: ReadonlyArray<Token>, at: number, count = NEAR): ReadonlyArray<Token> => {
  const near = tokens.slice(Math.max(0, at - count), at)
  const end = near.findLastIndex(({ after, word }) => /[.;!?]/.test(after) || TURNS.has(word))
  return near.slice(end + 1)
}

const isAside = (tokens: ReadonlyArray<Token>, at: number): boolean => {
  const lead = before(tokens, at)
  if (
    tokens[at]!.after === "" &&
    /^(as|is) (my|his|her|their|the) (zip|postal|post)/.test(folded(tokens.slice(at + 1, at + 4)))
  )
    return false
  // "my zip code is" and "I live in" say what is on file, whatever came before in the sentence.
  if (lead.slice(-3).some(({ word }) => OWN.has(word)))
    return lead.some(({ word }) => word === "new" || word === "old" || word === "former")
  return lead.some(({ word }) => UNRELATED_CUES.has(word))
}
/** What isn't so says nothing of what is. */
const isDenied = (tokens: ReadonlyArray<Token>, at: number): boolean =>
  before(tokens, at, 5).some(({ after, word }) => DENIALS.has(word) && !after.includes(","))
const DENIALS = new Set(["not", "never", "isn't", "isnt", "wasn't"])

/** Words behind which something else is said. */
const TURNS = new Set(["but", "however", "though", "although"])
const OWN = new Set("zip zipcode postcode postal live lives living reside based located email e-mail phone".split(" "))

const ZIP_CUE = /^(zip|zipcode|zip-code|postcode|postalcode|postal|post|plz|zips)$/
const EMAIL = /^[^\s@]+@[^\s@]+$/
const HANDLE = /^\p{L}[\p{L}.]*_[\p{L}\d_]*\d+$/u

const codes = (tokens: ReadonlyArray<Token>, asides: ReadonlySet<number>): ReadonlyArray<Fact> => {
  const facts: Array<Fact> = []
  for (let at = 0; at < tokens.length; at++) {
    const { text, word } = tokens[at]!
    if (isDenied(tokens, at)) continue
    const weight = asides.has(at) || isAside(tokens, at) ? "aside" : "stated"
    if (EMAIL.test(text)) {
      facts.push({ concept: "email", values: [text.replace(/^mailto:/i, "")], said: text, weight })
      continue
    }
    if (HANDLE.test(text)) {
      facts.push({ concept: "handle", values: [text], said: text, weight })
      continue
    }
    const phone = phoneAt(tokens, at)
    if (phone !== undefined) {
      facts.push({ concept: "phone", values: [phone.said], said: phone.said, weight })
      at += phone.length - 1
      continue
    }
    const zip = zipAt(tokens, at)
    if (zip !== undefined) {
      facts.push({ concept: "zip", values: zip.values, said: zip.said, weight })
      at += zip.length - 1
      continue
    }
    if (/[\d_]/.test(word) && handleCue(before(tokens, at, 3))) {
      facts.push({ concept: "handle", values: [text.replace(/^#/, "")], said: text, weight })
    }
  }
  return facts
}

const handleCue = (lead: ReadonlyArray<Token>): boolean =>
  /(^| )(user|customer|account|member|membership|loyalty|client)( (id|number|no|nr))?( is)?$/.test(folded(lead)) ||
  /(^| )(username|login|userid)( is)?$/.test(folded(lead))

const phoneAt = (
  tokens: ReadonlyArray<Token>,
  at: number
): { readonly said: string; readonly length: number } | undefined => {
  let text = ""
  let length = 0
  while (at + length < tokens.length) {
    const next = tokens[at + length]!
    if (!/^\+?[\d().‑-]+$/.test(next.text)) break
    text += (length === 0 ? "" : " ") + next.text
    length += 1
    if (/[,;!?]/.test(next.after)) break
  }
  for (; length > 0; length--) {
    const said = written(tokens.slice(at, at + length))
    const digits = said.replace(/\D/g, "").length
    const lead = before(tokens, at, 3)
    if (digits < 7 || digits > 15 || ZIP.test(said) || /^\d{4}-\d{2}-\d{2}$/.test(said)) continue
    if (lead.some(({ word }) => OTHER_NUMBER_CUES.has(word) && word !== "number" && word !== "no" && word !== "at"))
      continue
    if (digits >= 10 || /[-.() ]/.test(said) || said.startsWith("+") || lead.some(({ word }) => /phone|mobile|cell|call|tel|number/.test(word))) return { said, length } // prettier-ignore
  }
  return undefined
}

const ZIP = /^\d{5}(-\d{4})?$/
/** Postcodes of other countries that look like nothing else: GB, CA, NL, JP, and D-10115. */
const POSTCODES: ReadonlyArray<readonly [words: number, pattern: RegExp]> = [
  [2, /^[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}$/],
  [2, /^[a-z]\d[a-z] \d[a-z]\d$/],
  [2, /^\d{4} [a-z]{2}$/],
  [1, /^[a-z]{1,2}\d[a-z\d]?\d[a-z]{2}$/],
  [1, /^[a-z]\d[a-z]\d[a-z]\d$/],
  [1, /^\d{3}-\d{4}$/],
  [1, /^[a-z]{1,2}-\d{4,6}$/]
]

interface Found {
  readonly values: ReadonlyArray<string>
  readonly said: string
  readonly length: number
}

const zipAt = (tokens: ReadonlyArray<Token>, at: number): Found | undefined => {
  const current = tokens[at]!
  const lead = before(tokens, at, 4)
  const cue = lead.some(({ word }) => ZIP_CUE.test(word))
  for (const [words, pattern] of POSTCODES) {
    const taken = tokens.slice(at, at + words)
    if (taken.length < words || taken.slice(0, -1).some(({ after }) => after !== "")) continue
    if (!pattern.test(folded(taken)) || (words === 2 && /^\d/.test(current.word) && COMMON_ENDS.has(taken[1]!.word)))
      continue
    const said = written(taken)
    const other = words === 2 ? said.replace(" ", "") : /^[a-z]/i.test(said) && !said.includes("-") ? `${said.slice(0, -3)} ${said.slice(-3)}` : undefined // prettier-ignore
    return { values: [said, ...(other === undefined ? [] : [other]), ...(/^[a-z]{1,2}-/i.test(said) ? [said.replace(/^.*-/, "")] : [])], said, length: words } // prettier-ignore
  }
  if (cue && /^\d{5} \d{4}$/.test(folded(tokens.slice(at, at + 2))) && current.after === "") {
    return {
      values: [`${current.text}-${tokens[at + 1]!.text}`, current.text],
      said: written(tokens.slice(at, at + 2)),
      length: 2
    }
  }
  const numbered = lead
    .slice(-2)
    .some(({ word }) => OTHER_NUMBER_CUES.has(word) && word !== "no" && word !== "at" && word !== "code")
  if (
    ZIP.test(current.word) &&
    (cue || !(numbered || STREETS.has(tokens[at + 2]?.word ?? "") || STREETS.has(tokens[at + 1]?.word ?? "")))
  ) {
    return {
      values: /-/.test(current.text) ? [current.text, current.text.slice(0, 5)] : [current.text],
      said: current.text,
      length: 1
    }
  }
  return cue && /^[a-z\d-]*\d[a-z\d-]*$/.test(current.word) && current.word.length >= 3
    ? { values: [current.text], said: current.text, length: 1 }
    : undefined
}
const COMMON_ENDS = new Set(
  "am pm st nd rd th in is to of at on or my me we he it so as an by be do go if no up us".split(" ")
)

/** Towns, states and streets, and where something may go on that was only said aside. */
const places = (
  tokens: ReadonlyArray<Token>
): { readonly facts: ReadonlyArray<Fact>; readonly asides: ReadonlySet<number> } => {
  const facts: Array<Fact> = []
  const runs = runsOf(tokens)
  const taken = new Set<number>()
  /** Where something ended that was only said aside: what goes on with it is aside, too. */
  let asideUntil = -1
  const asides = new Set<number>()
  for (let at = 0; at < tokens.length; at++) {
    const street = streetAt(tokens, at)
    if (street === 0) continue
    for (let index = at; index < at + street; index++) taken.add(index)
    const said = written(tokens.slice(at, at + street))
    const aside = isAside(tokens, at)
    if (aside) asides.add((asideUntil = at + street))
    facts.push({ concept: "address", values: [said], said, weight: aside ? "aside" : "stated" })
    at += street - 1
  }
  for (const [index, run] of runs.entries()) {
    if (taken.has(run.start) || isDenied(tokens, run.start)) continue
    const lead = before(tokens, run.start, 4)
    const last = lead.at(-1)
    const adjacent =
      last === undefined || last.after === "" || (RESIDENCE_CUES.has(last.word) && /^[:,]*$/.test(last.after))
        ? last
        : undefined
    const end = run.start + run.tokens.length
    const prepositions = adjacent !== undefined && PLACE_PREPOSITIONS.has(adjacent.word)
    const apposed = index > 0 && run.start > 0 && tokens[run.start - 1]!.after !== ""
    const zipFollows =
      tokens[end] !== undefined && zipAt(tokens, end) !== undefined && /^,?$/.test(tokens[end - 1]!.after)
    const zipBefore = run.start > 0 && ZIP.test(tokens[run.start - 1]!.word)
    const { length, state, town } = townOf(tokens, run.start, run.tokens)
    for (let at = run.start; at < run.start + length; at++) taken.add(at)
    const aside = isAside(tokens, run.start) || (run.start === asideUntil && asideUntil > 0)
    if (aside) asides.add((asideUntil = run.start + length))
    const lived = lead.some(({ word }) => RESIDENCE_CUES.has(word)) && (prepositions || adjacent !== undefined && (RESIDENCE_CUES.has(adjacent.word) || adjacent.word === "is")) // prettier-ignore
    const afterName = prepositions && (runs.some((other) => other !== run && other.start + other.tokens.length === run.start - 1 && tokens[run.start - 2]!.after.replace(",", "") === "") || lead.slice(-3).some(({ word }) => /^(am|is|are|customer|client|user|caller|person|out|zip)$/.test(word))) // prettier-ignore
    if (!prepositions && !apposed && !zipFollows && !zipBefore && state === undefined && !lived) continue
    const sure = lived || afterName || (state !== undefined && prepositions)
    const weight = aside ? "aside" : sure ? "stated" : "mentioned"
    const named = runs.find((other) => other.start + other.tokens.length === run.start && other.tokens.length >= 2)
    const closed = tokens[end] === undefined || tokens[end - 1]!.after !== ""
    const beside =
      weight === "mentioned" && apposed && named !== undefined && closed && town.every(({ capital }) => capital)
        ? { beside: true as const }
        : {}
    if (town.length > 0)
      facts.push({ concept: "city", values: townValues(town), said: written(town), weight, ...beside })
    if (state !== undefined)
      facts.push({
        concept: "state",
        values: state.values,
        said: state.said,
        weight: town.length > 0 && weight === "stated" ? "mentioned" : weight
      })
  }
  return { facts, asides }
}

/** How many words of a street with its number begin here. */
const streetAt = (tokens: ReadonlyArray<Token>, at: number): number => {
  if (!/^\d{1,5}[a-z]?$/.test(tokens[at]!.word)) return 0
  for (let length = 2; length <= 5 && at + length <= tokens.length; length++) {
    if (tokens[at + length - 2]!.after !== "") return 0
    if (STREETS.has(tokens[at + length - 1]!.word) && length > 2) return length
  }
  return 0
}

interface Place {
  /** How many words the town and its state have. */
  readonly length: number
  readonly town: ReadonlyArray<Token>
  readonly state?: { readonly values: ReadonlyArray<string>; readonly said: string }
}

/** A run as a town and the state after it: "Boston", "Boston, MA", "Boston Massachusetts", "new york, ny". */
const townOf = (tokens: ReadonlyArray<Token>, start: number, run: ReadonlyArray<Token>): Place => {
  const end = start + run.length
  const parted = run.at(-1)!.after.includes(",") ? stateAt(tokens, end) : undefined
  if (parted !== undefined) return { town: run, state: parted, length: run.length + parted.length }
  for (let from = run.length === 1 ? 0 : 1; from < run.length; from++) {
    const state = stateAt(run, from)
    if (state !== undefined && (from > 0 || run.length > 1) && state.length === run.length - from)
      return { town: run.slice(0, from), state, length: run.length }
  }
  // "Portland OR": a short state may look like a common word, which ends the run.
  const next = tokens[end]
  if (next !== undefined && run.at(-1)!.after === "" && /^[A-Z]{2}$/.test(next.text)) {
    const state = stateAt(tokens, end)
    if (state !== undefined) return { town: run, state, length: run.length + state.length }
  }
  return { town: run, length: run.length }
}

const SHORT = new Map(Object.entries(STATES).map(([short, name]) => [name, short]))

const stateAt = (
  tokens: ReadonlyArray<Token>,
  at: number
): (NonNullable<Place["state"]> & { readonly length: number }) | undefined => {
  const first = tokens[at]
  if (first === undefined) return undefined
  // "L.A." is no state, however "LA" is one.
  const dotted = first.word.includes(".") && first.word !== "d.c"
  const name = dotted ? undefined : STATES[first.word.replaceAll(".", "")]
  if (
    name !== undefined &&
    (first.text === first.text.toUpperCase() || first.after !== "" || /^\d/.test(tokens[at + 1]?.word ?? ""))
  ) {
    return { values: [first.text.replaceAll(".", ""), name], said: first.text, length: 1 }
  }
  for (const length of [3, 2, 1]) {
    const words = tokens.slice(at, at + length)
    const short = words.length === length ? SHORT.get(folded(words)) : undefined
    const next = tokens[at + length]
    const whole =
      words.at(-1)?.after !== "" ||
      next === undefined ||
      (next.word !== "city" && (COMMON_WORDS.has(next.word) || /^\d/.test(next.word)))
    if (short !== undefined && whole) return { values: [short, written(words)], said: written(words), length }
  }
  return undefined
}

const townValues = (town: ReadonlyArray<Token>): ReadonlyArray<string> => {
  const long = TOWNS[folded(town).replaceAll(".", "")]
  const shorter = town.length > 1 ? [written(town.slice(0, 2)), written(town.slice(0, 1))] : []
  return [...new Set([...(long === undefined ? [] : [long]), written(town), ...shorter])]
}
