/** What is wrong with an input, in the same words on every way in: places only, nothing of what was sent there. */
import { SchemaIssue } from "effect"
import { quoted } from "../domain/text.ts"

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** The sentence for an input that isn't what it has to be at these places: the first three of them. */
export const describePaths = (places: ReadonlyArray<string>): string => {
  const named = [...new Set(places)].filter((place) => place !== "").slice(0, 3)
  return `The input isn't what it has to be${named.length === 0 ? "" : `: ${named.map(quoted).join(", ")}`}.`
}

/** The same for what a schema found wrong. */
export const describeIssue = (issue: SchemaIssue.Issue): string =>
  describePaths(
    issuesOf(issue).issues.map(({ path }) =>
      (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    )
  )
