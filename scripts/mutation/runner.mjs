// A Stryker test runner in a persistent process. Packages load once; the product and the tests are evaluated again for
// every mutant, with the mutant active from the first line, so that no state leaks between mutants. A mutant runs
// against the tests that cover it: those without a database first, fast ones first.
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Script } from "node:vm"

const state = (globalThis.__stryker__ ??= {})

let evaluate
/** Loader functions of the test files, each with fresh modules. */
const load = () => {
  // The sandbox, after Stryker has changed the working directory.
  const bundle = join(process.cwd(), "mutation.bundle.cjs")
  evaluate ??= new Script(`(function (exports, require, module) {${readFileSync(bundle, "utf8")}\n})`, {
    filename: bundle
  }).runInThisContext()
  const module = { exports: {} }
  evaluate(module.exports, createRequire(bundle), module)
  return module.exports
}

// Leftovers of a mutant may fail asynchronously, which must not end the process.
process.on("unhandledRejection", () => {})

/** Slow test files that cover only some sources. */
const ONLY = {
  "test/permissions/replays/columns.test.ts": /src\/(permissions|services)\//,
  "test/permissions/replays/denials.test.ts": /src\/(permissions|services)\//,
  "test/services/mapping/desk.test.ts": /src\/database\//,
  "test/permissions/access.test.ts": /src\/services\//
}

const textOf = (error) => String(error?.message ?? error).slice(0, 300)
const LONGEST_HOOK = 30_000
/** How long each test took without a mutant: the bound of a hanging test, in the sandbox. */
const TIMES = "mutation.times.json"
const SHORTEST_LIMIT = 15_000
const SLOWER = 10

class Hangs extends Error {}

const within = (limit, run) => {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Hangs()), limit)
  })
  return Promise.race([Promise.resolve().then(run), late]).finally(() => clearTimeout(timer))
}

/** Loads a file, sets up, calls back for every test, and tears down, also what hangs: its servers would run on. */
const withFile = async (open, body) => {
  const { setUps, tearDowns, tests } = open()
  try {
    for (const setUp of setUps) await within(LONGEST_HOOK, setUp)
    await body(tests)
  } finally {
    for (const tearDown of tearDowns) await within(LONGEST_HOOK, tearDown).catch(() => {})
  }
}

const merge = (into, from = {}) => {
  for (const [id, count] of Object.entries(from)) into[id] = (into[id] ?? 0) + count
}

class Runner {
  static inject = []
  capabilities() {
    return { reloadEnvironment: true }
  }

  async dryRun() {
    const tests = []
    const perTest = {}
    for (const file of Object.keys(load())) {
      // The coverage of loading and set-up counts for every test of the file.
      const shared = {}
      state.activeMutant = undefined
      state.currentTestId = undefined
      // Instrumented code keeps a reference to this object.
      const coverage = (state.mutantCoverage ??= { static: {}, perTest: {} })
      coverage.static = {}
      const started = performance.now()
      try {
        const open = load()[file]
        await withFile(open, async (found) => {
          merge(shared, coverage.static)
          const setUp = performance.now() - started
          for (const { name, run } of found) {
            coverage.static = {}
            const before = performance.now()
            await run()
            const timeSpentMs = performance.now() - before
            const id = `${file} > ${name}`
            perTest[id] = { ...shared }
            merge(perTest[id], coverage.static)
            tests.push({ id, name: id, status: 0, timeSpentMs: timeSpentMs + setUp / found.length })
          }
          if (process.env.MUTATION_TIMES)
            console.error(
              `${file}: set-up ${Math.round(setUp)} ms, ${Math.round(performance.now() - started - setUp)} ms`
            )
        })
      } catch (error) {
        return { status: "error", errorMessage: `${file}: ${error?.stack ?? error}` }
      }
    }
    writeFileSync(TIMES, JSON.stringify(Object.fromEntries(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs]))))
    return { status: "complete", tests, mutantCoverage: { static: {}, perTest } }
  }

  async mutantRun({ activeMutant, hitLimit, sandboxFileName, testFilter }) {
    const chosen = testFilter && new Set(testFilter)
    state.activeMutant = activeMutant.id
    state.hitCount = hitLimit === undefined ? undefined : 0
    state.hitLimit = hitLimit
    let nrOfTests = 0
    const times = JSON.parse(readFileSync(TIMES, "utf8"))
    try {
      const files = load()
      for (const file of Object.keys(files)) {
        if (chosen !== undefined && !testFilter.some((id) => id.startsWith(`${file} > `))) continue
        if (ONLY[file] !== undefined && !ONLY[file].test(sandboxFileName)) continue
        let killedBy = file
        try {
          await withFile(files[file], async (tests) => {
            for (const { name, run } of tests) {
              const id = `${file} > ${name}`
              if (chosen !== undefined && !chosen.has(id)) continue
              killedBy = id
              nrOfTests += 1
              await within(Math.max(SHORTEST_LIMIT, SLOWER * times[id]), run)
            }
          })
        } catch (error) {
          if (error instanceof Hangs) {
            // Nothing that the hanging test holds may remain: Stryker starts another process for the next mutant.
            setTimeout(() => process.exit(1), 200)
            return { status: "timeout", reason: killedBy }
          }
          return { status: "killed", killedBy: [killedBy], failureMessage: textOf(error), nrOfTests }
        }
      }
      return { status: "survived", nrOfTests }
    } catch (error) {
      return { status: "killed", killedBy: [], failureMessage: textOf(error), nrOfTests }
    } finally {
      state.activeMutant = undefined
    }
  }
}

/** Reports survivors as soon as they are known. */
class Survivors {
  static inject = []

  onMutantTested({ fileName, location, mutatorName, replacement, status }) {
    if (status !== "Survived" && status !== "NoCoverage" && status !== "Timeout") return
    const { column, line } = location.start
    console.error(`${status}: ${fileName}:${line}:${column} ${mutatorName} ${replacement.slice(0, 100)}`)
  }
}

export const strykerPlugins = [
  { kind: "Reporter", name: "survivors", injectableClass: Survivors },
  { kind: "TestRunner", name: "max", injectableClass: Runner }
]
