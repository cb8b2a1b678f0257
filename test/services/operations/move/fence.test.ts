/** What a move of an organization prevents while it copies, behind the fence and after it. */
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Memberships } from "../../../../src/services/members/Memberships.ts"
import { SmsOutbox } from "../../../../src/services/texting/SmsOutbox.ts"
import { importFile } from "../../../support/imports.ts"
import { type Mover, openMoves } from "../../../support/moving.ts"
import { until } from "../../../support/until.ts"

let moves: Awaited<ReturnType<typeof openMoves>>
beforeAll(async () => {
  moves = await openMoves()
})
afterAll(() => moves?.end())

const MOVE = "FROM max.moves WHERE organization_id = $1::bigint"
const ADA = "name_k LIKE 'ada of %'"
const isClosed = (mover: Mover) => moves.value(mover, "source", `SELECT closed ${MOVE}`)

/** Lets the target wait for one row's lock before it stores a change that the source made before the fence. */
const heldBack = async ({ organization: { id } }: Mover) => {
  const row = `data.people WHERE organization_id = ${id} AND ${ADA}`
  const release = await moves.hold("target", `SELECT 1 FROM ${row} FOR UPDATE`)
  await moves.sql("source", `UPDATE data.people SET status = 'Customer', status_k = 'customer' WHERE organization_id = ${id} AND ${ADA}`) // prettier-ignore
  return release
}

/** Changes each row of one organization that is stored at the target, as a trigger there would. */
const altering = async ({ organization: { id } }: Mover) => {
  const name = `altering_${id}`
  for (const statement of [
    `CREATE FUNCTION public.${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := 'Eve'; RETURN NEW; END $$`,
    `CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON data.people FOR EACH ROW WHEN (NEW.organization_id = ${id}) EXECUTE FUNCTION public.${name}()`,
    `ALTER TABLE data.people ENABLE ALWAYS TRIGGER ${name}`
  ])
    await moves.sql("target", statement)
  return () => moves.sql("target", `DROP FUNCTION public.${name} CASCADE`)
}

/** A condition that a statement of the move fails on, once a row has the value. */
const failing = async (where: "source" | "target", table: string, when: string) => {
  const name = `failing_${where}`
  await moves.sql(where, `CREATE FUNCTION public.${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`) // prettier-ignore
  await moves.sql(where, `CREATE TRIGGER ${name} BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION public.${name}()`) // prettier-ignore
  return () => moves.sql(where, `DROP FUNCTION public.${name} CASCADE`)
}

describe("a move of an organization", () => {
  it("refuses its writes behind the fence, answers none of its requests, and goes on when the target has all of its rows", async () => {
    const mover = await moves.mover()
    const { id, slug } = mover.organization
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([`Ada of ${slug}`, 401])
    let release = async () => {}
    let before: unknown
    const moved = moves.move(mover, {
      following: async () => {
        before = await moves.find(mover, "target")
        release = await heldBack(mover)
      }
    })
    await until(async () => (await isClosed(mover)) === true)
    expect(before).toBe(503)
    const write = `UPDATE data.people SET name = 'Lost' WHERE organization_id = ${id}`
    await expect(moves.sql("source", write)).rejects.toMatchObject({ reason: { cause: { code: "MX002" } } })
    const remove = `DELETE FROM data.people WHERE organization_id = ${id}`
    await expect(moves.sql("source", remove)).rejects.toMatchObject({ reason: { cause: { code: "MX002" } } })
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([503, 503])
    await release()
    await moved
    // A change at the target isn't known here, so nothing is answered here.
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([503, `Ada of ${slug}`])
    const people = "SELECT count(*)::int FROM data.people WHERE organization_id = $1::bigint AND status = 'Customer'"
    expect(await moves.value(mover, "target", people)).toBe(1)
  })

  it("leaves out what has moved away in statements over all organizations, which go on", async () => {
    const [mover, other] = [await moves.mover(), await moves.mover()]
    for (const { organization } of [mover, other])
      await moves.sql(
        "source",
        `INSERT INTO max.sms_outbox (organization_id, text_id, line, phone, message_id, kind, body, segments, epoch, state, created_at)
         VALUES ($1::bigint, 't', '+1', '+2', 'm', 'reply', 'words', 1, 1, 'delivered', now() - interval '90 days')`,
        [organization.id]
      )
    await moves.move(mover)
    await moves.server("source").run(Effect.flatMap(SmsOutbox, (outbox) => outbox.prune(30)))
    const texts = "SELECT body FROM max.sms_outbox WHERE organization_id = $1::bigint"
    expect([await moves.value(mover, "source", texts), await moves.value(other, "source", texts)]).toEqual([
      "words",
      ""
    ])
  })

  it("copies no other organization's row, and empties no table of the target", async () => {
    const [mover, other] = [await moves.mover(), await moves.mover()]
    const table = "data.meeting_attendees"
    const insert = (where: "source" | "target", id: bigint) =>
      moves.sql(where, `INSERT INTO ${table} (organization_id, meeting_id, person_id) VALUES (${id}, 1, 1)`)
    await insert("source", mover.organization.id)
    await insert("source", other.organization.id)
    await insert("target", 7n)
    const ids = async () =>
      (await moves.sql("target", `SELECT organization_id AS id FROM ${table} ORDER BY 1`)).map((row) => row["id"])
    const moved = moves.move(mover, {
      following: async () => {
        expect(await ids()).toEqual([7n, mover.organization.id])
        // The counts differ afterwards: nothing is put in force.
        await moves.sql("source", `TRUNCATE ${table}`)
      }
    })
    await expect(moved).rejects.toThrow(`Rows differ at the target, in ${table}.`)
    expect(await ids()).toEqual([7n, mover.organization.id])
    await moves.undo(mover)
    expect(await ids()).toEqual([7n])
    expect(await moves.leftOf(mover)).toEqual([])
  })

  it("stays where it is if a row differs at the target, and is in use again", async () => {
    const mover = await moves.mover()
    const { slug } = mover.organization
    const end = await altering(mover)
    await expect(moves.move(mover)).rejects.toThrow("Rows differ at the target, in data.people.")
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([`Ada of ${slug}`, 503])
    await moves
      .server("source")
      .run(Effect.flatMap(Memberships, (members) => members.suspend(mover.organization, `admin@${slug}.example`)))
    expect(await moves.find(mover, "source")).toBe(403)
    await end()
    await moves.undo(mover)
    expect(await moves.leftOf(mover)).toEqual([])
  })

  it("compares rows again that changed after they had been compared", async () => {
    const mover = await moves.mover()
    let end: () => Promise<unknown> = async () => {}
    const moved = moves.move(mover, {
      following: async () => {
        end = await altering(mover)
        await moves.sql("source", `UPDATE data.people SET status = 'Lost', status_k = 'lost' WHERE organization_id = ${mover.organization.id} AND ${ADA}`) // prettier-ignore
      }
    })
    await expect(moved).rejects.toThrow("Rows differ at the target, in data.people.")
    expect(await moves.find(mover, "target")).toBe(503)
    await end()
    await moves.undo(mover)
  })

  it("opens the organization here again if the target doesn't catch up within 30 seconds", async () => {
    const mover = await moves.mover()
    let release = async () => {}
    const moved = moves.move(mover, { following: async () => (release = await heldBack(mover)) })
    const ended = await Promise.race([
      moved.then(
        () => "moved",
        (error: Error) => error.message
      ),
      new Promise((resolve) => setTimeout(resolve, 90_000))
    ])
    await release()
    expect(ended).toContain("didn't catch up within 30 seconds")
    expect([await isClosed(mover), await moves.find(mover, "source")]).toEqual([false, `Ada of ${mover.organization.slug}`]) // prettier-ignore
    // The same command goes on from there.
    await moves.move(mover)
    expect(await moves.find(mover, "target")).toBe(`Ada of ${mover.organization.slug}`)
  })

  it("holds up other organizations' writers for less than a second at a time while it waits for its own", async () => {
    const [mover, other] = [await moves.mover(), await moves.mover()]
    let slowest = 0
    const status = { ended: false }
    let release = async () => {}
    const moved = moves.move(mover, {
      following: async () => {
        release = await moves.hold("source", `UPDATE data.people SET status = 'Customer', status_k = 'customer' WHERE organization_id = ${mover.organization.id}`) // prettier-ignore
      }
    })
    await until(async () => (await moves.value(mover, "source", "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%LOCK TABLE%' AND wait_event_type = 'Lock' AND $1::bigint > 0")) === true) // prettier-ignore
    const writing = (async () => {
      while (!status.ended) {
        const from = performance.now()
        await moves.sql("source", `UPDATE data.people SET status = status WHERE organization_id = ${other.organization.id}`) // prettier-ignore
        slowest = Math.max(slowest, performance.now() - from)
      }
    })()
    await new Promise((resolve) => setTimeout(resolve, 6000))
    expect(await isClosed(mover)).toBe(false)
    await release()
    await moved
    status.ended = true
    await writing
    expect(slowest).toBeLessThan(4000)
    const changed = "SELECT count(*)::int FROM data.people WHERE organization_id = $1::bigint AND status = 'Customer'"
    expect(await moves.value(mover, "target", changed)).toBe(2)
  })

  it("ends, if a later command has begun, before it puts anything in force", async () => {
    const mover = await moves.mover()
    let release = async () => {}
    const moved = moves.move(mover, {
      following: async () => {
        // What a later command does first.
        release = await moves.hold("target", `UPDATE max.moves SET run = run + 1 WHERE organization_id = ${mover.organization.id}`) // prettier-ignore
      }
    })
    await until(async () => (await moves.value(mover, "target", "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%UPDATE max.moves%' AND wait_event_type = 'Lock' AND $1::bigint > 0")) === true) // prettier-ignore
    await release()
    await expect(moved).rejects.toThrow("Another max move of this organization has begun since")
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([503, 503])
    await moves.undo(mover)
    expect(await moves.find(mover, "source")).toBe(`Ada of ${mover.organization.slug}`)
    expect(await moves.leftOf(mover)).toEqual([])
  })

  it("is not undone once the organization is in force at the target, and the same command ends it", async () => {
    const mover = await moves.mover()
    const end = await failing("source", "max.moves", "NEW.moved_at IS NOT NULL")
    await expect(moves.move(mover)).rejects.toThrow("A database failed")
    expect(await moves.find(mover, "target")).toBe(`Ada of ${mover.organization.slug}`)
    await expect(moves.undo(mover)).rejects.toThrow("is in force at the target")
    expect([await moves.find(mover, "source"), await moves.find(mover, "target")]).toEqual([
      503,
      `Ada of ${mover.organization.slug}`
    ])
    await end()
    await moves.move(mover)
    expect(await moves.leftOf(mover)).toEqual(["triggers"])
  })

  it("waits for an import that runs, and imports wait for it", async () => {
    const mover = await moves.mover()
    const { organization } = mover
    const release = await moves.hold("source", `SELECT pg_advisory_xact_lock(7236912, hashint8(${organization.id}))`)
    await expect(moves.move(mover)).rejects.toThrow(`An import into ${organization.slug} is running`)
    await release()
    expect(await moves.value(mover, "source", `SELECT count(*)::int ${MOVE}`)).toBe(0)
    let refused: unknown
    await moves.move(mover, {
      following: async () => {
        const another = importFile(organization, ["id,name", "1,Saw"], { type: "tools", create: true })
        refused = await moves.server("source").run(Effect.flip(another))
      }
    })
    expect(refused).toMatchObject({ message: expect.stringContaining("is being moved to another database") })
  })

  it("ends at a type that got a table during the move, and moves with it after an undo", async () => {
    const mover = await moves.mover()
    const { id, slug } = mover.organization
    const moved = moves.move(mover, {
      following: async () => {
        await moves.sql("source", "CREATE TABLE data.t_late (organization_id bigint NOT NULL, id bigint NOT NULL, PRIMARY KEY (organization_id, id))") // prettier-ignore
        await moves.sql("source", `INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table) VALUES (${id}, 'late', 1, 'Late', 'Lates', 'data', 't_late')`) // prettier-ignore
      }
    })
    await expect(moved).rejects.toThrow("got a table during the move")
    expect(await moves.find(mover, "source")).toBe(`Ada of ${slug}`)
    await moves.undo(mover)
    expect(await moves.leftOf(mover)).toEqual([])
  })
})
