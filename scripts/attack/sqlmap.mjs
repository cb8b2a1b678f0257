/**
 * Runs sqlmap on every parameter of every request, and on a control with a deliberate injection that it must find. A
 * server error in any response is also a finding.
 */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { multipart } from "./multipart.mjs"

const OPTIONS = [
  "--batch",
  "--ignore-stdin",
  "--flush-session",
  "--disable-coloring",
  "--ignore-code=*",
  "--dbms=postgresql",
  "--level=2",
  "--risk=2",
  "--technique=BEUST",
  "--time-sec=3",
  "--timeout=60",
  "--answers=keep testing=Y"
]
const AT_ONCE = 2

/** Appends `mark` to each value, including numbers and booleans. */
const marked = (value, mark) =>
  typeof value === "string"
    ? value + mark
    : typeof value === "number" || typeof value === "boolean"
      ? `#${value}${mark}#`
      : Array.isArray(value)
        ? value.map((inner) => marked(inner, mark))
        : value === null
          ? null
          : Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, marked(inner, mark)]))

/** A request as bytes, with `mark` appended to each value. */
export const written = (request, { front, mark = "" }) => {
  const { body, form, headers = {}, method, name, params = {}, path, query = {}, send = {}, upload } = request
  const place = path.replace(/\{(\w+)\}/g, (_, one) => params[one] + mark)
  const keys = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}${mark}`)
  const text = (value) => String(value).replaceAll("FRONT", front)
  const lines = [
    `${method} ${place}${keys.length === 0 ? "" : `?${keys.join("&")}`} HTTP/1.1`,
    `Host: ${new URL(front).host}`,
    `X-Attack: ${encodeURIComponent(name)}`,
    ...Object.entries(send).map(([key, value]) => `${key}: ${text(value)}`),
    ...Object.entries(headers).map(
      ([key, value]) => `${key.startsWith("claim-") ? `X-${key}` : `X-Send-${key}`}: ${text(value)}${mark}`
    )
  ]
  const asJson = (value) => JSON.stringify(marked(value, mark)).replace(/"#((?:\d+|true|false)\*?)#"/g, "$1")
  const { payload, type } =
    upload !== undefined
      ? multipart({ ...upload, options: asJson(upload.options), file: upload.file.replace("Ada Attack", `$&${mark}`) })
      : form !== undefined
        ? {
            payload: Object.entries(form)
              .map(([key, value]) => `${key}=${encodeURIComponent(value)}${mark}`)
              .join("&"),
            type: "application/x-www-form-urlencoded"
          }
        : { payload: body === undefined ? "" : asJson(body), type: "application/json" }
  if (payload !== "") lines.push(`Content-Type: ${type}`)
  return { bytes: `${lines.join("\r\n")}\r\n\r\n${payload}`, payload, lines }
}

/** The expected findings in the control. */
export const CONTROL = {
  name: "the control",
  method: "POST",
  path: "/v1/tools/findEntities",
  body: { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value: "ada" }] }
}

export const countOf = (request) => [...written(request, { front: "http://x", mark: "*" }).bytes.matchAll(/\*/g)].length

const run = (folder, file, url) =>
  new Promise((resolve) => {
    const child = spawn("sqlmap", ["-r", file, ...OPTIONS, `--output-dir=${join(folder, "out")}`], {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
    child.on("close", (code) => resolve({ said, code, url }))
  })

/** sqlmap's result for each parameter. */
const outcomeOf = (said) => ({
  clean: [...said.matchAll(/parameter '[^']*' does not seem to be injectable/g)].length,
  injectable: [...said.matchAll(/^Parameter: (.+)$/gm)].map(([, name]) => name),
  ways: [...new Set([...said.matchAll(/^\s+Type: (.+)$/gm)].map(([, type]) => type))],
  sent: Number(/total of (\d+) HTTP/.exec(said)?.[1] ?? 0)
})

/** Attacks each request. Returns the results in their order. */
export const attack = async (requests, { folder, front, onDone = () => {} }) => {
  mkdirSync(folder, { recursive: true })
  const waiting = requests.map((request, index) => ({ request, index }))
  const found = []
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { index, request } = next
        const file = join(folder, `${index}.txt`)
        writeFileSync(file, written(request, { front, mark: "*" }).bytes)
        const { code, said } = await run(join(folder, String(index)), file)
        writeFileSync(join(folder, `${index}.log`), said)
        found[index] = { request, marks: countOf(request), code, ...outcomeOf(said) }
        onDone(found[index])
      }
    })
  )
  return found
}
