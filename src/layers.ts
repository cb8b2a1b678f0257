/** The layer graph; each line feeds those above it. */
import { Layer } from "effect"
import { Database } from "./database/Database.ts"
import { AuditLog } from "./services/AuditLog.ts"
import { Credentials } from "./services/Credentials.ts"
import { EntityTypeCatalog } from "./services/EntityTypeCatalog.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { ExternalIds } from "./services/ExternalIds.ts"
import { IdentityProviders } from "./services/IdentityProviders.ts"
import { IdentityResolver } from "./services/IdentityResolver.ts"
import { Importer } from "./services/Importer.ts"
import { Memberships } from "./services/Memberships.ts"
import { Organizations } from "./services/Organizations.ts"
import { OrganizationState } from "./services/OrganizationState.ts"
import { OrgEntityStore } from "./services/OrgEntityStore.ts"
import { Policies } from "./services/Policies.ts"
import { Refusals } from "./services/Refusals.ts"

/** Every service over a database that is given. */
export const Services = Layer.mergeAll(
  AuditLog.layer,
  Credentials.layer,
  EntityQueryService.layer,
  ExternalIds.layer,
  IdentityProviders.layer,
  Importer.layer,
  Memberships.layer,
  Organizations.layer
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(EntityTypeCatalog.layer, IdentityResolver.layer, OrgEntityStore.layer, Policies.layer)
  ),
  Layer.provideMerge(Layer.mergeAll(OrganizationState.layer, Refusals.layer))
)

/** Every service over the configured database. */
export const Live = Services.pipe(Layer.provideMerge(Database.layer))
