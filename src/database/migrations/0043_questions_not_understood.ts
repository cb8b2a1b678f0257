/**
 * Questions that were not understood, of organizations that have opted in: words without names and values, how often and on
 * which day last, and never by whom.
 */
import type { Migration } from "./Migration.ts"

export const questionsNotUnderstood: Migration = {
  id: 43,
  name: "questions not understood",
  statements: () => [
    // An organization without a row has not opted in.
    `CREATE TABLE max.question_settings (
      organization_id bigint PRIMARY KEY REFERENCES max.organizations (organization_id))`,
    `CREATE TABLE max.unclear_questions (
      organization_id bigint NOT NULL REFERENCES max.organizations (organization_id), question text NOT NULL,
      day date NOT NULL, times int NOT NULL DEFAULT 1, PRIMARY KEY (organization_id, question))`
  ]
}
