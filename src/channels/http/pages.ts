/** The API's documentation, generated from its declaration: as the page /docs, and as OpenAPI. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as OpenApi from "effect/http-api/OpenApi"
import { createHash } from "node:crypto"
import { Api } from "./Api.ts"
import { PROBLEMS } from "../../wire/problems.ts"

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h2{margin-top:2.5rem}code,pre{font:14px/1.5 ui-monospace,monospace}pre{background:#f5f5f5;padding:1rem;overflow:auto}
td,th{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}a{color:#9cf}}`

/** A page with inline styles and without scripts; its Content Security Policy forbids everything else. */
const page = (title: string, body: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(
    HttpServerResponse.html(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body>${body}</body></html>
`),
    "content-security-policy",
    `default-src 'none'; style-src ${hash(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  )

type Json = Record<string, any>

const schemaText = (schema: unknown): string => `<pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`

const operation = (method: string, path: string, declaration: Json): string => {
  const body = declaration["requestBody"]?.content?.["application/json"]?.schema
  const rows = Object.entries<Json>(declaration["responses"]).map(([status, { description }]) => [status, description])
  return `<h3><code>${method.toUpperCase()} ${escaped(path)}</code></h3><p>${escaped(declaration["summary"] ?? "")}</p>${
    body === undefined ? "" : schemaText(body)
  }<table>${rows.map(([status, text]) => `<tr><td><code>${status}</code></td><td>${escaped(String(text))}</td></tr>`).join("")}</table>`
}

const describe = (): string => {
  const specification = OpenApi.fromApi(Api) as unknown as Json
  const operations = Object.entries<Json>(specification["paths"]).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, declaration]) => operation(method, path, declaration))
  )
  const problems = Object.values(PROBLEMS).map(
    ({ status, title, type }) =>
      `<tr><td><code>${status}</code></td><td><code>${type}</code></td><td>${escaped(title)}</td></tr>`
  )
  return `<h1>Max</h1><p>${escaped(specification["info"].description)}
The complete API as OpenAPI: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Send <code>Authorization: Bearer max_…</code>; an operator creates a token with <code>max token create</code>. Tools take
their input as a JSON body; with <code>Accept: text/plain</code> they respond with a table instead of JSON.</p>
<h2>Paths</h2>${operations.join("")}
<h2>Problems</h2><p>Every error is an <code>application/problem+json</code> document with one of these types.</p>
<table>${problems.join("")}</table>`
}

/** Both are generated for their first request, because that would take a quarter of a server's start. */
export const docs = Effect.cached(Effect.sync(() => page("Max", describe())))
export const openApi = Effect.cached(Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(Api))))
