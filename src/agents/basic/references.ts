/** Finds the entities that the names in conditions lead to. */
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Filter } from "../../domain/Query.ts"
import { plainValue } from "../../domain/valueList.ts"
import type { References } from "./filterChoices.ts"
import { eqName } from "./locate.ts"
import type { Condition } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { find, inParallel, type Script } from "./script.ts"
import { written } from "./tokenize.ts"

/** The condition itself, or the one that it negates or the ones that it joins. */
export const parts = (condition: Condition): ReadonlyArray<Condition> =>
  condition._tag === "Not"
    ? parts(condition.of)
    : condition._tag === "AnyOf"
      ? condition.of.flatMap(parts)
      : [condition]

/** The name of a company as it is said, or written as one word: "Force Analytics" and "forceanalytics". */
const eqSpaced = (name: string): ReadonlyArray<Filter> => {
  const joined = name.replaceAll(" ", "")
  return joined === name
    ? eqName(name)
    : [{ columnId: "name", op: "eq", value: `${plainValue(name)}|${plainValue(joined)}` }]
}

/** The ids of the names in conditions, where exactly one entity has the name. */
export function* idsOf(conditions: ReadonlyArray<Condition>, context: Context): Script<References> {
  const wanted = conditions
    .flatMap(parts)
    .flatMap((condition): ReadonlyArray<{ name: string; types: ReadonlyArray<string> }> => {
      switch (condition._tag) {
        case "With":
        case "Owned":
          return condition.id === undefined ? [{ name: written(condition.words), types: [PEOPLE] }] : []
        case "At":
          return condition.id === undefined
            ? [
                {
                  name: written(condition.words),
                  types: /^(of|for)$/.test(condition.preposition) ? ["companies", PEOPLE] : ["companies"]
                }
              ]
            : []
        case "Mine":
          return context.person?.name === undefined ? [] : [{ name: context.person.name, types: [PEOPLE] }]
        default:
          return []
      }
    })
  const tries = wanted.flatMap(({ name, types }) =>
    types.filter((id) => context.types.some((type) => type.id === id)).map((type) => ({ name, type }))
  )
  if (tries.length === 0) return new Map()
  const pages = yield* inParallel(
    tries.map(({ name, type }) =>
      find({ entityTypeId: type, filters: type === "companies" ? eqSpaced(name) : eqName(name), limit: 2 })
    )
  )
  return new Map(
    tries.flatMap(({ name, type }, index) => {
      const page = pages[index]
      return page?.total === 1 ? [[name, { id: page.entities[0]!.entityId, type }] as const] : []
    })
  )
}
