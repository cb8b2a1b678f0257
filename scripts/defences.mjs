// Removes each defence, one at a time, from a copy of the source and runs its test, which must fail. See HELP.
import { spawn } from "node:child_process"
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { build } from "vite"
import { mutants } from "./defences/mutants.mjs"
import { faultsOf, patched } from "./defences/patch.mjs"
import { replays } from "./defences/replays.mjs"
import { openServer } from "./server.mjs"
import { root } from "./stale.mjs"

const JOBS = 2
const HELP = `npm run defences -- [--write | --check] [NAME…]

Removes each defence from a copy of the source, runs its test, which must fail, and prints the tables of docs/security.md.
A NAME selects the entries whose name contains it.

  --write  write the rows of the selected entries to docs/security.md
  --check  run no test: only compare every patch, test name and table row with the source
`
const { positionals: wanted, values: flags } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, check: { type: "boolean" }, help: { type: "boolean" } }
})
if (flags.help) {
  console.log(HELP)
  process.exit()
}
const chosen = (entries) =>
  entries.filter(
    ({ name }) => wanted.length === 0 || wanted.some((word) => name.toLowerCase().includes(word.toLowerCase()))
  )

const row = (cells) => `| ${cells.join(" | ")} |`

/** The table cells of an entry that don't depend on a run. */
const cellsOf = {
  replays: ({ defence, name, removed, test }) => [
    name,
    `\`${test[0].replace("test/", "")}\`: ${test[1]}`,
    defence,
    removed
  ],
  mutants: ({ defence, name, removed }) => [name, defence, removed]
}

const page = join(root, "docs/security.md")
const all = [...chosen(replays), ...chosen(mutants)]
if (all.length === 0) {
  console.error(`No defence has a name with ${wanted.join(" or ")}`)
  process.exit(1)
}

// Before any run: patches that don't apply, renamed tests and outdated table rows.
const faultsBefore = all.flatMap((entry) => faultsOf(root, entry))
if (flags.check) {
  const written = readFileSync(page, "utf8").replaceAll(/ +/g, " ")
  for (const [kind, entries] of Object.entries({ replays, mutants }))
    for (const entry of chosen(entries))
      if (!written.includes(row(cellsOf[kind](entry))))
        faultsBefore.push(`${entry.name}: its row in docs/security.md differs`)
}
// Every attack on changes has an entry.
if (flags.check && wanted.length === 0)
  for (const [, attack] of readFileSync(page, "utf8").matchAll(/^\| (A\d+) +\|/gm))
    if (!replays.some(({ name }) => /\(attack (A\d+)/.exec(name)?.[1] === attack))
      faultsBefore.push(`Attack ${attack} of docs/security.md: no defence is named after it`)
for (const fault of faultsBefore) console.error(fault)
if (faultsBefore.length > 0 || flags.check) process.exit(faultsBefore.length === 0 ? 0 : 1)

const home = mkdtempSync(join(tmpdir(), "max-defences-"))
chmodSync(home, 0o755)
process.on("exit", () => rmSync(home, { recursive: true, force: true }))

const copy = (number) => {
  const folder = join(home, `copy${number}`)
  for (const name of ["src", "test", "examples", "package.json", "tsconfig.json", "vitest.config.ts"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  return folder
}

/** Builds the pages of a copy. */
const buildPages = async (folder) => {
  for (const config of ["vite.config.ts", "vite.embed.config.ts"])
    await build({ configFile: join(folder, "src/web", config), build: { outDir: join(folder, "dist/web") } })
}
const isOfPages = ({ patches }) => patches.some(([path]) => path.startsWith("src/web/"))

/** Runs the tests whose names contain these texts, each in its file. Returns what became of each. */
const runTests = (folder, url, tests) =>
  new Promise((resolve, reject) => {
    const output = join(folder, "result.json")
    rmSync(output, { force: true })
    const pattern = tests.map(([, name]) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")
    const child = spawn(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        ...new Set(tests.map(([file]) => file)),
        "-t",
        pattern,
        "--reporter=json",
        `--outputFile=${output}`
      ],
      { cwd: folder, stdio: "ignore", env: { ...process.env, DATABASE_URL: url, MAX_TEST_PART: "0.1" } }
    )
    child.on("error", reject)
    child.on("close", () => {
      const text = (() => {
        try {
          return readFileSync(output, "utf8")
        } catch {
          return "{}"
        }
      })()
      const { testResults = [] } = JSON.parse(text)
      resolve(tests.map((test) => resultOf(testResults, test)))
    })
  })

const resultOf = (testResults, [file, name]) => {
  const ofFile = testResults.filter((one) => one.name.endsWith(file))
  const ran = ofFile
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName, status }) => fullName.includes(name) && status !== "skipped" && status !== "pending")
  return {
    ran: ran.length,
    failures: ran.filter(({ status }) => status === "failed").map(({ failureMessages }) => failureMessages[0] ?? ""),
    crash: ofFile.find(({ message }) => message)?.message
  }
}

/** Applies the patches, and returns a function that reverts them. */
const applyPatches = (folder, patches) => {
  const files = [...patched(folder, patches)]
  for (const [path, { after }] of files) writeFileSync(path, after)
  return () => files.forEach(([path, { before }]) => writeFileSync(path, before))
}

const firstLine = (message) =>
  (message.split("\n").find((line) => line.trim() !== "") ?? "")
    .replace(/^(Assertion)?Error: /, "")
    .replaceAll("|", "\\|")
    .replaceAll("`", "'")
    .slice(0, 140)

const copies = Array.from({ length: JOBS }, (_, number) => copy(number))

/** Removes the defences, one per copy at a time. Returns the result of each entry's test. */
const removeEach = async (entries, url) => {
  const results = new Map()
  const open = [...entries]
  await Promise.all(
    copies.map(async (folder) => {
      for (let entry = open.shift(); entry !== undefined; entry = open.shift()) {
        const restore = applyPatches(folder, entry.patches)
        if (isOfPages(entry)) await buildPages(folder)
        const [result] = await runTests(folder, url, [entry.test])
        restore()
        if (isOfPages(entry)) await buildPages(folder)
        results.set(entry, result)
        const how =
          result.failures.length > 0
            ? `killed: ${firstLine(result.failures[0])}`
            : result.ran > 0
              ? "passed"
              : `no test ran ${result.crash ?? ""}`
        console.error(`${entry.name}: ${how}`)
      }
    })
  )
  return results
}

const started = Date.now()
const server = await openServer()
let faults = 0
try {
  // Control: with every defence in place, every test passes.
  // Without them, a page is the answer that there is none.
  if (all.some(({ test: [file] }) => file.startsWith("test/web/")))
    for (const folder of copies) await buildPages(folder)
  const controls = [...new Map(all.map(({ test }) => [test.join(" > "), test])).values()]
  for (const [index, { crash, failures, ran }] of (await runTests(copies[0], server.url, controls)).entries()) {
    if (ran > 0 && failures.length === 0) continue
    faults += 1
    console.error(`BROKEN ${controls[index].join(": ")}: ${failures[0] ?? crash ?? "no test ran"}`)
  }
  console.error(`${controls.length} controls, ${Math.round((Date.now() - started) / 1000)} s`)
  const results = await removeEach(all, server.url)
  for (const [entry, { failures }] of results) {
    if (failures.length > 0) continue
    faults += 1
    console.error(`SURVIVED ${entry.name}`)
  }
  const failed = (entry) =>
    firstLine(results.get(entry).failures[0] ?? "**it passed**") || "the expected failure succeeded"
  const heads = {
    replays: [
      ["replay", "test", "defence", "removed", "failure of the test"],
      ["---", "---", "---", "---", "---"]
    ],
    mutants: [
      ["mutant", "file", "removed", "failure of the corpus"],
      ["---", "---", "---", "---"]
    ]
  }
  let text = readFileSync(page, "utf8")
  for (const [kind, entries] of Object.entries({ replays, mutants })) {
    const rows = new Map(
      chosen(entries).map((entry) => [entry.name, row([...cellsOf[kind](entry), `\`${failed(entry)}\``])])
    )
    const head = heads[kind].map(row)
    if (!flags.write) console.log(`${[...head, ...rows.values()].join("\n")}\n`)
    const [from, to] = [`<!-- ${kind} -->`, `<!-- end of ${kind} -->`]
    text = text.replace(new RegExp(`${from}([^]*)${to}`), (_, written) => {
      // Entries that didn't run keep their rows.
      for (const line of written.split("\n").filter((one) => one.startsWith("| "))) {
        const name = line.slice(2).split(" |")[0].trim()
        if (!rows.has(name)) rows.set(name, line)
      }
      const listed = entries.flatMap(({ name }) => rows.get(name) ?? [])
      return `${from}\n\n${[...head, ...listed].join("\n")}\n\n${to}`
    })
  }
  if (flags.write) writeFileSync(page, text)
} finally {
  await server.close?.()
}
console.error(
  `${faults === 0 ? "Every removed defence was detected." : `${faults} undetected.`} ${Math.round((Date.now() - started) / 1000)} s`
)
process.exit(faults === 0 ? 0 : 1)
