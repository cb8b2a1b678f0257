// Mutation testing. Files that are tested without a database have two rounds: all mutants against those tests, then lines
// with survivors also against a small part of the conformance corpus. Each other file has one round, against its tests of
// `SERVED`. Results are cached per file in node_modules/.cache/stryker, and docs/mutation.md is written from the cache; a
// file that isn't in the cache keeps its rows.
// Arguments: files to mutate, whole or FILE:FROM-TO (default: all of stryker.config.mjs). --offline skips what needs a
// database, --alive the first round.
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { accepted } from "./mutation/accepted.mjs"
import { DATABASE, OFFLINE, SERVED } from "./mutation/suites.mjs"
import config, { cacheFolder } from "../stryker.config.mjs"
import { openServer } from "./server.mjs"
import { root } from "./stale.mjs"

const pagePath = join(root, "docs/mutation.md")
const cache = join(root, cacheFolder)
const cached = join(cache, "known.json")
const args = process.argv.slice(2)
const files = args.filter((arg) => !arg.startsWith("--"))

const run = (chosen, tests, env) =>
  new Promise((resolve, reject) => {
    const stryker = join(root, "node_modules/@stryker-mutator/core/bin/stryker.js")
    const child = spawn(process.execPath, [stryker, "run", "--mutate", chosen.join(",")], {
      cwd: root,
      stdio: "inherit",
      env: {
        ...process.env,
        MAX_TEST_PART: process.env.MAX_TEST_PART ?? "0.03",
        MUTATION_TESTS: tests.join(","),
        MUTATION_DIST: join(root, "dist"),
        ...env
      }
    })
    // Forwards the signal, so that Stryker stops and the server is closed.
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => child.kill("SIGINT"))
    child.on("error", reject)
    child.on("close", resolve)
  })

const recall = () => (existsSync(cached) ? JSON.parse(readFileSync(cached, "utf8")) : {})

const nameOf = (file) => file.replace(/:.*/, "")
const placeOf = ({ line, mutatorName, original, replacement }) =>
  JSON.stringify([line, mutatorName, original, replacement])

/** Merges this run's results into the cache. */
const remember = (chosen) => {
  const known = recall()
  const report = JSON.parse(readFileSync(join(cache, "report.json"), "utf8"))
  for (const [name, { mutants, source }] of Object.entries(report.files)) {
    if (mutants.every(({ status }) => status === "Ignored")) continue
    const found = mutants.map(({ location, mutatorName, replacement, status }) => ({
      status,
      mutatorName,
      replacement: replacement ?? "",
      line: location.start.line,
      lastLine: location.end.line,
      original: textAt(source, location)
    }))
    // After a partial run (FILE:FROM-TO), the other lines keep their cached results.
    const places = new Set(found.map(placeOf))
    const rest = chosen.some((file) => file.startsWith(`${name}:`))
      ? (known[name] ?? []).filter((mutant) => !places.has(placeOf(mutant)))
      : []
    known[name] = [...rest, ...found]
  }
  mkdirSync(cache, { recursive: true })
  writeFileSync(cached, JSON.stringify(known))
  return known
}

const textAt = (source, { end, start }) => {
  const lines = source.split("\n").slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1)
  lines[0] = lines[0].slice(start.column - 1)
  return lines.join(" ")
}

const short = (text) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("`", "'").slice(0, 90)
const isAlive = ({ status }) => status === "Survived" || status === "NoCoverage"

const baseOf = (name) => name.split("/").at(-1)
const row = (cells) => `| ${cells.join(" | ")} |`

/** The rows of the present page whose files aren't in the cache. */
const keptRows = (known) => {
  const rows = readFileSync(pagePath, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(/ +\| /))
  const files = rows.filter(([name]) => config.mutate.includes(name.trim()) && !Object.hasOwn(known, name.trim()))
  const names = files.map(([name]) => name.trim())
  return {
    names,
    files,
    survivors: rows.filter(([place]) => names.some((name) => place.startsWith(`${baseOf(name)}:`)))
  }
}

const page = (known) => {
  const kept = keptRows(known)
  const names = Object.keys(known).sort()
  const count = (name, ...statuses) => known[name].filter(({ status }) => statuses.includes(status)).length
  const survivors = names.flatMap((name) => known[name].filter(isAlive).map((mutant) => ({ name, ...mutant })))
  const reason = ({ mutatorName, name, original, replacement }) =>
    accepted.find(
      (entry) =>
        name.endsWith(entry.file) &&
        (entry.mutator === undefined || entry.mutator === mutatorName) &&
        (entry.is === undefined || original === entry.is) &&
        (entry.original === undefined || original.includes(entry.original)) &&
        (entry.replacement === undefined || replacement.includes(entry.replacement))
    )?.reason
  const missing = config.mutate.filter((name) =>
    Object.hasOwn(known, name) ? known[name].some(({ status }) => status === "Pending") : !kept.names.includes(name)
  )
  const open = survivors.filter((mutant) => reason(mutant) === undefined)
  return {
    missing,
    open,
    text: [
      "# Mutation testing",
      "",
      "Written by `npm run mutation`. Stryker applies small changes to the code that decides access, one at a time, and the",
      "tests must detect each: the tests without a database and, for their survivors, a small part of the corpus; or, where",
      "services and HTTP decide, their tests over a database (`scripts/mutation/suites.mjs`). Stryker doesn't change the inside of",
      "SQL texts; `npm run defences` removes their conditions.",
      "",
      "| file | mutants | killed | timed out | survived | not run |",
      "| --- | --- | --- | --- | --- | --- |",
      ...names
        .map((name) => [
          name,
          known[name].length - count(name, "Ignored", "CompileError"),
          count(name, "Killed", "RuntimeError"),
          count(name, "Timeout"),
          count(name, "Survived", "NoCoverage"),
          count(name, "Pending")
        ])
        .concat(kept.files)
        .map(row)
        .sort(),
      ...(missing.length === 0 ? [] : ["", `Not run, or incomplete: ${missing.join(", ")}.`]),
      "",
      "## Survivors",
      "",
      "| place | original | mutant | reason |",
      "| --- | --- | --- | --- |",
      ...survivors
        .map((mutant) => [
          `${baseOf(mutant.name)}:${mutant.line}`,
          `\`${short(mutant.original)}\``,
          `\`${short(mutant.replacement)}\``,
          reason(mutant) ?? "**unexplained**"
        ])
        .concat(kept.survivors)
        .map(row)
        .sort(),
      ""
    ].join("\n")
  }
}

const chosen = files.length === 0 ? config.mutate : files
const isServed = (file) => Object.hasOwn(SERVED, nameOf(file))
const offline = chosen.filter((file) => !isServed(file))
const served = args.includes("--offline") ? [] : chosen.filter(isServed)

/** The lines of these files with surviving mutants. */
const aliveLines = (known, names) =>
  names.flatMap((name) => [
    ...new Set((known[name] ?? []).filter(isAlive).map(({ lastLine, line }) => `${name}:${line}-${lastLine}`))
  ])

const round = async (mutated, tests, env) => {
  const status = await run(mutated, tests, env)
  if (status !== 0) throw new Error(`Stryker ended with ${status}`)
  remember(mutated)
}

if (!args.includes("--report")) {
  mkdirSync(cache, { recursive: true })
  if (!args.includes("--alive") && offline.length > 0) await round(offline, OFFLINE)
  const lines = args.includes("--offline") ? [] : aliveLines(recall(), [...new Set(offline.map(nameOf))])
  if (lines.length + served.length > 0) {
    if (served.length > 0)
      execFileSync(process.execPath, ["scripts/build.mjs", "--if-stale"], { cwd: root, stdio: "inherit" })
    const { close, provided } = await openServer()
    const env = { MUTATION_PROVIDED: JSON.stringify(provided) }
    try {
      if (lines.length > 0) await round(lines, [...OFFLINE, ...DATABASE], env)
      for (const file of served) await round([file], SERVED[nameOf(file)], env)
    } finally {
      await close()
    }
  }
}
const { missing, open, text } = page(recall())
writeFileSync(pagePath, text)
console.error(
  [
    open.length === 0 ? "Every survivor is accounted for." : `${open.length} unexplained survivors.`,
    ...(missing.length === 0 ? [] : [`Not run, or incomplete: ${missing.join(", ")}.`]),
    "See docs/mutation.md"
  ].join(" ")
)
process.exit(open.length === 0 && missing.length === 0 ? 0 : 1)
