/**
 * How questions ended, for the administrators' page of usage. Of `turns`, the rest was stopped by the person, or was asked
 * before outcomes were recorded.
 */
import type { Migration } from "./Migration.ts"

export const outcomesOfQuestions: Migration = {
  id: 40,
  name: "outcomes of questions",
  statements: () => [
    `ALTER TABLE max.usage ADD COLUMN answered int NOT NULL DEFAULT 0, ADD COLUMN declined int NOT NULL DEFAULT 0,
      ADD COLUMN failed int NOT NULL DEFAULT 0`
  ]
}
