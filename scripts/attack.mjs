/**
 * Attacks a real `max serve` with what others wrote for it (Debian has both): sqlmap over every parameter of the whole
 * interface, and slowhttptest's ways to hold a server. docs/security.md says what came of it.
 * Usage: npm run attack -- sqlmap [WORD of a request's name …] | slow [headers | body | range | read | stop | listen …]
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build as buildMax } from "./build.mjs"
import { isStale, root } from "./stale.mjs"
import { startInjectable } from "./attack/injectable.mjs"
import { openProxy } from "./attack/proxy.mjs"
import { missing, requestsOf } from "./attack/requests.mjs"
import { attack, countOf, written } from "./attack/sqlmap.mjs"
import { slow, waysOf } from "./attack/slow.mjs"
import { openWorld } from "./attack/world.mjs"

const folder = mkdtempSync(join(tmpdir(), "max-attacks-"))

const fail = (message) => {
  console.error(message)
  process.exitCode = 1
}

/** What nobody may have changed, however it was asked. */
const stateOf = async (world) => {
  const ask = async (path, token, body) => {
    const answer = await fetch(world.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [answer.status, await answer.json()]
  }
  const counted = await Promise.all(
    ["people", "companies", "meetings"].map((entityTypeId) =>
      ask("/v1/tools/findEntities", world.admin, {
        entityTypeId,
        filters: [{ columnId: "name", op: "ilike", value: "ma" }],
        limit: 0
      })
    )
  )
  return JSON.stringify([
    counted,
    (await ask("/v1/conversations", world.other))[1].conversations?.map(({ id, turns }) => [id, turns]),
    (await ask("/v1/admin/policy/versions", world.admin))[1],
    (await ask("/v1/admin/people/search", world.admin, { role: "manager" }))[1].total
  ])
}

const sqlmap = async (words) => {
  const proxy = await openProxy()
  const world = await openWorld(proxy.url)
  proxy.target = world.url
  try {
    const all = await requestsOf(world)
    await fetch(`${world.url}/v1/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.other}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "who is noah mendes?" })
    }).then((answer) => answer.text())
    for (const { before, name } of all) if (before) proxy.before.set(encodeURIComponent(name), before)
    const specification = await (await fetch(`${world.url}/openapi.json`)).json()
    const { ROUTES } = await import(pathToFileURL(join(root, "dist/lib/channels/http/routes.js")).href)
    const lacking = missing(specification, ROUTES, all)
    if (lacking.length > 0) return fail(`No request has\n  ${lacking.join("\n  ")}`)

    for (const request of all) {
      const { lines, payload } = written(request, { front: proxy.url })
      const [first, ...headers] = lines
      const answer = await fetch(proxy.url + first.split(" ")[1], {
        method: request.method,
        headers: Object.fromEntries(headers.slice(1).map((line) => line.split(/: (.*)/s).slice(0, 2))),
        ...(payload === "" ? {} : { body: payload })
      })
      const text = await answer.text()
      if (!(request.status ?? [200, 204]).includes(answer.status))
        return fail(`${request.name} isn't answered: ${answer.status} ${text}`)
    }
    proxy.counts.clear()
    const before = await stateOf(world)

    const control = await startInjectable()
    const [found] = await attack(
      [
        {
          name: "the control",
          method: "POST",
          path: "/v1/tools/findEntities",
          body: { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value: "ada" }] }
        }
      ],
      { folder: join(folder, "control"), front: control.url }
    )
    await control.close()
    console.log(`the control: ${found.injectable.join(", ") || "nothing found"} (${found.ways.join(", ")})`)
    if (found.injectable.length !== 1)
      return fail("The mistake that was planted wasn't found: finding nothing elsewhere means nothing.")

    const chosen = all.filter(
      (request) => countOf(request) > 0 && (words.length === 0 || words.some((word) => request.name.includes(word)))
    )
    const outcomes = await attack(chosen, {
      folder: join(folder, "sqlmap"),
      front: proxy.url,
      onDone: ({ clean, injectable, marks, request }) => {
        const statuses = proxy.counts.get(encodeURIComponent(request.name)) ?? {}
        console.log(
          `${request.method} ${request.path} (${request.name}): ${marks} parameters, ${clean} not injectable${injectable.length === 0 ? "" : `, INJECTABLE: ${injectable.join(", ")}`}; ${JSON.stringify(statuses)}`
        )
      }
    })
    const statuses = outcomes.map(({ request }) => proxy.counts.get(encodeURIComponent(request.name)) ?? {})
    const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
    const sent = sum(statuses.flatMap((one) => Object.values(one)))
    const broken = outcomes.filter((_, index) => Object.keys(statuses[index]).some((status) => Number(status) >= 500))
    const untested = outcomes.filter(({ clean, injectable, marks }) => clean + injectable.length < marks)
    const injectable = outcomes.filter((one) => one.injectable.length > 0)
    console.log(
      `${outcomes.length} requests, ${sum(outcomes.map(({ marks }) => marks))} parameters, ${sent} requests sent; injectable: ${injectable.length}; answered with a failure: ${broken.length}`
    )
    const logged = world
      .said()
      .split("\n")
      .filter((line) => /ERROR|WARN/.test(line))
    if (logged.length > 0)
      console.log(
        `The server logged ${logged.length} lines:\n  ${[...new Set(logged.map((line) => line.replace(/^\[[^\]]*\] /, "").replace(/#\d+|reference \w+/g, "")))].slice(0, 20).join("\n  ")}`
      )
    if (untested.length > 0)
      fail(
        `Not every parameter was tested: ${untested.map(({ clean, marks, request }) => `${request.name} ${clean} of ${marks}`).join(", ")}`
      )
    if (injectable.length > 0 || broken.length > 0) fail("There are findings.")
    if ((await stateOf(world)) !== before) fail(`Something was changed:\n${before}\n${await stateOf(world)}`)
    console.log(await world.verify())
  } finally {
    const code = await world.close()
    proxy.close()
    if (code !== 0) fail(`max serve ended with ${code}`)
  }
}

const slowly = async (words) => {
  const world = await openWorld("http://localhost:1")
  try {
    const asset = /\/assets\/[\w.-]+\.js/.exec(await (await fetch(world.url)).text())[0]
    for (const [name, way] of Object.entries(waysOf(world, asset))) {
      if (words.length > 0 && !words.includes(name)) continue
      if (!(await slow(world, way, join(folder, name)))) fail(`${way.what}: the server was held`)
      await new Promise((resolve) => setTimeout(resolve, 3000))
    }
  } finally {
    const code = await world.close()
    if (code !== 0) fail(`max serve ended with ${code}`)
  }
}

const WAYS = { sqlmap, slow: slowly }

const main = async () => {
  const [way, ...words] = process.argv.slice(2)
  if (WAYS[way] === undefined) return fail(`npm run attack -- ${Object.keys(WAYS).join(" | ")}`)
  const tool = way === "sqlmap" ? "sqlmap" : "slowhttptest"
  if (spawnSync(tool, ["--version"]).error) return fail(`${tool} isn't installed: apt-get install ${tool}`)
  if (isStale()) await buildMax()
  await WAYS[way](words)
}

try {
  await main()
} finally {
  if (process.env.MAX_ATTACK_KEEP !== "on") rmSync(folder, { recursive: true, force: true })
  else console.log(folder)
}
