/** The layer graph; each line feeds those above it. */
import { Layer } from "effect"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { configuredModel } from "./agents/models.ts"
import { Database } from "./database/Database.ts"
import { Administration } from "./services/Administration.ts"
import { AuditLog } from "./services/AuditLog.ts"
import { Credentials } from "./services/Credentials.ts"
import { EntityTypeCatalog } from "./services/EntityTypeCatalog.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { Exporter } from "./services/Exporter.ts"
import { ExternalIds } from "./services/ExternalIds.ts"
import { IdentityProviders } from "./services/IdentityProviders.ts"
import { IdentityResolver } from "./services/IdentityResolver.ts"
import { Importer } from "./services/Importer.ts"
import { Mappings } from "./services/Mappings.ts"
import { Memberships } from "./services/Memberships.ts"
import { Organizations } from "./services/Organizations.ts"
import { OrganizationState } from "./services/OrganizationState.ts"
import { OrgEntityStore } from "./services/OrgEntityStore.ts"
import { Policies } from "./services/Policies.ts"
import { PolicyReview } from "./services/PolicyReview.ts"
import { Refusals } from "./services/Refusals.ts"
import { Conversations } from "./services/Conversations.ts"
import { Sessions } from "./services/Sessions.ts"
import { SmsAdmission } from "./services/SmsAdmission.ts"
import { SmsInbox } from "./services/SmsInbox.ts"
import { SmsLog } from "./services/SmsLog.ts"
import { SmsOutbox } from "./services/SmsOutbox.ts"
import { SmsSettings } from "./services/SmsSettings.ts"
import { Spending } from "./services/Spending.ts"
import { ToolHandlers } from "./tools/handlers.ts"

/** Every service over a database that is given. */
export const Services = Layer.mergeAll(
  Administration.layer,
  EntityQueryService.layer,
  Exporter.layer,
  ExternalIds.layer,
  IdentityProviders.layer,
  Importer.layer,
  Mappings.layer,
  Organizations.layer,
  Conversations.layer,
  Sessions.layer,
  SmsAdmission.layer,
  SmsInbox.layer,
  SmsOutbox.layer,
  Spending.layer
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      AuditLog.layer,
      Credentials.layer,
      Memberships.layer,
      PolicyReview.layer,
      SmsLog.layer,
      SmsSettings.layer
    )
  ),
  Layer.provideMerge(Policies.layer),
  Layer.provideMerge(Layer.mergeAll(EntityTypeCatalog.layer, IdentityResolver.layer, OrgEntityStore.layer)),
  Layer.provideMerge(Layer.mergeAll(OrganizationState.layer, Refusals.layer))
)

/** Every service over the configured database. */
export const Live = Services.pipe(Layer.provideMerge(Database.layer))

/** The agent with the model that is configured, over services that are given. */
export const Agent = MaxAgent.layer.pipe(Layer.provideMerge(configuredModel))

/** The agent over every service and the configured database. */
export const LiveAgent = Agent.pipe(Layer.provideMerge(ToolHandlers), Layer.provideMerge(Live))
