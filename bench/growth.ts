/** The cost of lookups against the number of rows: four worlds, each on its own server, get the same queries alternately. */
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { encodeId } from "../src/domain/ids.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { settingsOf, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { plot } from "./plot.ts"
import { race, raceTable } from "./race.ts"
import { asking } from "./store.ts"
import { emailOf, openWorld, type World, type WorldOrganization } from "./world/load.ts"
import { byPhone, everyone, type Question, QUESTIONS } from "./world/questions.ts"

const SIZES: ReadonlyArray<number> = [10_000, 100_000, 1_000_000, 2_000_000]

/** A world on its own embedded server, until the scope closes. */
const opened = Effect.fnUntraced(function* (rows: number, { keep }: Where) {
  const { release, settings } = settingsOf({ keep: keep === undefined ? undefined : join(keep, String(rows)) })
  yield* Effect.addFinalizer(() => Effect.sync(release))
  const layer = Services.pipe(Layer.provideMerge(ConfiguredDatabase), Layer.provideMerge(Env.layerWith(settings)))
  const context = yield* Layer.build(Layer.fresh(layer))
  const within = Effect.provideContext(context)
  const world: World = yield* within(openWorld(rows))
  const { find } = yield* within(asking(world.organizations.huge, "masked"))
  const [middle] = yield* within(
    Effect.flatMap(Database, ({ owner }) =>
      owner.unsafe<{ id: bigint }>(
        `SELECT id FROM data.people WHERE organization_id = $1::bigint ORDER BY id OFFSET $2::int LIMIT 1`,
        [world.organizations.huge.organization.id, Math.floor(rows / 4)]
      )
    )
  )
  return { rows, of: world.organizations.huge, find, middle: encodeId(middle!.id) }
})

interface Scenario {
  readonly name: string
  readonly question: Question | "middle"
  readonly target?: number
}

const SCENARIOS: ReadonlyArray<Scenario> = [
  { name: "eq by phone", question: byPhone, target: 1.5 },
  { name: "eq by a common name", question: QUESTIONS["name, common"]! },
  { name: "everyone, first page and total", question: everyone },
  { name: "everyone, a page in the middle", question: "middle" },
  {
    name: "status of half of all",
    question: () => ({ entityTypeId: "people", filters: [{ columnId: "status", op: "eq", value: "Customer" }] })
  },
  { name: "name contains, common", question: QUESTIONS["name contains, common"]! },
  { name: "name contains, no match", question: QUESTIONS["name contains, none"]! },
  { name: "name begins with two letters", question: QUESTIONS["name begins with two"]! }
]

/** Parts of e-mail addresses that match one, ten, a hundred… of a million people. */
const PARTS = ["p777777@", "p77777", "p7777", "p777", "p77", "@example.com"]

export const growth = (
  sizes: ReadonlyArray<number> | undefined,
  where: Where,
  quiet: boolean,
  plots: string | undefined
) => Effect.scoped(report(sizes ?? SIZES, where, quiet, plots))

const report = Effect.fnUntraced(function* (
  sizes: ReadonlyArray<number>,
  where: Where,
  quiet: boolean,
  plots: string | undefined
) {
  const worlds = yield* Effect.forEach(sizes, (rows) => opened(rows, where))
  const say = (text: string) => {
    if (!quiet) console.log(text)
  }
  const measured: Array<Measured> = []
  const lines: Array<{ readonly name: string; readonly points: ReadonlyArray<readonly [number, number]> }> = []
  for (const { name, question, target } of SCENARIOS) {
    const raced = yield* race(
      worlds.map(({ find, middle, of, rows }) => ({
        name: `${rows} people`,
        run: (round: number) => {
          // The same query to all worlds within one turn.
          const turn = Math.floor(round / worlds.length)
          return question === "middle"
            ? find({ ...everyone(of, turn), cursorEntityId: middle })
            : find(question(of, turn))
        }
      })),
      { rounds: 800, seconds: 8 }
    )
    say(raceTable(name, raced))
    lines.push({ name, points: raced.map(({ ms }, index) => [worlds[index]!.rows, ms]) })
    measured.push({
      scenario: `${name}: p50 at ${sizes.at(-1)} people against ${sizes[0]}`,
      ratio: raced.at(-1)!.ms / raced[0]!.ms,
      ...(target === undefined ? {} : { target })
    })
  }
  const { find, rows } = worlds.at(-1)!
  const raced = yield* race(
    PARTS.map((value) => ({
      name: `e-mail contains ${value}`,
      run: () => find({ entityTypeId: "people", filters: [{ columnId: "email", op: "ilike", value }] })
    })),
    { rounds: 60, seconds: 12 }
  )
  say(raceTable(`by matches, ${rows} people`, raced))
  const matches = matchesOf(worlds.at(-1)!.of)
  if (plots !== undefined) {
    const command = `npm run bench -- growth${sizes === SIZES ? "" : ` --sizes ${sizes.join(",")}`} --plots docs/performance`
    const y = "milliseconds, median"
    mkdirSync(plots, { recursive: true })
    writeFileSync(
      join(plots, "rows.svg"),
      plot({ title: "Cost against people in the database", x: "people", y, lines, command })
    )
    writeFileSync(
      join(plots, "matches.svg"),
      plot({
        title: `Cost against matches, ${rows.toLocaleString("en")} people`,
        x: "matching people",
        y,
        lines: [{ name: "e-mail contains", points: raced.map(({ ms }, index) => [Math.max(1, matches[index]!), ms]) }],
        command
      })
    )
  }
  return measured satisfies ReadonlyArray<Measured>
})

/** The number of matching people for each part. */
const matchesOf = ({ first, people }: WorldOrganization): ReadonlyArray<number> =>
  PARTS.map((part) => {
    let count = 0
    for (let number = first + 1; number <= first + people; number++) if (emailOf(number).includes(part)) count += 1
    return count
  })
