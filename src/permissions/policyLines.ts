/** Finds the line of a policy file that a problem is about. Reads the JSON text once, up to its first syntax error. */
import type { Problem } from "./Policy.ts"

interface Open {
  readonly path: string
  readonly isList: boolean
  /** The position of the next entry of a list. */
  index: number
  /** Of the entry of an object whose value comes next. */
  key: string | undefined
  /** Whether an entry has ended, so that only a comma or the closing bracket may follow. */
  isAfterEntry: boolean
  isAfterComma: boolean
}

interface Outline {
  /** The place of each entry, by its path as `Problem.path` writes it. */
  readonly places: ReadonlyMap<string, number>
  /** The place of a syntax error, or of a key that its object has already. */
  readonly fault: number | undefined
}

const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const SPACE = /[ \t\r\n]*/y

/** The root object of a policy has no name in paths; a problem about the whole file has the path `policy`. */
const pathIn = (parent: string, entry: string) =>
  parent === "" ? entry : entry.startsWith("[") ? `${parent}${entry}` : `${parent}.${entry}`

const outline = (text: string): Outline => {
  const places = new Map<string, number>()
  const open: Array<Open> = []
  let isComplete = false
  let at = 0
  const skipSpace = () => {
    SPACE.lastIndex = at
    at += SPACE.exec(text)![0].length
  }
  const fault = () => ({ places, fault: at })
  for (skipSpace(); at < text.length; skipSpace()) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)?.[0]
    const inside = open.at(-1)
    if (token === undefined || isComplete) return fault()
    if (token === "}" || token === "]") {
      const matches = inside !== undefined && inside.isList === (token === "]")
      if (!matches || inside.key !== undefined || inside.isAfterComma) return fault()
      open.pop()
      const outer = open.at(-1)
      if (outer === undefined) isComplete = true
      else Object.assign(outer, { isAfterEntry: true, isAfterComma: false, key: undefined })
    } else if (token === ",") {
      if (inside?.isAfterEntry !== true) return fault()
      Object.assign(inside, { isAfterEntry: false, isAfterComma: true })
    } else if (token === ":" || inside?.isAfterEntry === true) {
      return fault()
    } else if (inside !== undefined && !inside.isList && inside.key === undefined) {
      if (!token.startsWith('"')) return fault()
      const key: string = JSON.parse(token)
      const path = pathIn(inside.path, key)
      if (places.has(path)) return fault()
      places.set(path, at)
      at += token.length
      skipSpace()
      if (text[at] !== ":") return fault()
      at += 1
      inside.key = key
      continue
    } else {
      const path = inside === undefined ? "" : pathIn(inside.path, inside.isList ? `[${inside.index++}]` : inside.key!)
      if (inside?.isList === true) places.set(path, at)
      if (token === "{" || token === "[") {
        open.push({
          path,
          isList: token === "[",
          index: 0,
          key: undefined,
          isAfterEntry: false,
          isAfterComma: false
        })
      } else if (inside === undefined) isComplete = true
      else Object.assign(inside, { isAfterEntry: true, isAfterComma: false, key: undefined })
    }
    at += token.length
  }
  return isComplete ? { places, fault: undefined } : fault()
}

/** The 1-based line of each problem: that of the entry it names, or of the nearest entry around it. */
export const problemLines = (text: string, problems: ReadonlyArray<Problem>): ReadonlyArray<number> => {
  const { fault, places } = outline(text)
  const placeOf = ({ path }: Problem): number => {
    if (path === "policy") return fault ?? 0
    const wanted = path.startsWith("policy.") ? path.slice("policy.".length) : path
    for (let end = wanted.length; end > 0; end--) {
      const place = end === wanted.length || /[.[]/.test(wanted[end]!) ? places.get(wanted.slice(0, end)) : undefined
      if (place !== undefined) return place
    }
    return 0
  }
  const breaks: Array<number> = []
  for (let next = text.indexOf("\n"); next !== -1; next = text.indexOf("\n", next + 1)) breaks.push(next)
  return problems.map((problem) => 1 + countBelow(breaks, placeOf(problem)))
}

/** The number of ascending numbers that are below a bound. */
const countBelow = (numbers: ReadonlyArray<number>, bound: number): number => {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}
