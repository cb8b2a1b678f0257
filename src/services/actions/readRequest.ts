/** Reads the request of a declared action: one literal host, fields in their places, secrets in headers only. */
import { type ActionField, type HttpRequest, READ } from "../../domain/DeclaredAction.ts"
import { quoted } from "../../domain/text.ts"
import type { PolicyProblems } from "../../permissions/PolicyProblems.ts"
import type { FileAction } from "./actionFile.ts"
import { hostProblem } from "../network/hosts.ts"
import { isPointer } from "./pointer.ts"
import { namesIn, partsOfUrl, type Use, usesOf } from "./template.ts"

const HEADER = /^[a-z][a-z0-9-]{0,60}$/i
/** Set by the client, or by what carries the request. */
const OWN_HEADERS = new Set(
  "host connection content-length content-encoding transfer-encoding accept-encoding upgrade te trailer expect keep-alive proxy-authorization cookie".split(
    " "
  )
)

export const readRequest = (
  { category, http }: Pick<FileAction, "category" | "http">,
  fields: ReadonlyArray<ActionField>,
  path: string,
  hosts: ReadonlyArray<string>,
  problems: PolicyProblems
): HttpRequest => {
  const {
    attempts = 5,
    body,
    entries,
    headers = {},
    key,
    method,
    once,
    problem = [],
    result,
    seconds = 10,
    secrets = {},
    url
  } = http
  const report = (place: string, message: string) => problems.report(`${path}.${place}`, message)
  const request: HttpRequest = {
    _tag: "Http",
    method,
    url,
    headers,
    ...(body === undefined ? {} : { body }),
    secrets,
    seconds,
    attempts,
    ...(key === undefined ? {} : { key }),
    ...(result === undefined ? {} : { result }),
    ...(entries === undefined ? {} : { entries }),
    problem
  }
  if (category === READ) checkRead(http, report)
  else if (method === "GET") report("method", "GET belongs to the category read.")
  else if (entries !== undefined) report("entries", "`entries` belongs to the category read.")
  if (category !== READ && (key === undefined) === (once === undefined))
    report("key", 'Say whether the service honors an idempotency key ("key": "Idempotency-Key") or not ("once": true).')
  checkAddress(url, hosts, report)
  checkUses(request, fields, report)
  checkHeaders(request, report)
  for (const [name, pointer] of Object.entries(result ?? {}))
    if (!isPointer(pointer)) report(`result.${name}`, "It isn't a JSON pointer, such as /d/results/0/Id.")
  for (const [at, pointer] of problem.entries())
    if (!isPointer(pointer)) report(`problem[${at}]`, "It isn't a JSON pointer, such as /error/message/value.")
  return request
}

type Report = (place: string, message: string) => void

const checkRead = ({ attempts, body, entries, key, method, once, result }: FileAction["http"], report: Report) => {
  if (method !== "GET") report("method", "What reads uses GET.")
  for (const [name, value] of Object.entries({ attempts, body, key, once }))
    if (value !== undefined) report(name, `\`${name}\` belongs to actions that change something.`)
  if (Object.keys(result ?? {}).length === 0)
    report("result", "Say what to show of the answer: names and JSON pointers.")
  if (entries !== undefined && !(isPointer(entries) && !entries.includes("*")))
    report("entries", "It isn't a JSON pointer to one list, such as /d/results.")
}

const checkAddress = (url: string, hosts: ReadonlyArray<string>, report: Report) => {
  const origin = partsOfUrl(url)?.origin
  if (origin === undefined || !URL.canParse(origin))
    return report("url", "It must be https://host/path: scheme and host are literal, without a name or password.")
  const problem = hostProblem(new URL(origin), hosts)
  if (problem !== undefined) report("url", problem)
}

const checkUses = (request: HttpRequest, fields: ReadonlyArray<ActionField>, report: Report) => {
  const uses = usesOf(request)
  if (!Array.isArray(uses))
    return report((uses as { path: string }).path, "A brace stands for no field: write {field}.")
  const inner = fields.flatMap((field) => field.fields ?? [])
  for (const { name, path, required, within } of uses as ReadonlyArray<Use>) {
    const field =
      fields.find(({ slug }) => slug === name) ?? (path === "url" ? undefined : inner.find(({ slug }) => slug === name))
    if (field === undefined) {
      report(path, `There is no field ${quoted(name)}.`)
      continue
    }
    if (path !== "url") continue
    if (field.kind === "group" || field.kind === "list") report(path, `${name} is a list, which an address can't have.`)
    if (required === true && !field.needed && field.default === undefined)
      report(path, `The path needs ${name}: make it needed, or give it a default.`)
    const isPlain =
      field.pattern !== undefined || field.values !== undefined || !["text", "email", "reference"].includes(field.kind)
    if (within === "expression" && !isPlain)
      report(
        path,
        `${name} stands inside an expression, which its value could extend: put it between single quotes, or give it a pattern or values.`
      )
  }
}

const checkHeaders = ({ headers, key, secrets }: HttpRequest, report: Report) => {
  const used = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const place = `headers.${quoted(name).slice(1, -1)}`
    if (!HEADER.test(name) || OWN_HEADERS.has(name.toLowerCase()) || name.toLowerCase() === key?.toLowerCase())
      report(place, "This header can't be set.")
    if (/[^\u0020-\u007e]/.test(value)) report(place, "A header is one line of ASCII.")
    const names = namesIn(value)
    if (names === undefined) report(place, "A brace stands for no secret: write {secret}.")
    for (const one of names ?? []) {
      used.add(one)
      if (!Object.hasOwn(secrets, one))
        report(place, `There is no secret ${quoted(one)}. A header has no value of a field.`)
    }
  }
  if (
    key !== undefined &&
    (!HEADER.test(key) ||
      OWN_HEADERS.has(key.toLowerCase()) ||
      ["authorization", "content-type"].includes(key.toLowerCase()))
  )
    report("key", "It must be the name of a header, such as Idempotency-Key.")
  for (const [name, reference] of Object.entries(secrets)) {
    const place = `secrets.${quoted(name).slice(1, -1)}`
    if (!/^(env|file):./.test(reference)) report(place, "It must be env:NAME or file:/path, never the secret.")
    if (!used.has(name)) report(place, `No header uses ${quoted(name)}: remove it.`)
  }
}
