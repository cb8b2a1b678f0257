/** Queries over the benchmarks' world: each kind of filter, with common, rare and absent values. */
import type { FindQuery } from "../../src/domain/Query.ts"
import { emailOf, phoneOf, type WorldOrganization } from "./load.ts"

/** A query per round, so that consecutive rounds read different rows. */
export type Question = (of: WorldOrganization, round: number) => FindQuery

type Op = FindQuery["filters"][number]["op"]

const people =
  (columnId: string, op: Op, values: ReadonlyArray<string>, ...selectColumns: ReadonlyArray<string>): Question =>
  (_, round) => ({
    entityTypeId: "people",
    filters: [{ columnId, op, value: values[round % values.length]! }],
    selectColumns
  })

const meetings =
  (filters: FindQuery["filters"], ...selectColumns: ReadonlyArray<string>): Question =>
  () => ({ entityTypeId: "meetings", filters, selectColumns })

/** The number, among all people, of a person with a phone; a different one each round. */
export const personAt = ({ first, people: count }: WorldOrganization, round: number): number =>
  first + 5 * ((round * 7919) % Math.max(1, Math.floor(count / 5))) + 5

export const byPhone: Question = (of, round) => ({
  entityTypeId: "people",
  filters: [{ columnId: "phone", op: "eq", value: phoneOf(personAt(of, round)) }],
  selectColumns: ["email"]
})
export const byEmail: Question = (of, round) => ({
  entityTypeId: "people",
  filters: [{ columnId: "email", op: "eq", value: emailOf(personAt(of, round)) }],
  selectColumns: ["phone"]
})

export const everyone: Question = () => ({ entityTypeId: "people", filters: [] })

export const QUESTIONS: Readonly<Record<string, Question>> = {
  phone: byPhone,
  email: byEmail,
  "email, none": people("email", "eq", ["absent@example.com"]),
  "name, common": people("name", "eq", ["Maria Smith", "James García"]),
  "name, rare": people("name", "eq", ["Reza Smirnova", "Mónica Erdős"]),
  "status, common": people("status", "eq", ["Customer"], "owner", "company"),
  "status, of ten": people("status", "eq", ["Board"], "owner", "company"),
  "status, none": people("status", "eq", ["Unheard of"]),
  "name contains, common": people("name", "ilike", ["maria", "smith"]),
  "name contains, rare": people("name", "ilike", ["skłodow", "przyby", "erdos"]),
  "name contains three": people("name", "ilike", ["son", "gar"]),
  "name contains, none": people("name", "ilike", ["xyzzyx"]),
  "name begins with two": people("name", "ilike", ["zo", "qi", "ma"]),
  "name begins with one": people("name", "ilike", ["m", "w"]),
  "email contains": people("email", "ilike", ["p777@", "p42"]),
  "email contains, all": people("email", "ilike", ["@example.com"]),
  "phone contains": people("phone", "ilike", ["2000017855", "000"]),
  "company contains": people("company", "ilike", ["northwind logi", "harbor"], "company"),
  "company contains, none": people("company", "ilike", ["xyzzyx"], "company"),
  "owner contains": people("owner", "ilike", ["maria", "smith"], "owner"),
  everyone,
  "name contains and status": (_, round) => ({
    entityTypeId: "people",
    filters: [
      { columnId: "status", op: "eq", value: ["Customer", "Board"][round % 2]! },
      { columnId: "name", op: "ilike", value: ["maria", "skłodow"][(round >> 1) % 2]! }
    ]
  }),
  "meetings from": meetings([{ columnId: "start", op: "gte", value: "2025-06" }], "start", "attendees"),
  "meetings before": meetings([{ columnId: "start", op: "lt", value: "2025-06" }], "start", "attendees"),
  "meetings from, none": meetings([{ columnId: "start", op: "gte", value: "2040" }], "start"),
  "meetings on a day": meetings([{ columnId: "start", op: "eq", value: "2025-06-03" }], "start"),
  "meetings with one person": meetings([{ columnId: "attendees", op: "ilike", value: "skłodow" }], "start"),
  "meetings with many": meetings([{ columnId: "attendees", op: "ilike", value: "smith" }], "start"),
  "meetings of a name from": meetings(
    [
      { columnId: "start", op: "gte", value: "2025-06" },
      { columnId: "attendees", op: "ilike", value: "maria" }
    ],
    "start"
  ),
  "meetings with hosts of people": meetings([{ columnId: "attendees", op: "ilike", value: "m" }], "start"),
  "meetings of hosts of people from": meetings(
    [
      { columnId: "start", op: "gte", value: "2025-06" },
      { columnId: "attendees", op: "ilike", value: "m" }
    ],
    "start"
  ),
  "owner begins with one": people("owner", "ilike", ["m"], "owner"),
  "owner begins with one, and name": (_, round) => ({
    entityTypeId: "people",
    filters: [
      { columnId: "owner", op: "ilike", value: "m" },
      { columnId: "name", op: "ilike", value: ["smith", "skłodow"][round % 2]! }
    ]
  }),
  "company contains, and status": (_, round) => ({
    entityTypeId: "people",
    filters: [
      { columnId: "company", op: "ilike", value: ["bank", "a"][round % 2]! },
      { columnId: "status", op: "eq", value: ["Customer", "Board"][(round >> 1) % 2]! }
    ]
  }),
  "company begins with one": people("company", "ilike", ["a"]),
  meetings: meetings([]),
  "companies by name": () => ({
    entityTypeId: "companies",
    filters: [{ columnId: "name", op: "ilike", value: "atlas" }]
  })
}
