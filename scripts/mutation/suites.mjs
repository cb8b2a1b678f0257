// The test files that must detect the mutants of each source file.

/** Tests without a database, in the order in which they run. */
export const OFFLINE = [
  "test/database/sql/rows.test.ts",
  "test/database/batchRows.test.ts",
  "test/database/lookupQueue.test.ts",
  "test/database/sql/orExpansion.test.ts",
  "test/channels/http/settings.test.ts",
  "test/domain/predicate.test.ts",
  "test/database/sql/find.test.ts",
  "test/database/sql/write.test.ts",
  "test/database/sql/mapped.test.ts",
  "test/database/sql/mappedWrites.test.ts",
  "test/permissions/policy.test.ts",
  "test/permissions/refused.test.ts",
  "test/permissions/attributes.test.ts",
  "test/permissions/scope.test.ts",
  "test/services/lookup/views.test.ts",
  "test/permissions/statement.test.ts",
  "test/services/lookup/resolve.test.ts",
  "test/database/sql/prepared.test.ts",
  "test/database/sql/fragments.test.ts",
  "test/permissions/plan.test.ts",
  "test/permissions/writePlan.test.ts",
  "test/permissions/writeRules.test.ts",
  "test/permissions/check.test.ts",
  "test/permissions/large.test.ts",
  "test/conformance/memory.test.ts"
]
/** Tests that run again what survives them. */
export const DATABASE = [
  "test/permissions/meaning.test.ts",
  "test/conformance/mapped.test.ts",
  "test/conformance/queries.test.ts",
  "test/conformance/differential.test.ts",
  "test/conformance/writes.test.ts",
  "test/permissions/replays/columns.test.ts",
  "test/permissions/replays/denials.test.ts",
  "test/services/mapping/desk.test.ts",
  "test/permissions/access.test.ts",
  "test/services/lookup/selectedPaths.test.ts",
  "test/services/lookup/derivedLimits.test.ts",
  "test/services/lookup/derived.test.ts",
  "test/database/replicas.test.ts"
]

const admission = "test/channels/http/admission.test.ts"
const sessions = "test/services/conversations/Sessions.test.ts"
const streams = "test/channels/http/openStreams.test.ts"
const signature = "test/channels/sms/signature.test.ts"
const delivery = "test/channels/sms/delivery.test.ts"
const changes = "test/services/changes/Changes.test.ts"
const epochs = "test/services/changes/epochs.test.ts"
const written = "test/services/changes/written.test.ts"
const recorded = "test/services/changes/recorded.test.ts"
const approval = "test/services/changes/approval.test.ts"
const refusals = "test/services/changes/refusals.test.ts"
const mapped = "test/services/changes/mapped.test.ts"
const mappedRows = "test/services/changes/mappedRows.test.ts"
const groupsGolden = "test/database/sql/groups.test.ts"
const groups = "test/services/lookup/groups.test.ts"
const figures = "test/conformance/figures.test.ts"

/** Sources whose mutants run against services over a database and HTTP, with their tests. */
export const SERVED = {
  "src/services/policies/visibility.ts": ["test/services/policies/explainAs.test.ts"],
  "src/services/access/Admission.ts": ["test/services/access/proofs.test.ts", "test/services/access/Admission.test.ts"],
  "src/services/access/Credentials.ts": ["test/services/access/Credentials.test.ts"],
  "src/channels/http/authenticate.ts": [admission],
  "src/channels/http/Turns.ts": ["test/channels/http/Turns.test.ts"],
  "src/channels/http/chat.ts": ["test/channels/http/chatRoutes.test.ts"],
  "src/channels/http/traces.ts": ["test/channels/http/traces.test.ts", streams],
  "src/channels/sms/twilio.ts": ["test/channels/sms/twilio.test.ts"],
  "src/channels/sms/twilioSignature.ts": [signature],
  "src/channels/sms/webhooks.ts": [signature, delivery],
  "src/services/conversations/Sessions.ts": [sessions],
  "src/services/conversations/storeTurns.ts": [sessions],
  "src/services/changes/apply.ts": [recorded, epochs, approval, refusals, changes, mapped, mappedRows],
  "src/services/changes/writeUnits.ts": [written, recorded, refusals, changes, mapped, mappedRows],
  "src/database/sql/groups.ts": [groupsGolden, groups, figures],
  "src/database/sql/shownRows.ts": [groupsGolden, groups, figures],
  "src/services/lookup/resolveGroups.ts": ["test/services/lookup/resolveGroups.test.ts"],
  "src/database/sql/derived.ts": ["test/services/lookup/derivedLimits.test.ts", "test/services/lookup/derived.test.ts"],
  "src/database/batch.ts": [
    "test/database/batcher.test.ts",
    "test/database/batchRows.test.ts",
    "test/conformance/batch.test.ts"
  ]
}
