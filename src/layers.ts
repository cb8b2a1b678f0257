/** The layer graph; each line feeds those above it. */
import { Layer } from "effect"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { configuredModel } from "./agents/configuredModel.ts"
import { Database } from "./database/Database.ts"
import { Administration } from "./services/administration/Administration.ts"
import { AuditLog } from "./services/audit/AuditLog.ts"
import { Credentials } from "./services/access/Credentials.ts"
import { EntityTypeCatalog } from "./services/EntityTypeCatalog.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { Exporter } from "./services/operations/Exporter.ts"
import { ExternalIds } from "./services/operations/ExternalIds.ts"
import { IdentityProviders } from "./services/access/IdentityProviders.ts"
import { IdentityResolver } from "./services/members/IdentityResolver.ts"
import { Importer } from "./services/import/Importer.ts"
import { Mappings } from "./services/mapping/Mappings.ts"
import { Memberships } from "./services/members/Memberships.ts"
import { Organizations } from "./services/organizations/Organizations.ts"
import { OrganizationState } from "./services/catalog/OrganizationState.ts"
import { OrgEntityStore } from "./services/OrgEntityStore.ts"
import { Policies } from "./services/policies/Policies.ts"
import { PolicyReview } from "./services/policies/PolicyReview.ts"
import { Refusals } from "./services/audit/Refusals.ts"
import { Conversations } from "./services/conversations/Conversations.ts"
import { Sessions } from "./services/conversations/Sessions.ts"
import { SmsAdmission } from "./services/texting/SmsAdmission.ts"
import { SmsInbox } from "./services/texting/SmsInbox.ts"
import { SmsLog } from "./services/texting/SmsLog.ts"
import { SmsOutbox } from "./services/texting/SmsOutbox.ts"
import { SmsSettings } from "./services/texting/SmsSettings.ts"
import { Spending } from "./services/conversations/Spending.ts"
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
