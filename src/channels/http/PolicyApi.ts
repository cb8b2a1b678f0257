/** The endpoints of the policy editor on the page /admin, for administrators with the power `policy`. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Editor from "../../wire/admin/policyEditor.ts"
import { AskGrid, PolicyGrid } from "../../wire/admin/policyGrid.ts"
import { InvalidInput, NotAllowed, NotPossible, Unavailable } from "../../wire/problems.ts"
import { ChangeId } from "../../wire/changes.ts"
import { decisionErrors, proposalErrors } from "./ChangesApi.ts"
import { Admitted, BodyLimit, Need } from "./admitted.ts"
import { MAX_POLICY_BYTES } from "./limits.ts"

export const policies = HttpApiGroup.make("policies")
  .add(
    HttpApiEndpoint.get("document", "/v1/admin/policy/document", {
      success: Editor.PolicyDocument,
      error: [NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The file of the policy in force"),
    HttpApiEndpoint.get("version", "/v1/admin/policy/document/:version", {
      params: Editor.VersionParameter,
      success: Editor.PolicyDocument,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The file of a version, to check and publish it again"),
    HttpApiEndpoint.post("check", "/v1/admin/policy/check", {
      payload: Editor.CheckPolicy,
      success: Editor.PolicyCheck,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "A file in words, its changes, warnings and tests; or its problems by line"),
    HttpApiEndpoint.post("grid", "/v1/admin/policy/grid", {
      payload: AskGrid,
      success: PolicyGrid,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    })
      .annotate(
        OpenApi.Summary,
        "A file as a grid of roles and columns, with cells set in its text; nothing is published"
      )
      .annotate(Need, { scope: "admin", calls: 0 }),
    HttpApiEndpoint.post("simulate", "/v1/admin/policy/simulation", {
      payload: Editor.SimulatePolicy,
      success: Editor.PolicySimulation,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The rows and cells that a file gives and takes, limited to rows that you see"),
    HttpApiEndpoint.post("publish", "/v1/admin/policy/publish", {
      payload: Editor.PublishPolicy,
      success: Editor.PublishedPolicy,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Put a file in force over the version that it was made from, if its tests pass"),
    HttpApiEndpoint.post("propose", "/v1/admin/policy/proposals", {
      payload: Editor.PublishPolicy,
      success: Editor.ProposedPolicy,
      error: proposalErrors
    }).annotate(OpenApi.Summary, "Propose a file as a change, which another person approves"),
    HttpApiEndpoint.get("proposals", "/v1/admin/policy/proposals", {
      success: Editor.PolicyProposals,
      error: [NotAllowed, Unavailable]
    }).annotate(OpenApi.Summary, "The proposed files that wait for an approval"),
    HttpApiEndpoint.get("proposal", "/v1/admin/policy/proposals/:id", {
      params: { id: ChangeId },
      success: Editor.PolicyProposal,
      error: decisionErrors
    }).annotate(OpenApi.Summary, "A proposed file, as a change and as its text")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 1 })
  .annotate(BodyLimit, MAX_POLICY_BYTES)
  .annotate(OpenApi.Description, "The policy as a file, for administrators with the power `policy`.")

/** The paths that take a policy file. */
export const POLICY_PATHS: ReadonlyArray<string> = ["check", "grid", "simulation", "publish", "proposals"].map(
  (name) => `/v1/admin/policy/${name}`
)
