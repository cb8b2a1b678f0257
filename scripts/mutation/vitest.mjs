// The subset of vitest that the bundled tests use: it registers the tests of a file for the runner.
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"

// Skips shrinking: the first failing case is enough.
fc.configureGlobal({ endOnFailure: true })

let registered = { setUps: [], tearDowns: [], tests: [] }
const names = []

/** Returns and clears the registered tests. */
export const take = () => {
  const taken = registered
  registered = { setUps: [], tearDowns: [], tests: [] }
  return taken
}

export const addSetUp = (setUp, tearDown) => {
  registered.setUps.push(setUp)
  registered.tearDowns.push(tearDown)
}

export const describe = (name, body) => {
  names.push(name)
  body()
  names.pop()
}

export const addTest = (name, run) => registered.tests.push({ name: [...names, name].join(" > "), run })
export const it = (name, run) => addTest(name, run)
it.each = (rows) => (name, run) =>
  rows.forEach((row) => it(`${name} ${JSON.stringify(row)}`, () => run(...(Array.isArray(row) ? row : [row]))))

/** The values that vitest's set-up provides to tests. */
export const inject = (name) => ({ serverUrl: process.env.DATABASE_URL, template: process.env.MAX_TEST_TEMPLATE })[name]

/** An asymmetric matcher for strings that contain a text. */
const PART = Symbol("part")

const isObject = (value) => typeof value === "object" && value !== null
/** Equality like `toEqual`: ignores undefined properties and classes. */
const equal = (a, b, subset) => {
  if (Object.is(a, b)) return true
  if (isObject(b) && PART in b) return typeof a === "string" && a.includes(b[PART]) !== b.negated
  if (!isObject(a) || !isObject(b)) return false
  if (Array.isArray(b))
    return Array.isArray(a) && a.length === b.length && b.every((part, index) => equal(a[index], part, subset))
  if (b instanceof Map || b instanceof Set) return a.size === b.size && equal([...a], [...b], subset)
  if (b instanceof Error) return a.message === b.message
  const keys = new Set([...(subset ? [] : Object.keys(a)), ...Object.keys(b)])
  return [...keys].every((key) => equal(a[key], b[key], subset))
}

const show = (value) => {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner))?.slice(0, 100)
  } catch {
    return String(value)
  }
}

const matchers = {
  toBe: (found, wanted) => Object.is(found, wanted),
  toEqual: (found, wanted) => equal(found, wanted, false),
  toMatchObject: (found, wanted) => equal(found, wanted, true),
  toContain: (found, wanted) => found.includes(wanted),
  toContainEqual: (found, wanted) => found.some((part) => equal(part, wanted, false)),
  toHaveLength: (found, wanted) => found.length === wanted,
  toMatch: (found, wanted) => (wanted instanceof RegExp ? wanted.test(found) : found.includes(wanted)),
  toBeUndefined: (found) => found === undefined,
  toBeGreaterThan: (found, wanted) => found > wanted,
  toBeGreaterThanOrEqual: (found, wanted) => found >= wanted,
  toBeLessThan: (found, wanted) => found < wanted,
  toBeLessThanOrEqual: (found, wanted) => found <= wanted,
  toBeInstanceOf: (found, wanted) => found instanceof wanted,
  toThrow: (found, wanted) => {
    try {
      found()
    } catch (error) {
      if (wanted === undefined || wanted === Error) return typeof error.message === "string"
      return wanted instanceof RegExp ? wanted.test(error.message) : error.message.includes(wanted)
    }
    return false
  },
  toMatchFileSnapshot: (found, path) =>
    readFileSync(isAbsolute(path) ? path : join("test/database/sql", path), "utf8") === found
}

const expectation = (found, message, negated) =>
  new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === "not") return expectation(found, message, !negated)
        if (!Object.hasOwn(matchers, name)) throw new Error(`The mutation harness lacks the matcher ${String(name)}`)
        return (...args) => {
          if (matchers[name](found, ...args) === negated) {
            throw new Error(`${message ?? ""} ${negated ? "not " : ""}${name}: ${show(found)}, ${show(args[0])}`)
          }
        }
      }
    }
  )

export const expect = (found, message) => expectation(found, message, false)
expect.stringContaining = (text) => ({ [PART]: text, negated: false })
expect.not = { stringContaining: (text) => ({ [PART]: text, negated: true }) }
expect.fail = (message) => {
  throw new Error(message)
}
