/** The function of this migration is replaced by migration 47, which creates it. */
import type { Migration } from "./Migration.ts"

export const storingProposals: Migration = { id: 30, name: "storing proposals", statements: () => [] }
