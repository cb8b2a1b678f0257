/** Paths of the data that is stored beside the tests. */
import { join } from "node:path"

/** The path of a file or folder of test/fixtures. */
export const fixture = (...path: ReadonlyArray<string>): string => join(import.meta.dirname, "..", "fixtures", ...path)
