/** The library: services and their layers, tools, and domain types. */
export { type Answer, type AskOptions, Max, type MaxFor, type OpenOptions } from "./Max.ts"
export type { MaxOptions, MaxServices } from "./MaxLayer.ts"
export type { Proof } from "./MaxProof.ts"
export type { ChangesFor, ConfirmOptions, ListOptions, ProposeOptions } from "./MaxChanges.ts"
export type { TurnContext } from "./agents/turnContext.ts"
export { MaxAgent, type TurnInput } from "./agents/MaxAgent.ts"
export { configuredModel } from "./agents/configuredModel.ts"
export { ModelFailure, ModelStep } from "./agents/ModelStep.ts"
export { TurnEvent } from "./wire/TurnEvent.ts"
export { Database } from "./database/Database.ts"
export { type Connection, DatabaseSource } from "./database/DatabaseSource.ts"
export {
  ConfigurationError,
  Decided,
  type DecisionError,
  Expired,
  InvalidInput,
  type LookupError,
  NotAdmitted,
  NotAllowed,
  NotAuthenticated,
  NotInScope,
  NotYet,
  OperatorError,
  type ProposalError,
  Stale,
  TooManyCalls,
  Unavailable,
  Unclear,
  UnknownName
} from "./domain/errors.ts"
export type { ChangeSummary, HistoryEntry, Preview, PreviewCell, PreviewStep, Receipt } from "./domain/Change.ts"
export type {
  Entity,
  FigureCell,
  Group,
  GroupKey,
  ListedColumn,
  ListedType,
  Named,
  Page,
  ReferenceCell
} from "./domain/Page.ts"
export {
  type Actor,
  type AttributeValue,
  CurrentPrincipal,
  type Principal,
  type ScopeGrant
} from "./domain/Principal.ts"
export { type Subject, Vouched, type Vouching } from "./domain/Vouched.ts"
export type { Filter, FilterOp, FindQuery } from "./domain/Query.ts"
export { Env, SETTINGS } from "./env.ts"
export { ConfiguredDatabase, Live, LiveAgent, Observability, Services } from "./layers.ts"
export { Admission } from "./services/access/Admission.ts"
export {
  type ChangeEntry,
  Changes,
  type Confirmed,
  type Decision,
  type Draft,
  type Via
} from "./services/changes/Changes.ts"
export {
  type ActionDefinition,
  ActionDelayed,
  type ActionOptions,
  ActionRefused,
  type Deed,
  defineAction
} from "./services/actions/defineAction.ts"
export { EntityQueryService } from "./services/EntityQueryService.ts"
export { readIdentifier } from "./services/members/identifier.ts"
export { IdentityResolver } from "./services/members/IdentityResolver.ts"
export { Importer } from "./services/import/Importer.ts"
export { Mappings } from "./services/mapping/Mappings.ts"
export { Memberships } from "./services/members/Memberships.ts"
export { Organizations } from "./services/organizations/Organizations.ts"
export { OrganizationState } from "./services/catalog/OrganizationState.ts"
export { Sessions } from "./services/conversations/Sessions.ts"
export { Spending } from "./services/conversations/Spending.ts"
export { Policies } from "./services/policies/Policies.ts"
export type { OpenAction, Step } from "./wire/changes.ts"
export { callTool, type ToolOutcome } from "./tools/call.ts"
export { type ToolCaller, toolCaller } from "./tools/caller.ts"
export { toolDefinitions } from "./tools/definitions.ts"
export { ToolHandlers } from "./tools/handlers.ts"
export { SYSTEM_PROMPT } from "./tools/prompt.ts"
export { renderColumns, renderPage, renderTypes } from "./tools/render.ts"
export { MaxToolkit } from "./tools/Toolkit.ts"
