/**
 * Malformed values in every parameter of every request, one at a time. Every response must be a success or a client error,
 * never a server error.
 */
import { request as send } from "node:http"
import { multipart } from "./multipart.mjs"
import { written } from "./sqlmap.mjs"

const LONE = ["\ud800", "a\udfff"]
const TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  ...LONE,
  "\uffff",
  "\u202e\u200b",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "%00",
  "%zz",
  "../..",
  "null",
  "undefined",
  "NaN",
  "__proto__",
  "constructor",
  "-1",
  "0",
  "1e999",
  "9223372036854775808",
  "99999999999999999999999999",
  "2026-13-45",
  "2026-02-30",
  "0000-00-00T00:00:00.000Z",
  "2030-01-01T25:61:61.000Z",
  "275760-09-14",
  "+1",
  "a".repeat(5000),
  "😀".repeat(300),
  "{}",
  "[]"
]
/** Values of other types, for bodies. */
const VALUES = [null, true, -1, 0, 1.5, 1e308, 2 ** 53, [], [null], {}, { a: 1 }, { __proto__x: 1 }, [[[[]]]]]

/** All variants of a value with one leaf or part replaced. */
export const variants = (value, put) => [
  put,
  ...(Array.isArray(value)
    ? value.flatMap((inner, index) => variants(inner, put).map((one) => value.with(index, one)))
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => variants(inner, put).map((one) => ({ ...value, [name]: one })))
      : [])
]

/** Whether a header can carry the value. */
const asHeader = (text) => text.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?")
/** Encodes a lone surrogate, which has no valid encoding, as invalid bytes. */
const encoded = (text) => (LONE.includes(text) ? "%ED%A0%80" : encodeURIComponent(text.toWellFormed()))

export const replaced = (record, put) => Object.keys(record).map((name) => ({ ...record, [name]: put }))

/** The requests with one value replaced. */
const changed = function* (request) {
  const { body, form = {}, headers = {}, params = {}, query = {}, upload } = request
  for (const text of TEXTS) {
    for (const one of replaced(params, text)) yield { ...request, params: one }
    for (const one of replaced(query, text)) yield { ...request, query: one }
    for (const one of replaced(headers, text)) yield { ...request, headers: one }
    if (request.form !== undefined) for (const one of replaced(form, text)) yield { ...request, form: one }
  }
  for (const put of [...TEXTS, ...VALUES]) {
    if (body !== undefined) for (const one of variants(body, put)) yield { ...request, body: one }
    if (upload !== undefined) yield* uploads(request, put)
  }
}

/** An upload with one of its options, its file or the file's name replaced. */
export const uploads = function* (request, put) {
  const { upload } = request
  for (const options of variants(upload.options, put)) yield { ...request, upload: { ...upload, options } }
  if (typeof put !== "string") return
  yield { ...request, upload: { ...upload, name: put } }
  for (const file of [put, upload.file.replace("Ada Attack", put), upload.file.replace("status", put)])
    yield { ...request, upload: { ...upload, file } }
}

export const ask = (front, request) =>
  new Promise((resolve) => {
    const { method, path, params = {}, query = {}, form, body, upload, headers = {}, send: fixed = {} } = request
    const place = path.replace(/\{(\w+)\}/g, (_, name) => encoded(params[name]))
    const keys = Object.entries(query).map(([name, value]) => `${name}=${encoded(String(value))}`)
    const { payload, type } =
      upload !== undefined
        ? multipart(upload)
        : form !== undefined
          ? {
              payload: Object.entries(form)
                .map(([name, value]) => `${name}=${encoded(value)}`)
                .join("&"),
              type: "application/x-www-form-urlencoded"
            }
          : { payload: body === undefined ? "" : JSON.stringify(body), type: "application/json" }
    const all = { "x-attack": encodeURIComponent(request.name) }
    for (const [name, value] of Object.entries(fixed)) all[name] = value.replaceAll("FRONT", front)
    for (const [name, value] of Object.entries(headers))
      all[name.startsWith("claim-") ? `x-${name}` : `x-send-${name}`] = asHeader(
        String(value).replaceAll("FRONT", front)
      )
    if (payload !== "") all["content-type"] = type
    const sent = send(new URL(front), {
      method,
      path: `${place}${keys.length === 0 ? "" : `?${keys.join("&")}`}`,
      headers: all,
      agent: false
    })
    sent.on("response", (answer) => {
      let text = ""
      answer.on("data", (chunk) => (text += chunk))
      answer.on("end", () => resolve({ status: answer.statusCode, text }))
      answer.on("error", () => resolve({ status: 0, text }))
    })
    sent.on("error", (error) => resolve({ status: 0, text: String(error) }))
    sent.end(payload)
  })

/** Sends each request with each value in each place. Returns the requests with a server error. */
export const naughty = async (requests, front) => {
  const broken = []
  let sent = 0
  for (const request of requests) {
    let own = 0
    const waiting = changed(request)
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (const one of waiting) {
          own += 1
          const { status, text } = await ask(front, one)
          if (status >= 500 || status === 0)
            broken.push({ name: request.name, status, text, bytes: written(one, { front }).bytes.slice(0, 1500) })
        }
      })
    )
    sent += own
    const failed = broken.filter(({ name }) => name === request.name)
    if (own > 0)
      console.log(
        `${request.name}: ${own} requests${failed.length === 0 ? "" : `, ${failed.length} BROKE: ${JSON.stringify(failed.slice(0, 3))}`}`
      )
  }
  return { sent, broken }
}
