// The subset of vitest that the bundled tests use: it registers the tests of a file for the runner.
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"

// Skips shrinking: the first failing case is enough.
fc.configureGlobal({ endOnFailure: true })

const none = () => ({ setUps: [], tearDowns: [], before: [], after: [], tests: [] })
let registered = none()
const names = []

/** Returns and clears the registered tests. */
export const take = () => {
  const taken = registered
  registered = none()
  return taken
}

export const addSetUp = (setUp, tearDown) => {
  registered.setUps.push(setUp)
  registered.tearDowns.push(tearDown)
}
export const beforeAll = (run) => registered.setUps.push(run)
export const afterAll = (run) => registered.tearDowns.push(run)
export const beforeEach = (run) => registered.before.push(run)
export const afterEach = (run) => registered.after.push(run)

/** What the running test cleans up at its end. */
let finishing = []
export const onTestFinished = (run) => finishing.unshift(run)

export const describe = (name, ...rest) => {
  names.push(name)
  rest.at(-1)()
  names.pop()
}

const isFunction = (part) => typeof part === "function"

/** Registers a test; hooks of the file run around each of its tests, wherever they are declared. */
export const addTest = (name, run) => {
  const { after, before } = registered
  const whole = async () => {
    finishing = []
    try {
      for (const hook of before) await hook()
      await run()
    } finally {
      for (const end of [...finishing, ...after]) await end()
    }
  }
  registered.tests.push({ name: [...names, name].join(" > "), run: whole })
}
export const it = (name, ...rest) => addTest(name, rest.find(isFunction))
/** Like vitest's: rows are spread only if all of them are arrays. */
it.each =
  (rows) =>
  (name, ...rest) => {
    const isSpread = rows.every(Array.isArray)
    rows.forEach((row, index) =>
      it(`${name} ${index}`, () => (isSpread ? rest.find(isFunction)(...row) : rest.find(isFunction)(row)))
    )
  }

/** The values that vitest's set-up provides to tests: all that `openServer` reports. */
const provided = JSON.parse(process.env.MUTATION_PROVIDED ?? "{}")
export const inject = (name) => {
  if (!Object.hasOwn(provided, name)) throw new Error(`The mutation harness doesn't provide ${name}`)
  return provided[name]
}

/** An asymmetric matcher is an object with this property, a predicate. */
const MATCHES = Symbol("matches")

const isObject = (value) => typeof value === "object" && value !== null
/** Equality like `toEqual`: ignores undefined properties and classes. */
const equal = (a, b, subset) => {
  if (Object.is(a, b)) return true
  if (isObject(b) && MATCHES in b) return b[MATCHES](a)
  if (!isObject(a) || !isObject(b)) return false
  if (Array.isArray(b))
    return Array.isArray(a) && a.length === b.length && b.every((part, index) => equal(a[index], part, subset))
  if (b instanceof Map) return a.size === b.size && equal([...a], [...b], subset)
  if (b instanceof Set)
    return a.size === b.size && [...b].every((part) => [...a].some((one) => equal(one, part, subset)))
  if (b instanceof Error) return a.message === b.message
  if (b instanceof Date) return a instanceof Date && a.getTime() === b.getTime()
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
  toContain: (found, wanted) => (found instanceof Set ? found.has(wanted) : found.includes(wanted)),
  toHaveProperty: (found, wanted) => Object.hasOwn(found, wanted),
  toBeDefined: (found) => found !== undefined,
  toContainEqual: (found, wanted) => found.some((part) => equal(part, wanted, false)),
  toHaveLength: (found, wanted) => found.length === wanted,
  toMatch: (found, wanted) => (wanted instanceof RegExp ? wanted.test(found) : found.includes(wanted)),
  toBeNull: (found) => found === null,
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
      if (isFunction(wanted)) return error instanceof wanted
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
        if (name === "resolves" || name === "rejects") return settled(found, message, negated, name === "rejects")
        if (!Object.hasOwn(matchers, name)) throw new Error(`The mutation harness lacks the matcher ${String(name)}`)
        return (...args) => {
          if (matchers[name](found, ...args) === negated) {
            throw new Error(`${message ?? ""} ${negated ? "not " : ""}${name}: ${show(found)}, ${show(args[0])}`)
          }
        }
      }
    }
  )

/** Expectations about the outcome of a promise; a rejection is expected as the function that throws it, for `toThrow`. */
const settled = (promise, message, negated, rejects) =>
  new Proxy(
    {},
    {
      get:
        (_, name) =>
        async (...args) => {
          const outcome = await Promise.resolve(promise).then(
            (value) => ({ value }),
            (error) => ({ error })
          )
          if ("error" in outcome !== rejects) throw new Error(`${message ?? ""} ${show(outcome)}`)
          const thrown = () => {
            throw outcome.error
          }
          const found = !rejects ? outcome.value : name === "toThrow" ? thrown : outcome.error
          return expectation(found, message, negated)[name](...args)
        }
    }
  )

export const expect = (found, message) => expectation(found, message, false)
const matching = (matches) => ({ [MATCHES]: matches })
const containing = (text) => (found) => typeof found === "string" && found.includes(text)
expect.stringContaining = (text) => matching(containing(text))
expect.stringMatching = (pattern) => matching((found) => typeof found === "string" && new RegExp(pattern).test(found))
expect.objectContaining = (part) => matching((found) => equal(found, part, true))
expect.arrayContaining = (parts) =>
  matching((found) => parts.every((part) => found.some((one) => equal(one, part, false))))
expect.any = (type) =>
  matching((found) => (isObject(found) ? found instanceof type : typeof found === type.name.toLowerCase()))
expect.not = { stringContaining: (text) => matching((found) => !containing(text)(found)) }
expect.fail = (message) => {
  throw new Error(message)
}
