/** The endpoints that take a file of an administrator: a multipart form, with options as JSON. */
import { Schema } from "effect"
import { Multipart } from "effect/http"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import {
  ImportEvents,
  ImportFile,
  ImportRuns,
  ImportRunsQuery,
  Proposal,
  ReadFile,
  Sample
} from "../../wire/admin/import.ts"
import { InviteList, InvitePreview, ReadSyncList, SyncList, SyncPreview } from "../../wire/admin/people.ts"
import { InvalidInput, NotAllowed, NotPossible, Unavailable } from "../../wire/problems.ts"
import { Admitted, Need } from "./admitted.ts"
import { MAX_BODY_BYTES, MAX_UPLOAD_BYTES } from "./limits.ts"

const LIMITS = {
  maxParts: 2,
  maxFieldSize: MAX_BODY_BYTES,
  maxFileSize: MAX_UPLOAD_BYTES,
  maxTotalSize: MAX_UPLOAD_BYTES
}

const formOf = <S extends Schema.Top>(options: S) =>
  Schema.Struct({ options: Schema.fromJsonString(options), file: Multipart.SingleFileSchema })

export const ProposalForm = formOf(ReadFile)
export const ImportForm = formOf(ImportFile)
export const InviteForm = formOf(InviteList)
export const SyncListForm = formOf(ReadSyncList)
export const SyncForm = formOf(SyncList)

export const imports = HttpApiGroup.make("imports")
  .add(
    HttpApiEndpoint.post("propose", "/v1/admin/import/proposal", {
      payload: ProposalForm.pipe(HttpApiSchema.asMultipartStream(LIMITS)),
      success: Proposal,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The headers of a file with samples, and the columns that they mean"),
    HttpApiEndpoint.post("import", "/v1/admin/import", {
      payload: ImportForm.pipe(HttpApiSchema.asMultipartStream(LIMITS)),
      success: ImportEvents,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Import a file atomically, or try it with dryRun; all bad rows are reported at once"),
    HttpApiEndpoint.get("runs", "/v1/admin/import/runs", {
      query: ImportRunsQuery,
      success: ImportRuns,
      error: [InvalidInput, NotAllowed, Unavailable]
    }).annotate(OpenApi.Summary, "Past imports by page and command, latest first, 50 per page; never a value of a row"),
    HttpApiEndpoint.post("invited", "/v1/admin/people/invite/list", {
      payload: InviteForm.pipe(HttpApiSchema.asMultipartStream(LIMITS)),
      success: InvitePreview,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Whom a list would invite with which roles, and all its problems; nothing is changed"),
    HttpApiEndpoint.post("syncList", "/v1/admin/people/sync/list", {
      payload: SyncListForm.pipe(HttpApiSchema.asMultipartStream(LIMITS)),
      success: SyncPreview,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Who would come, change and go if the members matched a list; nothing is changed"),
    HttpApiEndpoint.post("sync", "/v1/admin/people/sync", {
      payload: SyncForm.pipe(HttpApiSchema.asMultipartStream(LIMITS)),
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Make the members match a list, completely or not at all; others are suspended"),
    HttpApiEndpoint.post("sample", "/v1/admin/import/sample", {
      success: Sample,
      error: [NotAllowed, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Add the sample data to an organization without imported rows")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 1 })
  .annotate(
    OpenApi.Description,
    "Files of administrators: imports, with the power `data`, and lists of people to invite, with the power `members`."
  )

/** The paths that take a file. */
export const UPLOAD_PATHS: ReadonlyArray<string> = [
  "/v1/admin/import/proposal",
  "/v1/admin/import",
  "/v1/admin/people/invite/list",
  "/v1/admin/people/sync/list",
  "/v1/admin/people/sync"
]
