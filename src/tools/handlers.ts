/** The tool handlers: each adds the caller's organization to its input. A caller who is not admitted gets an empty result. */
import { Effect } from "effect"
import { EMPTY_PAGE } from "../domain/Page.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import { EntityQueryService } from "../services/EntityQueryService.ts"
import { MaxToolkit } from "./Toolkit.ts"

export const ToolHandlers = MaxToolkit.toLayer(
  Effect.gen(function* () {
    const queries = yield* EntityQueryService
    const organization = Effect.map(CurrentPrincipal, ({ organizationId }) => ({ organizationId }))
    return MaxToolkit.of({
      listEntityTypes: (input) =>
        Effect.flatMap(organization, (own) => queries.listEntityTypes({ ...input, ...own })).pipe(
          Effect.catchTag("NotAdmitted", () => Effect.succeed({ entityTypes: [] }))
        ),
      listColumnsForType: (input) =>
        Effect.flatMap(organization, (own) => queries.listColumnsForType({ ...input, ...own })).pipe(
          Effect.catchTag("NotAdmitted", () => Effect.succeed({ columns: [] }))
        ),
      findEntities: (input) =>
        Effect.flatMap(organization, (own) => queries.findEntities({ ...input, ...own })).pipe(
          Effect.catchTag("NotAdmitted", () => Effect.succeed(EMPTY_PAGE))
        )
    })
  })
)
