/** A scripted model that does what a good one does with a request to change something: it looks up what the person names, then drafts. */
import { readFileSync } from "node:fs"
import { fixture } from "./fixtures.ts"
import { calls, resultsIn, says, type Reply, type Script } from "./messages.ts"

export interface ChangeCase {
  readonly do: string
  readonly expect: ReadonlyArray<{
    readonly action: string
    readonly id?: string
    readonly values?: Readonly<Record<string, string | ReadonlyArray<string>>>
  }>
}
interface Seed {
  readonly id: string
  readonly name: string
  readonly email?: string
  readonly start?: string
}
type Filters = ReadonlyArray<readonly [column: string, op: string, value: string]>

const seeds = new Map(
  ["seed_people_workbench_staff", "seed_people_workbench_customers", "seed_meetings_changes"]
    .flatMap((name) =>
      readFileSync(fixture("workbench", `${name}.jsonl`), "utf8")
        .trim()
        .split("\n")
    )
    .map((line) => JSON.parse(line) as Seed)
    .map((seed) => [seed.id, seed])
)
const MONTHS: Readonly<Record<string, string>> = { November: "11", December: "12" }

/** The filters that find an entity by the person's own words. */
const filtersFor = ({ name, start }: Seed, said: string): Filters => {
  if (start === undefined) {
    const [first = ""] = name.split(" ")
    return said.includes(name) ? [["name", "eq", name]] : [["name", "ilike", first]]
  }
  const [, month = "", day = ""] = /\bon (November|December) (\d+)/.exec(said) ?? []
  if (day === "")
    return [
      ["name", "eq", name],
      ["start", "gte", "2023-11-30"]
    ]
  const [, other] = /\bwith (\w+) on /.exec(said) ?? []
  return [
    ["start", "eq", `2023-${MONTHS[month]}-${day.padStart(2, "0")}`],
    ...(other === undefined ? [] : [["attendees", "ilike", other] as const])
  ]
}

/** The id in the line of a result that shows this entity. */
const idIn = (results: ReadonlyArray<string>, { email, name, start }: Seed): string | undefined =>
  results
    .flatMap((result) => result.split("\n"))
    .find((line) => {
      const cells = line.split("\t")
      const isSame = start === undefined || line.replaceAll("T", " ").includes(start.slice(0, 16))
      return cells[0] === name && (email === undefined || cells.includes(email)) && isSame
    })
    ?.split("\t")
    .at(-1)

const idsIn = (value: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  [value].flat().filter((one) => seeds.has(one))

/** The calls of the model for one case: first the lookups of all that the case names, then the draft. */
const replyTo = ({ do: said, expect }: ChangeCase, results: ReadonlyArray<string>): Reply => {
  const [write] = expect
  if (write === undefined) return says("What should I change?")
  const { action, id, values = {} } = write
  const named = [...(id === undefined ? [] : [id]), ...Object.values(values).flatMap(idsIn)].map((one) =>
    seeds.get(one)!
  )
  if (results.length === 0)
    if (named.length > 0)
      return calls(
        ...named.map((seed) => {
          const filters = filtersFor(seed, said).map(([columnId, op, value]) => ({ columnId, op, value }))
          const type = seed.start === undefined ? "people" : "meetings"
          const selectColumns = [seed.start === undefined ? "email" : "start"]
          return ["findEntities", { entityTypeId: type, filters, limit: 25, selectColumns }] as const
        })
      )
  if (results.some((result) => /^(?:draft|done|needs)\b/.test(result))) return says("Please look at it below.")
  const found = new Map(named.map((seed) => [seed.id, idIn(results, seed) ?? "nothing"]))
  const textOf = (value: string | ReadonlyArray<string>) => [value].flat().map((one) => found.get(one) ?? one).join(";") // prettier-ignore
  return calls([
    "requestAction",
    {
      actionId: action,
      ...(id === undefined ? {} : { entityIds: [found.get(id)!] }),
      ...(write.values && { values: Object.entries(values).map(([column, value]) => `${column}=${textOf(value)}`) })
    }
  ])
}

/** A model that knows these cases, each by the person's words. */
export const modelFor =
  (cases: ReadonlyArray<ChangeCase>): Script =>
  (request) => {
    const said = JSON.stringify(request.messages)
    const [one] = cases
      .filter((each) => said.includes(JSON.stringify(each.do).slice(1, -1)))
      .sort((a, b) => b.do.length - a.do.length)
    return one === undefined ? says("I don't know.") : replyTo(one, resultsIn(request))
  }
