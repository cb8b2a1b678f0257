/** `max move --org`: an organization moves to another server of Postgres while it is in use. */
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { makeOrganization } from "../support/atlas.ts"
import { rowsIn, startCell, startRouter } from "../support/cells.ts"
import { runMax } from "../support/cli.ts"
import { ask, callTool, JSON_TYPE, startServer, type TestServer } from "../support/http.ts"
import { importFile } from "../support/imports.ts"
import { series } from "../support/long.ts"
import { memberWithToken } from "../support/members.ts"
import { until } from "../support/until.ts"

const ROWS = series({ short: 20_000, long: 100_000 })
const folder = mkdtempSync(join(tmpdir(), "max-move-"))
const map = join(folder, "cells.map")

let first: Awaited<ReturnType<typeof startCell>>
let second: Awaited<ReturnType<typeof startCell>>
let here: TestServer
let there: TestServer
let router: Awaited<ReturnType<typeof startRouter>>
let atlas: Organization
let harbor: Organization
const tokens: Record<string, string> = {}

beforeAll(async () => {
  ;[first, second] = await Promise.all([startCell("-c log_statement=ddl"), startCell("-c log_statement=ddl")])
  writeFileSync(map, "# organization cell\n")
  here = await startServer(first.url)
  there = await startServer(second.url)
  router = await startRouter(map, { first: here.url, second: there.url })
  atlas = await here.run(makeOrganization("atlas"))
  harbor = await here.run(makeOrganization("harbor"))
  for (const organization of [atlas, harbor]) {
    await here.run(
      importFile(organization, [
        "id,name,email,phone",
        `ada,Ada of ${organization.slug},ada@${organization.slug}.example,+14155550100`
      ])
    )
    const admin = await here.run(
      memberWithToken(organization, `admin@${organization.slug}.example`, ["admin"], ["tools", "chat", "admin"])
    )
    tokens[organization.slug] = admin.token
  }
  // A type of its own, so that a table has to be made at the target.
  await here.run(importFile(atlas, ["id,name,colour", "1,Bolt,red", "2,Nut,blue"], { type: "parts", create: true }))
  await here.run(memberWithToken(atlas, "eve@atlas.example", ["member"]))
  await here.run(
    Effect.flatMap(Database, ({ owner }) => owner`
      INSERT INTO data.people (organization_id, id, name, name_k, email, email_k)
      SELECT ${atlas.id}::bigint, g, 'Person ' || g, 'person ' || g, g || '@example.com', g || '@example.com'
      FROM generate_series(1, ${ROWS}::int) g`)
  )
})

afterAll(async () => {
  await router?.close()
  await Promise.all([here?.stop(), there?.stop()])
  await Promise.all([first?.end(), second?.end()])
  rmSync(folder, { recursive: true, force: true })
})

const withPassword = (url: string) => url.replace("//owner@", "//owner:s3cret-of-the-source@")

const move = (...args: ReadonlyArray<string>) =>
  runMax(["move", "--org", "atlas", ...args], { DATABASE_URL: withPassword(first.url), THERE: second.url })

describe("max move --org", () => {
  it("moves an organization under load: nothing acknowledged is lost, no row differs, and another one notices nothing", async () => {
    const seen: Record<string, Array<{ status: number; text: string }>> = { atlas: [], harbor: [] }
    const turns: Array<string> = []
    let suspended = false
    let switches = 0
    let stop = false
    const looking = ["atlas", "harbor", "atlas", "harbor"].map(async (slug) => {
      while (!stop) {
        const { status, text } = await callTool(router, tokens[slug]!, "findEntities", {
          entityTypeId: "people",
          filters: [{ columnId: "email", op: "eq", value: `ada@${slug}.example` }]
        })
        seen[slug]!.push({ status, text })
      }
    })
    const talking = (async () => {
      for (let number = 0; !stop; number++) {
        const text = `how many people are called zz${number}y`
        const { status, text: answer } = await ask(router.url, "/v1/chat", {
          body: JSON.stringify({ text }),
          headers: { ...JSON_TYPE, authorization: `Bearer ${tokens["atlas"]}` }
        })
        if (status === 200 && answer.includes("event: done")) turns.push(text)
        else await delay(20)
      }
    })()
    const switching = (async () => {
      while (!stop) {
        const members = await here.run(
          Effect.result(
            Effect.flatMap(Memberships, (members) =>
              suspended ? members.resume(atlas, "eve@atlas.example") : members.suspend(atlas, "eve@atlas.example")
            )
          )
        )
        if (members._tag === "Failure") return
        suspended = !suspended
        switches++
        await delay(5)
      }
    })()
    await until(() => seen["atlas"]!.length > 20 && turns.length > 2 && switches > 5)

    const moved = await move("--to", "env:THERE", "--map", map, "--cell", "second", "--json")
    console.log(moved.stdout, moved.stderr)
    expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)])
    const settled = seen["atlas"]!.length
    await until(() => seen["atlas"]!.length > settled + 20 && turns.length > 3)
    stop = true
    await Promise.all([...looking, talking, switching])

    const { figures } = JSON.parse(moved.stdout)
    expect(figures.rows).toBeGreaterThan(ROWS)
    expect(figures.window.whole).toBeLessThan(60_000)
    console.log(JSON.stringify(figures), "harbor", seen["harbor"]!.length, "atlas", seen["atlas"]!.length, "turns", turns.length, "switches", switches)
    expect(seen["harbor"]!.filter(({ status, text }) => status !== 200 || !text.includes("Ada of harbor"))).toEqual([])
    expect(
      seen["atlas"]!.filter(({ status, text }) => status !== 503 && !(status === 200 && text.includes("Ada of atlas")))
    ).toEqual([])
    expect(seen["atlas"]!.at(-1)?.status).toBe(200)
    const kept = new Set((await rowsIn<{ asked: string }>(second.url, "SELECT asked FROM max.turns WHERE organization_id = $1::bigint", [atlas.id])).map(({ asked }) => asked))
    expect(turns.filter((text) => !kept.has(text))).toEqual([])
    expect(
      await rowsIn(second.url, "SELECT suspended_at IS NOT NULL AS suspended FROM max.memberships m WHERE anchor_id = (SELECT anchor_id FROM max.identifiers WHERE organization_id = $1::bigint AND key = 'eve@atlas.example')", [atlas.id])
    ).toEqual([{ suspended }])
    const verified = await runMax(["audit", "verify", "--org", "atlas"], { DATABASE_URL: second.url })
    expect([verified.code, verified.stderr]).toEqual([0, ""])
  })
})
