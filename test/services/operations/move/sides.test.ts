/** What a move, its undo and its clean-up refuse, and what they leave alone on both sides. */
import { Effect } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { migrate } from "../../../../src/database/migrate.ts"
import { SCHEMA_VERSION } from "../../../../src/database/migrations/index.ts"
import { cleanAfterMove } from "../../../../src/services/operations/Move.ts"
import { type Mover, openMoves } from "../../../support/moving.ts"

let moves: Awaited<ReturnType<typeof openMoves>>
beforeAll(async () => {
  moves = await openMoves()
})
afterAll(() => moves?.end())

const PEOPLE = "SELECT count(*)::int FROM data.people WHERE organization_id = $1::bigint"
const MOVE_ROWS = "SELECT count(*)::int FROM max.moves WHERE organization_id = $1::bigint"
const clean = ({ organization }: Mover) => Effect.runPromise(cleanAfterMove(moves.sides(organization)))
/** Why a move isn't begun. */
const reasons = (mover: Mover) =>
  moves.move(mover).then(
    () => "moved",
    (error: { readonly details?: ReadonlyArray<string> }) => error.details?.join("\n")
  )
const organizationAtTarget = ({ organization: { id, slug } }: Mover) =>
  moves.sql(
    "target",
    `INSERT INTO max.organizations (organization_id, slug, name, country, time_zone, epoch) VALUES (${id}, '${slug}', '${slug}', 'US', 'UTC', 1)`
  )

describe("a move of an organization", () => {
  it("begins only if the target has neither the organization, its slug nor its number, and changes nothing otherwise", async () => {
    const [restored, named, numbered] = [await moves.mover(), await moves.mover(), await moves.mover()]
    await organizationAtTarget(restored)
    expect(await reasons(restored)).toContain("The target has this organization already")
    await moves.sql("target", "INSERT INTO max.organizations (organization_id, slug, name, country, time_zone, epoch) VALUES (9, $1, 'x', 'US', 'UTC', 1)", [named.organization.slug]) // prettier-ignore
    expect(await reasons(named)).toContain(`another organization with the slug ${named.organization.slug}`)
    for (const [where, id] of [
      ["source", numbered.organization.id],
      ["target", 9n]
    ] as const)
      await moves.sql(where, `INSERT INTO max.sms_numbers (organization_id, phone, provider, account, secret) VALUES (${id}, '+14155550111', 'p', 'a', 's')`) // prettier-ignore
    expect(await reasons(numbered)).toContain("has a text message number of")
    for (const mover of [restored, named, numbered]) {
      expect(await moves.value(mover, "source", MOVE_ROWS)).toBe(0)
      expect(await moves.leftOf(mover)).toEqual([])
    }
    await moves.sql("target", "DELETE FROM max.sms_numbers WHERE organization_id = 9")
  })

  it("begins only if the directory can be written", async () => {
    const mover = await moves.mover()
    const folder = mkdtempSync(join(inject("files"), "map-"))
    const directory = { file: join(folder, "cells.map"), cell: "second" }
    await expect(moves.move(mover, { directory })).rejects.toThrow("--map")
    writeFileSync(directory.file, "")
    const socket = join(folder, "admin.sock")
    await expect(moves.move(mover, { directory: { ...directory, socket } })).rejects.toThrow("haproxy doesn't answer")
    expect(await moves.value(mover, "source", MOVE_ROWS)).toBe(0)
    expect(await moves.find(mover, "source")).toBe(`Ada of ${mover.organization.slug}`)
  })

  it("deletes no row here before it is in force there", async () => {
    const mover = await moves.mover()
    await expect(clean(mover)).rejects.toThrow("nothing was deleted")
    let refused: unknown
    await moves.move(mover, { following: async () => (refused = await clean(mover).catch((error: unknown) => error)) })
    expect(refused).toMatchObject({ message: expect.stringContaining("nothing was deleted") })
    expect([await moves.value(mover, "source", PEOPLE), await moves.value(mover, "target", PEOPLE)]).toEqual([2, 2])
    await clean(mover)
    expect([await moves.value(mover, "source", PEOPLE), await moves.value(mover, "target", PEOPLE)]).toEqual([0, 2])
    expect(await moves.find(mover, "source")).toBe(503)
  })

  it("is undone only at the database that it goes to: what arrives there from elsewhere stays", async () => {
    const mover = await moves.mover()
    const { id, slug } = mover.organization
    await organizationAtTarget(mover)
    await moves.sql("target", `INSERT INTO max.moves (organization_id, slug, incoming, place, closed, run) VALUES (${id}, '${slug}', true, 'elsewhere', true, 1)`) // prettier-ignore
    await moves.sql(
      "target",
      `INSERT INTO data.people (organization_id, id, name, name_k) VALUES (${id}, 1, 'Eve', 'eve')`
    )
    await expect(moves.undo(mover)).rejects.toThrow("is under way")
    expect([await moves.value(mover, "target", PEOPLE), await moves.value(mover, "target", MOVE_ROWS)]).toEqual([1, 1])
    expect(await reasons(mover)).toContain("from elsewhere: finish or undo that move")
  })

  it("shows the source's password in no log of either server", async () => {
    const mover = await moves.mover()
    const password = "s3cret-of-the-source"
    // A statement that fails is logged with its text.
    const unreachable = { password, reached: (url: string) => url.replace("port=5432", "port=5431") }
    await expect(moves.move(mover, unreachable)).rejects.toThrow("can't subscribe at the source")
    expect(moves.logs()[1]).toContain("the subscription was not made")
    await moves.move(mover, { password })
    expect(moves.logs().map((log) => log.includes(password))).toEqual([false, false])
    expect(await moves.leftOf(mover)).toEqual(["triggers"])
  })

  it("ends when the target can't store a row, and is undone", async () => {
    const mover = await moves.mover()
    const { id, slug } = mover.organization
    // A row with the key of one that is copied.
    await moves.sql("target", `INSERT INTO data.people (organization_id, id, name, name_k) VALUES (${id}, $1::bigint, 'Eve', 'eve')`, [await moves.value(mover, "source", "SELECT min(id) FROM data.people WHERE organization_id = $1::bigint")]) // prettier-ignore
    const ended = await Promise.race([
      moves.move(mover).then(
        () => "moved",
        (error: Error) => error.message
      ),
      new Promise((resolve) => setTimeout(resolve, 60_000))
    ])
    expect(ended).toContain("reports errors while it copies")
    expect(await moves.find(mover, "source")).toBe(`Ada of ${slug}`)
    await moves.undo(mover)
    expect([await moves.value(mover, "target", PEOPLE), await moves.leftOf(mover)]).toEqual([0, []])
    await moves.move(mover)
    expect(await moves.find(mover, "target")).toBe(`Ada of ${slug}`)
  })

  it("lets no migration begin", async () => {
    const mover = await moves.mover()
    const { source } = moves.sides(mover.organization)
    const last = `max.migrations WHERE id = ${SCHEMA_VERSION}`
    let refused: unknown
    await moves.move(mover, {
      following: async () => {
        const [row] = await moves.sql("source", `DELETE FROM ${last} RETURNING name`)
        refused = await Effect.runPromise(Effect.flip(migrate(source.owner, undefined))).catch(() => "migrated")
        await moves.sql("source", "INSERT INTO max.migrations (id, name) VALUES ($1::int, $2::text) ON CONFLICT DO NOTHING", [SCHEMA_VERSION, row!["name"]]) // prettier-ignore
      }
    })
    expect(refused).toMatchObject({ message: expect.stringContaining("is being moved") })
  })
})
