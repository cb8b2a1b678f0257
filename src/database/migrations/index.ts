/** The migrations in order, forward only. */
import { foundation } from "./0001_foundation.ts"
import { audit } from "./0002_audit.ts"
import { mapping } from "./0003_mapping.ts"
import { conversations } from "./0004_conversations.ts"
import { admission } from "./0006_admission.ts"
import { traces } from "./0007_traces.ts"
import { sms } from "./0008_sms.ts"
import { traceRetention } from "./0011_trace_retention.ts"
import { namesByReference } from "./0013_names_by_reference.ts"
import { basisOfAnswers } from "./0014_basis_of_answers.ts"
import { turnNames } from "./0016_turn_names.ts"
import { mappedRelations } from "./0017_mapped_relations.ts"
import { changes } from "./0020_changes.ts"
import { besideAnswers } from "./0021_beside_answers.ts"
import { phoneExtensions } from "./0022_phone_extensions.ts"
import { signingIn } from "./0024_signing_in.ts"
import { actions } from "./0025_actions.ts"
import { changesByText } from "./0026_changes_by_text.ts"
import { storingProposals } from "./0030_storing_proposals.ts"
import { viewDefinitions } from "./0031_view_definitions.ts"
import { passkeys } from "./0032_passkeys.ts"
import { dataVersions } from "./0035_data_versions.ts"
import { sources } from "./0038_sources.ts"
import { rowsMade } from "./0039_rows_made.ts"
import { outcomesOfQuestions } from "./0040_outcomes_of_questions.ts"
import { moves } from "./0041_moves.ts"
import { secrets } from "./0042_secrets.ts"
import { questionsNotUnderstood } from "./0043_questions_not_understood.ts"
import { approverWebhooks } from "./0044_approver_webhooks.ts"
import { storingByStatements } from "./0045_storing_by_statements.ts"
import { providersOfAdministrators } from "./0046_providers_of_administrators.ts"
import { proposalsInOneRow } from "./0047_proposals_in_one_row.ts"
import { retentionOfOrganizations } from "./0048_retention_of_organizations.ts"
import type { Migration } from "./Migration.ts"

export const migrations: ReadonlyArray<Migration> = [
  foundation,
  audit,
  mapping,
  conversations,
  admission,
  traces,
  sms,
  traceRetention,
  namesByReference,
  basisOfAnswers,
  turnNames,
  mappedRelations,
  changes,
  besideAnswers,
  phoneExtensions,
  signingIn,
  actions,
  changesByText,
  storingProposals,
  viewDefinitions,
  passkeys,
  dataVersions,
  sources,
  rowsMade,
  outcomesOfQuestions,
  moves,
  secrets,
  questionsNotUnderstood,
  approverWebhooks,
  storingByStatements,
  providersOfAdministrators,
  proposalsInOneRow,
  retentionOfOrganizations
]

/** The schema version of this program. */
export const SCHEMA_VERSION = Math.max(...migrations.map((migration) => migration.id))

/** Runs before the first migration: schemas, extensions and the list of migrations. */
export const PRELUDE: ReadonlyArray<string> = [
  "CREATE SCHEMA IF NOT EXISTS max",
  "CREATE SCHEMA IF NOT EXISTS builder",
  "CREATE SCHEMA IF NOT EXISTS data",
  "CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA max",
  "CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA max",
  "CREATE TABLE IF NOT EXISTS max.migrations (id int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
]
