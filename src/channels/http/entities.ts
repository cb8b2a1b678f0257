/** One entity as a person sees it: every column that its permissions show, read like an export. */
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { UnknownName } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { EXPORT_PAGE } from "../../domain/Query.ts"
import { quoted } from "../../domain/text.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import type { EntityRecord } from "../../wire/lookup.ts"
import { Api } from "./Api.ts"
import { json } from "./json.ts"
import { orProblem } from "./problems.ts"

export const Entities = HttpApiBuilder.group(
  Api,
  "entities",
  Effect.fnUntraced(function* (handlers) {
    const queries = yield* EntityQueryService
    const recordOf = Effect.fnUntraced(function* (entityTypeId: string, id: string) {
      const { organizationId } = yield* CurrentPrincipal
      const type = (yield* queries.overview({ organizationId })).find((one) => one.id === entityTypeId)
      const { columns = [], name: typeName = "" } = type ?? {}
      const filters = [{ columnId: "id", op: "eq", value: id }] as const
      const find = (selectColumns: ReadonlyArray<string>) =>
        Effect.map(
          // The lookup refuses a type that the caller can't see, in the words for an unknown one.
          queries.pages({ organizationId, entityTypeId, filters, selectColumns }),
          ({ first }) => first.entities[0]
        )
      const values: Record<string, unknown> = {}
      for (let from = 0; ; from += EXPORT_PAGE.columns) {
        const slugs = columns.slice(from, from + EXPORT_PAGE.columns).map((column) => column.id)
        const entity = yield* find(slugs)
        if (entity === undefined)
          return yield* new UnknownName({ message: `There is no ${typeName.toLowerCase()} with the id ${quoted(id)}.` })
        Object.assign(values, entity.columns)
        if (from + EXPORT_PAGE.columns >= columns.length)
          return { typeName, columns, entity: { ...entity, columns: values } } satisfies EntityRecord
      }
    })
    return handlers.handleAll({
      get: ({ params: { id, type } }) =>
        orProblem(Effect.map(recordOf(type, id), (record) => json<EntityRecord>(record)))
    })
  })
)
