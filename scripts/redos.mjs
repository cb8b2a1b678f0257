// Checks every regular expression of src for superlinear matching time with recheck, so that one person's text can't stop the
// process. Composed expressions are evaluated from the constants of their module. Results are cached by pattern.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync } from "vite"
import { check } from "recheck"
import { root } from "./stale.mjs"

/** Composed expressions without a constant value, with the reason that no text from outside is in their pattern. */
const COMPOSED = {
  "src/web/chat/form/checkFields.ts": "the same pattern, in the page of the person who types",
  "src/services/actions/pattern.ts": "an operator's pattern, whose steps patternProblem bounds when it is published",
  "src/observability/otlp.ts": "a fixed number of hexadecimal digits: /^[0-9a-f]{32}$/",
  "src/channels/http/edge.ts": "Max's own routes, each parameter /[^/]+/ between slashes",
  "src/channels/cli/turnView.ts": "the number of a choice: /^1\\. /m"
}

const source = join(root, "src")
const cache = join(root, "node_modules/.cache/redos.json")

const knownResults = () => {
  try {
    return JSON.parse(readFileSync(cache, "utf8"))
  } catch {
    return {}
  }
}

/** The value of an expression made of string constants; undefined for any other. */
const textOf = (node, constants) => {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : undefined
    case "Identifier":
      return textOf(constants.get(node.name), constants)
    case "TemplateLiteral": {
      const values = node.expressions.map((one) => textOf(one, constants))
      return values.includes(undefined)
        ? undefined
        : node.quasis.map(({ value }, index) => value.cooked + (values[index] ?? "")).join("")
    }
    default:
      return undefined
  }
}

/** The regular expressions of a file, with their lines, and the lines of those without a constant value. */
const expressionsIn = (file) => {
  const text = readFileSync(join(root, file), "utf8")
  const { program } = parseSync(file, text)
  const constants = new Map()
  const found = []
  const open = []
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== "object" || node === null) return
    const line = () => text.slice(0, node.start).split("\n").length
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier") constants.set(node.id.name, node.init)
    if (node.type === "Literal" && node.regex) found.push({ ...node.regex, line: line() })
    if ((node.type === "NewExpression" || node.type === "CallExpression") && node.callee.name === "RegExp") {
      const [pattern, flags] = node.arguments.map((one) => textOf(one, constants))
      if (pattern === undefined) open.push(line())
      else found.push({ pattern, flags: flags ?? "", line: line() })
    }
    for (const [key, value] of Object.entries(node)) if (key !== "loc" && key !== "regex") visit(value)
  }
  visit(program)
  return { found, open }
}

const known = knownResults()
const checked = {}
const findings = []
let count = 0
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.[jt]sx?$/.test(name))
for (const name of files.sort()) {
  const file = join("src", name).replaceAll("\\", "/")
  const { found, open } = expressionsIn(file)
  if (open.length > 0 && COMPOSED[file] === undefined) {
    findings.push(`${file}:${open[0]}: composed of values that are not constants of its module`)
  }
  for (const { flags, line, pattern } of found) {
    count += 1
    const key = `/${pattern}/${flags}`
    // A pattern whose check takes too long is not known to be safe.
    const result = known[key] ?? (await check(pattern, flags.replace(/[dv]/g, ""), { timeout: 20_000 }))
    // One that took too long on a busy machine is checked again the next time.
    if (result.status !== "unknown")
      checked[key] = { status: result.status, complexity: result.complexity && { summary: result.complexity.summary } }
    if (result.status !== "safe") {
      findings.push(`${file}:${line}: ${key} is ${result.complexity?.summary ?? result.status}`)
    }
  }
}
mkdirSync(join(root, "node_modules/.cache"), { recursive: true })
writeFileSync(cache, JSON.stringify(checked))
for (const finding of findings) console.error(finding)
console.log(`${count} regular expressions, ${findings.length} superlinear`)
process.exit(findings.length === 0 ? 0 : 1)
