/**
 * The endpoints of the page /admin: members, the policy, the audit log and text messages of the caller's organization.
 * Identifiers are sent in bodies and never in URLs, which proxies and browsers record.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { AuditPage, AuditQuery, Verifications } from "../../wire/admin/audit.ts"
import { Mapped, OrganizationShown, SetOrganization } from "../../wire/admin/organization.ts"
import {
  CreateToken,
  Invitations,
  Invite,
  LinkIdentifier,
  NewToken,
  People,
  PeopleQuery,
  PersonWithTokens,
  RemoveIdentifier,
  SetAttributes,
  SetRoles,
  SignInLink
} from "../../wire/admin/people.ts"
import * as Policy from "../../wire/admin/policy.ts"
import { ChangeLog, ChangeLogQuery } from "../../wire/admin/changes.ts"
import { BackedUp, Health } from "../../wire/admin/health.ts"
import { SetupSteps } from "../../wire/admin/setup.ts"
import { TextLog, TextsQuery } from "../../wire/admin/texts.ts"
import { KeepQuestions, UnclearQuestions, Usage, UsageQuery } from "../../wire/admin/usage.ts"
import { InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable } from "../../wire/problems.ts"
import { Id } from "../../wire/scalars.ts"
import { Admitted, Need } from "./admitted.ts"

/** Requests that are expensive for the database count as calls. */
const counted = { scope: "admin", calls: 1 } as const

export const admin = HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.post("people", "/v1/admin/people/search", {
      payload: PeopleQuery,
      success: People,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Members ordered by name, filtered by words of name, role or identifier, 50 per page"),
    HttpApiEndpoint.get("person", "/v1/admin/people/:id", {
      params: { id: Id },
      success: PersonWithTokens,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "A member with the names of its tokens, never their secrets"),
    HttpApiEndpoint.post("suspend", "/v1/admin/people/:id/suspend", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Suspend a member immediately; administrators can't suspend themselves"),
    HttpApiEndpoint.post("resume", "/v1/admin/people/:id/resume", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Restore a suspended member's access, with the same roles"),
    HttpApiEndpoint.post("invite", "/v1/admin/people/invite", {
      payload: Invite,
      success: Invitations,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Invite people, all or none; each link works once, within a week"),
    HttpApiEndpoint.post("offerSignIn", "/v1/admin/people/:id/sign-in", {
      params: { id: Id },
      success: SignInLink,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "A link that signs an active member in, once, within 15 minutes"),
    HttpApiEndpoint.post("signOut", "/v1/admin/people/:id/sign-out", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "End all sessions of a member and unused sign-in links immediately; tokens stay"),
    HttpApiEndpoint.post("linkIdentifier", "/v1/admin/people/:id/identifiers", {
      params: { id: Id },
      payload: LinkIdentifier,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Let a member be identified by another e-mail address, phone number or subject"),
    HttpApiEndpoint.post("removeIdentifier", "/v1/admin/people/:id/identifiers/remove", {
      params: { id: Id },
      payload: RemoveIdentifier,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Remove an identifier of a member, and end their sessions"),
    HttpApiEndpoint.post("setRoles", "/v1/admin/people/:id/roles", {
      params: { id: Id },
      payload: SetRoles,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Replace the roles of a member"),
    HttpApiEndpoint.post("setAttributes", "/v1/admin/people/:id/attributes", {
      params: { id: Id },
      payload: SetAttributes,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Replace the attributes of a member, which rules of the policy compare"),
    HttpApiEndpoint.post("createToken", "/v1/admin/people/:id/tokens", {
      params: { id: Id },
      payload: CreateToken,
      success: NewToken,
      error: [InvalidInput, NotAllowed, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Create a token with which a program acts for an active member; it is shown once"),
    HttpApiEndpoint.delete("revoke", "/v1/admin/tokens/:id", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Revoke a token immediately"),
    HttpApiEndpoint.get("policy", "/v1/admin/policy", {
      success: Policy.Policy,
      error: [NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The policy in force in plain words, and the columns that each role can see"),
    HttpApiEndpoint.get("versions", "/v1/admin/policy/versions", {
      success: Policy.PolicyVersions,
      error: Unavailable
    }).annotate(OpenApi.Summary, "All versions of the policy, newest first"),
    HttpApiEndpoint.get("changes", "/v1/admin/policy/changes/:from/:to", {
      params: Policy.VersionPair,
      success: Policy.PolicyChanges,
      error: [InvalidInput, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The differences between two versions, in plain words"),
    HttpApiEndpoint.post("explain", "/v1/admin/explain", {
      payload: Policy.TypeQuestion,
      success: Policy.TypeExplanations,
      error: [InvalidInput, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "Why a person sees rows of one type or of each type, limited to rows that you see")
      .annotate(Need, counted),
    HttpApiEndpoint.post("explainRow", "/v1/admin/explain/row", {
      payload: Policy.RowQuestion,
      success: Policy.RowExplanation,
      error: [InvalidInput, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "Why a person sees or doesn't see a row and its cells; only for a row that you see")
      .annotate(Need, counted),
    HttpApiEndpoint.get("types", "/v1/admin/types", { success: Policy.Types, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The entity types of the organization"
    ),
    HttpApiEndpoint.get("audit", "/v1/admin/audit", {
      query: AuditQuery,
      success: AuditPage,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Recorded changes or refusals, newest first, 50 per page"),
    HttpApiEndpoint.get("verify", "/v1/admin/audit/verification", { success: Verifications, error: Unavailable })
      .annotate(OpenApi.Summary, "Recompute all hashes of the audit log")
      .annotate(Need, counted),
    HttpApiEndpoint.get("changeLog", "/v1/admin/changes", {
      query: ChangeLogQuery,
      success: ChangeLog,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "All changes with their phases, never a value of a row; 50 per page, newest first"),
    HttpApiEndpoint.get("texts", "/v1/admin/texts", {
      query: TextsQuery,
      success: TextLog,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Text messages with senders and delivery states, never their content; 50 per page"),
    HttpApiEndpoint.get("usage", "/v1/admin/usage", {
      query: UsageQuery,
      success: Usage,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Questions, outcomes and costs of the last days, by day, person and model"),
    HttpApiEndpoint.get("questions", "/v1/admin/usage/questions", {
      success: UnclearQuestions,
      error: Unavailable
    }).annotate(OpenApi.Summary, "The questions that were not understood, without names, values and who asked"),
    HttpApiEndpoint.post("keepQuestions", "/v1/admin/usage/questions", {
      payload: KeepQuestions,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Keep such questions from now on, or forget them"),
    HttpApiEndpoint.get("organization", "/v1/admin/organization", {
      success: OrganizationShown,
      error: [NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The organization's name, country and time zone"),
    HttpApiEndpoint.post("setOrganization", "/v1/admin/organization", {
      payload: SetOrganization,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Change the organization's name, country or time zone"),
    HttpApiEndpoint.get("mapped", "/v1/admin/mapped", {
      success: Mapped,
      error: [NotAllowed, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "The tables that Max reads where they are, and what has changed in them since")
      .annotate(Need, counted),
    HttpApiEndpoint.get("setup", "/v1/admin/setup", { success: SetupSteps, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The steps that follow the first run, and whether each was taken"
    ),
    HttpApiEndpoint.get("health", "/v1/admin/health", { success: Health, error: Unavailable })
      .annotate(OpenApi.Summary, "Doctor's findings about this organization's installation, and the last backup")
      .annotate(Need, counted),
    HttpApiEndpoint.post("backUp", "/v1/admin/backup", {
      success: BackedUp,
      error: [NotAllowed, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "Write a backup into the operator's folder; the file stays there")
      .annotate(Need, counted)
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 0 })
  .annotate(
    OpenApi.Description,
    "For administrators, about their own organization. Riskier changes are available as commands only."
  )
