/** Warnings about a file that was imported. */
import { quoted } from "../../domain/text.ts"
import type { Fields } from "./bindFields.ts"
import type { ImportFile } from "./readers/ImportFile.ts"
import type { Remedies } from "./remedies.ts"

export const warningsOf = (
  file: ImportFile,
  fields: Fields,
  keyless: ReadonlyArray<number>,
  remedies: Remedies
): ReadonlyArray<string> => [
  ...(fields.id === undefined
    ? [
        `${file.name} has no id: every row became a new record, and importing it again would duplicate them. ${remedies.id}`
      ]
    : []),
  ...fields.values.flatMap(({ header, keyless: form }, number) =>
    keyless[number] === 0
      ? []
      : [
          `${quoted(header).slice(1, -1)}: ${keyless[number]} value${keyless[number] === 1 ? " isn't" : "s aren't"} ${form} and no lookup by it finds the row; the text is stored.`
        ]
  )
]
