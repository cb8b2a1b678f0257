/** The form of statements in golden files. */
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"

/** Formats a statement of a change with one clause per line. */
export const laidOut = ({ parameters, text }: Statement): string =>
  [
    ...parameters.map(
      (value, index) =>
        `-- $${index + 1} = ${JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))}`
    ),
    text.replace(
      / (WITH|, l\d AS|SELECT \(SELECT g|FROM \(SELECT\) o|FROM "\w+"\."\w+" p|CROSS JOIN|JOIN \(VALUES|LEFT JOIN|ARRAY\[|INSERT|UPDATE "|DELETE|VALUES|RETURNING|WHERE|AND|ORDER BY|FOR UPDATE)/g,
      "\n$1"
    ),
    ""
  ].join("\n")
