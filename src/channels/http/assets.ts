/**
 * The built pages and what they load, served from memory as they were built, compressed already. A page's address is
 * its own; everything else is under /assets, where a name says its content and is kept for good.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { packageFolder } from "../../version.ts"
import type { Route } from "./edge.ts"
import { problem } from "./problems.ts"

/** Where a page is reached, and the file that it was built to. */
const PAGES: Readonly<Record<string, string>> = {
  "/": "chat.html",
  // Where a sign-in link leads: the code is behind the #, and the page takes it up.
  "/sign-in": "chat.html",
  "/admin": "admin.html",
  "/traces": "traces.html"
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/** Scripts, styles and fonts are this server's own; a value becomes markup only through a policy with a name. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types max dompurify"
].join("; ")

/** The script that other sites load: at one name, so that it is asked for again soon. */
const EMBED = "/embed.js"
const EMBED_HEADERS = { "cache-control": "public, max-age=300", "cross-origin-resource-policy": "cross-origin" }

interface Asset {
  readonly type: string
  readonly tag: string
  /** By the name of its encoding, the smallest first. */
  readonly forms: ReadonlyArray<readonly [encoding: string, body: Uint8Array]>
}

const read = (folder: string, name: string): Asset => {
  const body = readFileSync(join(folder, name))
  const forms = [
    ["br", `${name}.br`],
    ["gzip", `${name}.gz`]
  ].flatMap(([encoding, file]) =>
    statSync(join(folder, file!), { throwIfNoEntry: false }) === undefined
      ? []
      : [[encoding!, readFileSync(join(folder, file!))] as const]
  )
  return {
    type: TYPES[extname(name)] ?? "application/octet-stream",
    tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    forms: [...forms, ["identity", body]]
  }
}

const respond = (asset: Asset, headers: Readonly<Record<string, string>>) => {
  const variants = asset.forms.map(([encoding, body]) => {
    const response = HttpServerResponse.uint8Array(body, {
      contentType: asset.type,
      headers: {
        ...headers,
        etag: asset.tag,
        vary: "accept-encoding",
        ...(encoding === "identity" ? {} : { "content-encoding": encoding })
      }
    })
    return { encoding, response }
  })
  const unchanged = HttpServerResponse.empty({ status: 304, headers: { ...headers, etag: asset.tag } })
  return (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
    if (request.headers["if-none-match"] === asset.tag) return unchanged
    const accepted = (request.headers["accept-encoding"] ?? "").split(",").map((part) => part.split(";")[0]!.trim())
    const found = variants.find(({ encoding }) => encoding === "identity" || accepted.includes(encoding))
    return found!.response
  }
}

const notBuilt = problem("NotFound", "The pages aren't part of this build: npm run build makes them.")

/** Reads everything once: a server serves what it was started with, whatever is built beside it meanwhile. */
const load = () => {
  const folder = join(packageFolder, "dist/web")
  const names = readdirSync(join(folder, "assets"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map(({ name }) => name)
  const kept = { "cache-control": "public, max-age=31536000, immutable" }
  return {
    pages: new Map([
      ...Object.entries(PAGES).map(
        ([path, file]) =>
          [
            path,
            respond(read(folder, file), { "cache-control": "no-cache", "content-security-policy": POLICY })
          ] as const
      ),
      [EMBED, respond(read(folder, "embed.js"), EMBED_HEADERS)] as const
    ]),
    assets: new Map(names.map((name) => [name, respond(read(join(folder, "assets"), name), kept)]))
  }
}

export const Assets = Layer.unwrap(
  Effect.sync(() => {
    const built = statSync(join(packageFolder, "dist/web/assets"), { throwIfNoEntry: false }) !== undefined
    const { assets, pages } = built ? load() : { assets: new Map(), pages: new Map() }
    const nothing = problem("NotFound", "GET /docs shows what there is.")
    const page = (path: string) =>
      HttpRouter.add("GET", path as HttpRouter.PathInput, (request) =>
        Effect.succeed(pages.get(path)?.(request) ?? notBuilt)
      )
    const asset = HttpRouter.add("GET", "/assets/:name", (request) =>
      Effect.succeed(assets.get(request.url.split(/[?#]/, 1)[0]!.slice("/assets/".length))?.(request) ?? nothing)
    )
    return Layer.mergeAll(asset, ...[...Object.keys(PAGES), EMBED].map(page))
  })
)

export const ASSET_ROUTES: ReadonlyArray<Route> = [
  ...[...Object.keys(PAGES), EMBED].map((path) => ({ method: "GET", path })),
  { method: "GET", path: "/assets/:name" }
]
