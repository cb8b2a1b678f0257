/**
 * Two cells behind haproxy with the file of docs/cells, while an organization moves from one to the other. `npm run prove -- proxies`
 * runs it; it needs Debian's package haproxy.
 */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { makeOrganization } from "../support/atlas.ts"
import { startCell } from "../support/cells.ts"
import { runMax, serveMax } from "../support/cli.ts"
import { ask, callTool, JSON_TYPE } from "../support/http.ts"
import { importFile } from "../support/imports.ts"
import { memberWithToken } from "../support/members.ts"
import { until } from "../support/until.ts"
import { freePort, isListening, published, replaced, startProgram } from "./startProxy.ts"

const PUBLIC = "https://max.example.com"
const folder = mkdtempSync(join(tmpdir(), "max-cells-"))
const map = join(folder, "cells.map")
const socket = join(folder, "admin.sock")

type Cell = Awaited<ReturnType<typeof startCell>> & { max: Awaited<ReturnType<typeof serveMax>> }
interface Member {
  readonly organization: Organization
  readonly anchorId: string
  readonly token: string
}

const scope = Scope.makeUnsafe()
let cells: ReadonlyArray<Cell> = []
let haproxy: Awaited<ReturnType<typeof startProgram>>
let url: string
let run: <A, E>(effect: Effect.Effect<A, E, any>) => Promise<A>
let atlas: Member
let harbor: Member

const openCell = async (number: number): Promise<Cell> => {
  const server = await startCell()
  const max = await serveMax({
    DATABASE_URL: server.url,
    MAX_HTTP_PORT: "0",
    MAX_STATE_DIR: join(folder, `state${number}`),
    MAX_PUBLIC_URL: PUBLIC,
    MAX_CALLS_PER_PERSON: "1000000",
    MAX_CALLS_PER_ORGANIZATION: "1000000"
  })
  return { ...server, max }
}

/** haproxy with the published file, whose addresses and paths are replaced by those of the test. */
const startHaproxy = async (port: number) => {
  const [first, second] = cells.map(({ max }) => new URL(max.url).host)
  const configuration = replaced(published("cells/haproxy.cfg"), [
    ["/run/haproxy/admin.sock", socket],
    ["bind :443 ssl crt /etc/haproxy/max.pem", `bind 127.0.0.1:${port}`],
    ["/etc/haproxy/cells.map", map],
    ["/etc/haproxy/hosts.map", join(folder, "hosts.map")],
    ["10.0.0.21:7700", first!],
    ["10.0.0.22:7700", second!]
  ])
  writeFileSync(join(folder, "haproxy.cfg"), configuration)
  return startProgram(
    ["haproxy", "-db", "-f", join(folder, "haproxy.cfg")],
    folder,
    async () => existsSync(socket) && isListening(port)
  )
}

const newMember = async (slug: string): Promise<Member> => {
  const organization = await run(makeOrganization(slug))
  await run(importFile(organization, ["id,name,email", `ada,Ada of ${slug},ada@${slug}.example`]))
  const { anchorId, token } = await run(
    memberWithToken(organization, `kim@${slug}.example`, ["admin"], ["tools", "chat"])
  )
  return { organization, anchorId, token }
}

beforeAll(async () => {
  chmodSync(folder, 0o755)
  cells = await Promise.all([openCell(1), openCell(2)])
  const services = await Effect.runPromise(
    Layer.build(
      Services.pipe(
        Layer.provideMerge(ConfiguredDatabase),
        Layer.provideMerge(Env.layerWith({ databaseUrl: Redacted.make(cells[0]!.url) }))
      )
    ).pipe(Scope.provide(scope))
  )
  run = Effect.runPromiseWith(services) as typeof run
  atlas = await newMember("atlas")
  harbor = await newMember("harbor")
  writeFileSync(map, "# organization cell\n")
  writeFileSync(join(folder, "hosts.map"), "cell2.example.com cell2\n")
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  haproxy = await startHaproxy(port)
})
afterAll(async () => {
  await haproxy?.end()
  for (const { end, max } of cells) {
    max.end("SIGKILL")
    await max.ended
    await end()
  }
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const find = ({ organization: { slug }, token }: Member, server: { readonly url: string } = { url }) =>
  callTool(server, token, "findEntities", {
    entityTypeId: "people",
    filters: [{ columnId: "email", op: "eq", value: `ada@${slug}.example` }]
  })
const isFound = ({ organization }: Member, { status, text }: { status: number; text: string }) =>
  status === 200 && text.includes(`Ada of ${organization.slug}`)

/** A browser's session, from a sign-in link that was made before. */
const signIn = async (code: string) => {
  const headers = { ...JSON_TYPE, host: "max.example.com", origin: PUBLIC }
  const answer = await ask(url, "/v1/session", { body: JSON.stringify({ code }), headers })
  const [cookie = ""] = (answer.headers["set-cookie"] ?? []) as ReadonlyArray<string>
  return { status: answer.status, cookie: cookie.split(";")[0]! }
}
const whoIs = (cookie: string) => ask(url, "/v1/session", { headers: { cookie, host: "max.example.com" } })

const link = async (member: Member) =>
  (await run(Effect.flatMap(Credentials, (all) => all.createLink(member.organization, member.anchorId)))).secret

describe("Two cells behind haproxy", () => {
  it("lead requests of an organization without a line to the first cell", async () => {
    await until(async () => isFound(atlas, await find(atlas)) && isFound(harbor, await find(harbor)))
    expect((await find(atlas, cells[1]!.max)).status).toBe(401)
    expect((await ask(url, "/readyz")).status).toBe(200)
  })

  it("lead a moved organization's tokens, sessions and links to its new cell from then on, without a reload", async () => {
    const before = await signIn(await link(atlas))
    expect(before.status).toBe(204)
    const later = await link(atlas)
    const seen = new Map([atlas, harbor].map((member) => [member, [] as Array<{ status: number; text: string }>]))
    const load = { stop: false }
    const looking = [...seen].map(async ([member, answers]) => {
      while (!load.stop) answers.push(await find(member))
    })
    await until(() => seen.get(atlas)!.length > 50)
    const moved = await runMax(
      ["move", "--org", "atlas", "--to", "env:THERE", "--map", map, "--cell", "cell2", "--haproxy", socket, "--json"],
      { DATABASE_URL: cells[0]!.url, THERE: cells[1]!.url }
    )
    expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)])
    const settled = seen.get(atlas)!.length
    await until(() => seen.get(atlas)!.length > settled + 50)
    load.stop = true
    await Promise.all(looking)
    const { figures, key } = JSON.parse(moved.stdout)
    const unavailable = seen.get(atlas)!.filter(({ status }) => status === 503).length
    console.log(JSON.stringify({ window: figures.window, unavailable, answered: seen.get(atlas)!.length - unavailable, other: seen.get(harbor)!.length })) // prettier-ignore
    expect(seen.get(harbor)!.filter((answer) => !isFound(harbor, answer))).toEqual([])
    expect(seen.get(atlas)!.filter((answer) => answer.status !== 503 && !isFound(atlas, answer))).toEqual([])
    // Each answer after the move comes from the second cell: the first one has none.
    expect(seen.get(atlas)!.slice(settled + 2).filter((answer) => !isFound(atlas, answer))).toEqual([]) // prettier-ignore
    expect((await find(atlas, cells[0]!.max)).status).toBe(503)
    expect(readFileSync(map, "utf8")).toContain(`${key} cell2\n`)
    expect((await whoIs(before.cookie)).text).toContain("atlas")
    const after = await signIn(later)
    expect([after.status, (await whoIs(after.cookie)).status]).toEqual([204, 200])
    expect((await signIn(await link(harbor))).status).toBe(204)
  })

  it("read the map when haproxy starts again", async () => {
    await haproxy.end()
    rmSync(socket, { force: true })
    haproxy = await startHaproxy(Number(new URL(url).port))
    await until(async () => isFound(atlas, await find(atlas)))
    expect(isFound(harbor, await find(harbor))).toBe(true)
  })

  it("lead a host's requests that name no organization to the host's cell", async () => {
    const ready = (host: string) => ask(url, "/v1/session/ways", { headers: { host } })
    cells[1]!.max.end("SIGKILL")
    await cells[1]!.max.ended
    await until(async () => (await ready("cell2.example.com")).status === 503)
    expect((await ready("max.example.com")).status).not.toBe(503)
  })

  it("fail alone: without the second cell, the first one's organizations are answered", async () => {
    expect((await find(atlas)).status).toBe(503)
    for (let times = 0; times < 20; times++) {
      expect(isFound(harbor, await find(harbor))).toBe(true)
      await delay(50)
    }
  })
})
