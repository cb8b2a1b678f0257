/** Stores with each answer what the page shows beside it: the lookup behind its list. */
import type { Migration } from "./Migration.ts"

export const besideAnswers: Migration = {
  id: 21,
  name: "beside answers",
  statements: () => [`ALTER TABLE max.turns ADD COLUMN beside jsonb`]
}
