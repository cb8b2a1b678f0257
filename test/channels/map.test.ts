/** Mapping of existing tables by commands, as an operator does it. */
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"
import { connectTo } from "../support/newDatabase.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-map-"))
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Runs statements as another program. */
const elsewhere = (...statements: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const sql = yield* connectTo(env["DATABASE_URL"]!)
        for (const statement of statements) yield* sql.unsafe(statement).unprepared
      })
    ).pipe(Effect.provide(Reactivity.layer))
  )

beforeAll(async () => {
  env = { DATABASE_URL: await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope))), MAX_LOOKUP_TIMEOUT: "10000" }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("max map", () => {
  it("maps existing tables, answers from them, and reports when they have changed", async () => {
    await elsewhere(
      "CREATE TABLE public.users (id int PRIMARY KEY, name text, email text)",
      "CREATE TABLE public.orders (id int PRIMARY KEY, title text, user_id int, note json)",
      "INSERT INTO public.users VALUES (1, 'Ada', 'ada@shop.example')",
      "INSERT INTO public.orders VALUES (1, 'Lamp', 1), (2, 'Chair', NULL)"
    )
    expect((await max("migrate")).code).toBe(0)
    expect((await max("init", "--org", "shop", "--country", "US", "--time-zone", "UTC")).code).toBe(0)

    const open = await max("map")
    expect(open.stderr).toContain("Which rows belong to the organization? Missing in: orders, people")
    const refused = await max("map", "--apply", file("open.json", open.stdout))
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toContain("Nothing is mapped: 2 problems.")

    const proposed = await max("map", "--exclusive")
    expect(proposed.stderr).toContain(
      "public.orders.note: left out, json isn't supported. A view can cast it: SELECT …, note::text"
    )
    expect(proposed.stderr).toContain("public.orders.user_id: taken as a reference to public.users by its name.")
    const applied = await max("map", "--apply", file("mapping.json", proposed.stdout))
    expect(applied).toMatchObject({ code: 0 })
    expect(applied.stdout).toContain("Orders (orders) are read from public.orders: name, user")
    expect(applied.stdout).toContain("max policy grant member orders.name")

    expect((await max("member", "add", "ada@shop.example", "--role", "admin")).code).toBe(0)
    const found = await max("find", "orders", "user~ada", "--select", "user", "--as", "ada@shop.example", "--json")
    expect(JSON.parse(found.stdout)).toEqual({
      total: 1,
      entities: [{ entityId: "1", displayName: "Lamp", columns: { user: { id: "1", name: "Ada" } } }]
    })
    expect((await max("map", "diff")).stdout).toBe("Nothing has changed since the tables were mapped.\n")
    const mapped = async () =>
      (
        JSON.parse((await max("doctor", "--json")).stdout) as { findings: ReadonlyArray<{ check: string }> }
      ).findings.filter(({ check }) => check === "mapped tables")
    expect(await mapped()).toEqual([
      { check: "mapped tables", status: "ok", message: expect.stringContaining("without drift") }
    ])

    await elsewhere(
      "ALTER TABLE public.orders ADD COLUMN paid boolean",
      "ALTER TABLE public.orders RENAME title TO headline"
    )
    const after = await max("find", "orders", "--as", "ada@shop.example")
    expect(after.stderr).toBe(
      "public.orders changed since it was mapped: max map diff\nI can't look things up right now. Please try again in a minute.\n"
    )
    expect(after.code).toBe(7)
    expect(await mapped()).toMatchObject([{ status: "fail", mend: ["max map diff"] }])
    const diff = await max("map", "diff")
    expect(diff.stdout).toContain(`orders: name: public.orders has no column "title".`)
    expect(diff.stdout).toContain(`orders: public.orders has a new column "paid".`)
    // The proposal is the edited mapping with the new columns.
    const again = JSON.parse((await max("map", "orders")).stdout)
    expect(Object.keys(again.types[0].columns)).toEqual(["name", "user", "paid"])
    again.types[0].columns.name.from = "headline"
    expect((await max("map", "--apply", file("again.json", JSON.stringify(again)))).code).toBe(0)
    const answer = await max("find", "orders", "name=lamp", "--select", "paid", "--as", "ada@shop.example")
    expect(answer).toMatchObject({ code: 0, stderr: "" })
    expect(answer.stdout).toContain("Lamp")
  })

  it("refuses an invalid mapping file and changes nothing", async () => {
    for (const [text, says] of [
      ["{", "This isn't JSON"],
      ["[]", "This isn't a mapping file."],
      [`{ "version": 2, "types": [] }`, "This isn't a mapping file."],
      [`{ "version": 1, "types": [{ "table": "public.orders", "type": "x", "id": "id", "colums": {} }] }`, "colums"],
      [`{ "version": 1, "types": [] }`, "The file maps nothing."]
    ] as const) {
      const refused = await max("map", "--apply", file("bad.json", text))
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toContain(says)
    }
    expect(await max("map", "no_such_table")).toMatchObject({
      code: 1,
      stderr: `There is no table or view "no_such_table".\n`
    })
    expect(await max("map", "ordrs")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean orders?")
    })
    expect((await max("map", "orders", "--apply", "x.json")).code).toBe(2)
    expect((await max("org", "key", " ")).code).toBe(1)
  })
})
