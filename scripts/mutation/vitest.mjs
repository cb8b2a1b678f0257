// As much of vitest as the tests use that mutants are run against, in one process that starts at once: vitest itself takes
// seconds, and Stryker's runner for it doesn't run tests by name on vitest 5. The first test that fails ends the process.
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"

// A case that fails is enough; nobody reads the smallest one.
fc.configureGlobal({ endOnFailure: true })

const tests = []
const names = []

export const describe = (name, body) => {
  names.push(name)
  body()
  names.pop()
}

export const addTest = (name, run) => tests.push([[...names, name].join(" > "), run])
export const it = (name, run) => addTest(name, run)
it.each = (rows) => (name, run) =>
  rows.forEach((row) => it(`${name} ${JSON.stringify(row)}`, () => run(...(Array.isArray(row) ? row : [row]))))

/** What a test file is given by vitest's set-up. */
export const inject = () => process.env.DATABASE_URL
export const layers = []

export const runTests = async () => {
  for (const [name, run] of tests) {
    try {
      await run()
    } catch (error) {
      console.error(`${name}: ${error?.message ?? error}`)
      process.exit(1)
    }
  }
  tests.length = 0
}

/** What stands for any text that contains this one. */
const PART = Symbol("part")

const isObject = (value) => typeof value === "object" && value !== null
/** Equality as `toEqual` has it: what is undefined isn't there, and nobody asks for classes. */
const equal = (a, b, subset) => {
  if (Object.is(a, b)) return true
  if (isObject(b) && PART in b) return typeof a === "string" && a.includes(b[PART])
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
  toHaveLength: (found, wanted) => found.length === wanted,
  toMatch: (found, wanted) => (wanted instanceof RegExp ? wanted.test(found) : found.includes(wanted)),
  toBeUndefined: (found) => found === undefined,
  toBeGreaterThan: (found, wanted) => found > wanted,
  toBeGreaterThanOrEqual: (found, wanted) => found >= wanted,
  toBeInstanceOf: (found, wanted) => found instanceof wanted,
  toThrow: (found, wanted) => {
    try {
      found()
    } catch (error) {
      return (
        wanted === undefined || (wanted instanceof RegExp ? wanted.test(error.message) : error.message.includes(wanted))
      )
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
        if (!Object.hasOwn(matchers, name)) throw new Error(`The harness for mutants has no ${String(name)}`)
        return (...args) => {
          if (matchers[name](found, ...args) === negated) {
            throw new Error(`${message ?? ""} ${negated ? "not " : ""}${name}: ${show(found)}, ${show(args[0])}`)
          }
        }
      }
    }
  )

export const expect = (found, message) => expectation(found, message, false)
expect.stringContaining = (text) => ({ [PART]: text })
expect.fail = (message) => {
  throw new Error(message)
}
