/** Mapped phone numbers with extensions are found: the extension is a part of its own of their search keys. */
import { foldExtensions } from "../sql/foldFunctions.ts"
import type { Migration } from "./Migration.ts"

export const phoneExtensions: Migration = {
  id: 22,
  name: "phone extensions",
  statements: foldExtensions
}
