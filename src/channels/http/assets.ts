/**
 * Serves the built pages and their assets from memory, precompressed. Assets have a hash of their content in their name,
 * so browsers cache them forever. `HttpStaticServer` of effect isn't used because it serves no precompressed variants.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { packageFolder } from "../../version.ts"
import type { Route } from "./edge.ts"
import { problem } from "./problems.ts"

/** The path and the built file of each page. */
const PAGES: Readonly<Record<string, string>> = {
  "/": "chat.html",
  // The target of sign-in links: the page reads the code from the fragment.
  "/sign-in": "chat.html",
  "/inbox": "chat.html",
  // A link to one change: the page reads its id from the address.
  "/inbox/:change": "chat.html",
  "/account": "account.html",
  // The target of the set-up link, whose code is in the fragment.
  "/setup": "setup.html",
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

/** Only this origin's files are loaded; strings become HTML only through the named Trusted Types policies. */
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

/** The script for other sites has a fixed name, so it is cached only briefly. */
const EMBED = "/embed.js"
const EMBED_HEADERS = { "cache-control": "public, max-age=300", "cross-origin-resource-policy": "cross-origin" }

interface Asset {
  readonly type: string
  readonly tag: string
  /** The smallest encoding first. */
  readonly variants: ReadonlyArray<readonly [encoding: string, body: Uint8Array]>
}

const read = (folder: string, name: string): Asset => {
  const body = readFileSync(join(folder, name))
  const compressed = [
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
    variants: [...compressed, ["identity", body]]
  }
}

const respond = (asset: Asset, headers: Readonly<Record<string, string>>) => {
  const responses = asset.variants.map(([encoding, body]) => {
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
    return responses.find(({ encoding }) => encoding === "identity" || accepted.includes(encoding))!.response
  }
}

const notBuilt = problem("NotFound", "The pages aren't part of this build: run npm run build.")

/** Reads all files once at startup, so a running server isn't affected by a later build. */
const load = () => {
  const folder = join(packageFolder, "dist/web")
  const names = readdirSync(join(folder, "assets"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map(({ name }) => name)
  const immutable = { "cache-control": "public, max-age=31536000, immutable" }
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
    assets: new Map(names.map((name) => [name, respond(read(join(folder, "assets"), name), immutable)]))
  }
}

export const Assets = Layer.unwrap(
  Effect.sync(() => {
    const built = statSync(join(packageFolder, "dist/web/assets"), { throwIfNoEntry: false }) !== undefined
    const { assets, pages } = built ? load() : { assets: new Map(), pages: new Map() }
    const notFound = problem("NotFound", "GET /docs lists all paths.")
    const page = (path: string) =>
      HttpRouter.add("GET", path as HttpRouter.PathInput, (request) =>
        Effect.succeed(pages.get(path)?.(request) ?? notBuilt)
      )
    const asset = HttpRouter.add("GET", "/assets/:name", (request) =>
      Effect.succeed(assets.get(request.url.split(/[?#]/, 1)[0]!.slice("/assets/".length))?.(request) ?? notFound)
    )
    return Layer.mergeAll(asset, ...[...Object.keys(PAGES), EMBED].map(page))
  })
)

export const ASSET_ROUTES: ReadonlyArray<Route> = [
  ...[...Object.keys(PAGES), EMBED].map((path) => ({ method: "GET", path })),
  { method: "GET", path: "/assets/:name" }
]
