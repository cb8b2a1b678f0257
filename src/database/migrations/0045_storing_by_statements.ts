/** The function of this migration is replaced by migration 47, which creates it. */
import type { Migration } from "./Migration.ts"

export const storingByStatements: Migration = { id: 45, name: "storing by statements", statements: () => [] }
