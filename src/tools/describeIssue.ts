/** Describes invalid input, in the same words on every channel. It names paths, never the values sent there. */
import { SchemaIssue } from "effect"
import { quoted } from "../domain/text.ts"

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Names the first three invalid paths, such as `filters.0.op`. */
export const describePaths = (paths: ReadonlyArray<string>): string => {
  const named = [...new Set(paths)].filter((path) => path !== "").slice(0, 3)
  return named.length === 0
    ? "Invalid input. Send a JSON object with the documented fields."
    : `Invalid input at ${named.map(quoted).join(", ")}.`
}

/** Names the invalid paths that a schema reports. */
export const describeIssue = (issue: SchemaIssue.Issue): string =>
  describePaths(
    formatIssue(issue).issues.map(({ path }) =>
      (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    )
  )
