/**
 * Attacks a real `max serve`: SQL injection into every parameter (sqlmap), malformed values, and slow clients
 * (slowhttptest). Debian packages both tools. docs/security.md reports the results.
 * Usage: npm run attack -- sqlmap [WORD of a request's name …] | naughty [WORD …] | slow [headers | body | upload | range | read | stop | listen …]
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { startInjectable } from "./attack/injectable.mjs"
import { hostile, MOST, prepareRows } from "./attack/hostile.mjs"
import { naughty } from "./attack/naughty.mjs"
import { openProxy } from "./attack/proxy.mjs"
import { missing, requestsOf } from "./attack/requests.mjs"
import { slow, waysOf } from "./attack/slow.mjs"
import { attack, CONTROL, countOf, written } from "./attack/sqlmap.mjs"
import { openWorld } from "./attack/world.mjs"
import { build } from "./build.mjs"
import { isStale, root } from "./stale.mjs"

/** A warning that is meant: requests without a pause end more traces in a second than are stored. */
const TRACES_LOST = "Traces were lost, because too many ended in one second"
const folder = mkdtempSync(join(tmpdir(), "max-attacks-"))

const fail = (message) => {
  console.error(message)
  process.exitCode = 1
}

/** The data that no attack may change. */
const stateOf = async (world) => {
  const ask = async (path, token, body) => {
    const answer = await fetch(world.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [answer.status, await answer.json()]
  }
  const filters = [{ columnId: "name", op: "ilike", value: "ma" }]
  const count = (entityTypeId) => ask("/v1/tools/findEntities", world.admin, { entityTypeId, filters, limit: 0 })
  return JSON.stringify([
    await Promise.all(["people", "companies", "meetings"].map(count)),
    await ask("/v1/conversations", world.other),
    await ask("/v1/admin/policy/versions", world.admin),
    (await ask("/v1/admin/people/search", world.admin, { role: "manager" }))[1].total
  ])
}

/** Sends each request once, unchanged: only a request that succeeds is worth attacking. */
const unanswered = async (requests, front) => {
  for (const request of requests) {
    const { lines, payload } = written(request, { front })
    const [first, , ...headers] = lines
    const answer = await fetch(front + first.split(" ")[1], {
      method: request.method,
      headers: Object.fromEntries(headers.map((line) => line.split(/: (.*)/s).slice(0, 2))),
      ...(payload === "" ? {} : { body: payload })
    })
    const text = await answer.text()
    if (!(request.status ?? [200, 204]).includes(answer.status)) return `${request.name}: ${answer.status} ${text}`
  }
  return undefined
}

/** Runs `use` over the requests whose names contain one of the words, then verifies the data and the responses. */
const attacked = async (words, use) => {
  const proxy = await openProxy()
  const world = await openWorld(proxy.url)
  proxy.target = world.url
  try {
    const all = await requestsOf(world)
    for (const { before, name } of all) if (before) proxy.before.set(encodeURIComponent(name), before)
    const specification = await (await fetch(`${world.url}/openapi.json`)).json()
    const { ROUTES } = await import(pathToFileURL(join(root, "dist/lib/channels/http/routes.js")).href)
    const lacking = missing(specification, ROUTES, all)
    if (lacking.length > 0) return fail(`No request covers\n  ${lacking.join("\n  ")}`)
    const first = await unanswered(all, proxy.url)
    if (first !== undefined) return fail(`Unexpected response: ${first}`)
    await prepareRows(world)
    proxy.counts.clear()
    const before = await stateOf(world)

    await use(
      all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word))),
      proxy,
      world
    )

    const complaints = world
      .said()
      .split("\n")
      .filter((line) => /ERROR|WARN/.test(line) && !line.includes(TRACES_LOST))
    const kinds = new Set(complaints.map((line) => line.replace(/^\[[^\]]*\] |#\d+|reference \w+/g, "")))
    if (kinds.size > 0) fail(`The server logged ${complaints.length} lines:\n  ${[...kinds].slice(0, 20).join("\n  ")}`)
    const after = await stateOf(world)
    if (after !== before) fail(`The attack changed data:\n${before}\n${after}`)
    console.log((await world.verify()).trim())
  } finally {
    const code = await world.close()
    proxy.close()
    if (code !== 0) fail(`max serve exited with ${code}`)
  }
}

const shown = ({ longest, lookups, p50, p99 }) =>
  `${lookups} lookups, median ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(0)} ms`

const naughtily = (words) =>
  attacked(words, async (requests, { url }, world) => {
    const { broken, sent } = await naughty(requests, url)
    console.log(`${requests.length} requests, ${sent} sent; responses with a server error: ${broken.length}`)
    if (broken.length > 0) fail("There are findings.")
    const text = await hostile(requests, url, world)
    console.log(`hostile text: ${text.sent} sent; responses with a server error: ${text.broken.length}`)
    console.log(`slowest: ${text.slowest.map(([name, took]) => `${name} ${took.toFixed(0)} ms`).join(", ")}`)
    console.log(`a neighbour alone: ${shown(text.alone)}`)
    console.log(`a neighbour meanwhile: ${shown(text.attacked)}, failed: ${text.failed}`)
    console.log(`ratio of the p99: ${text.ratio.toFixed(2)}, at most ${MOST}`)
    if (text.broken.length > 0) fail(`There are findings: ${JSON.stringify(text.broken.slice(0, 5))}`)
    if (text.failed > 0 || !(text.ratio <= MOST)) fail("The attack holds up a neighbour.")
  })

const sqlmap = (words) =>
  attacked(words, async (requests, proxy) => {
    const control = await startInjectable()
    const [found] = await attack([CONTROL], { folder: join(folder, "control"), front: control.url })
    await control.close()
    console.log(`control: ${found.injectable.join(", ") || "nothing found"} (${found.ways.join(", ")})`)
    if (found.injectable.length !== 1)
      return fail("sqlmap missed the control's injection, so its other results are meaningless.")

    const statusesOf = ({ name }) => proxy.counts.get(encodeURIComponent(name)) ?? {}
    const outcomes = await attack(
      requests.filter((request) => countOf(request) > 0),
      {
        folder: join(folder, "sqlmap"),
        front: proxy.url,
        onDone: ({ clean, injectable, marks, request }) =>
          console.log(
            `${request.method} ${request.path} (${request.name}): ${marks} parameters, ${clean} not injectable` +
              `${injectable.length === 0 ? "" : `, INJECTABLE: ${injectable.join(", ")}`}; ${JSON.stringify(statusesOf(request))}`
          )
      }
    )
    const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
    const injectable = outcomes.filter((one) => one.injectable.length > 0)
    const broken = outcomes.filter(({ request }) =>
      Object.keys(statusesOf(request)).some((status) => Number(status) >= 500)
    )
    const untested = outcomes.filter((one) => one.clean + one.injectable.length < one.marks)
    console.log(
      `${outcomes.length} requests, ${sum(outcomes.map(({ marks }) => marks))} parameters, ` +
        `${sum(outcomes.flatMap(({ request }) => Object.values(statusesOf(request))))} sent; ` +
        `injectable: ${injectable.length}; responses with a server error: ${broken.length}`
    )
    for (const sent of proxy.broken.slice(0, 20)) console.log(`a server error: ${sent}`)
    if (untested.length > 0) fail(`Incompletely tested: ${untested.map(({ request }) => request.name).join(", ")}`)
    if (injectable.length > 0 || broken.length > 0) fail("There are findings.")
  })

const slowly = async (words) => {
  const world = await openWorld("http://localhost:1")
  try {
    const asset = /\/assets\/[\w.-]+\.js/.exec(await (await fetch(world.url)).text())[0]
    for (const [name, way] of Object.entries(waysOf(world, asset))) {
      if (words.length > 0 && !words.includes(name)) continue
      if (!(await slow(world, way, join(folder, name)))) fail(`${way.what}: the server kept connections open`)
      await new Promise((resolve) => setTimeout(resolve, 3000))
    }
  } finally {
    const code = await world.close()
    if (code !== 0) fail(`max serve exited with ${code}`)
  }
}

const WAYS = {
  sqlmap: { needs: "sqlmap", run: sqlmap },
  naughty: { run: naughtily },
  slow: { needs: "slowhttptest", run: slowly }
}

const main = async () => {
  const [name, ...words] = process.argv.slice(2)
  const way = WAYS[name]
  if (way === undefined) return fail(`npm run attack -- ${Object.keys(WAYS).join(" | ")}`)
  if (way.needs !== undefined && spawnSync(way.needs, ["--version"]).error)
    return fail(`${way.needs} isn't installed: apt-get install ${way.needs}`)
  if (isStale()) await build()
  await way.run(words)
}

try {
  await main()
} finally {
  if (process.env.MAX_ATTACK_KEEP === "on") console.log(folder)
  else rmSync(folder, { recursive: true, force: true })
}
