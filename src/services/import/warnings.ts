/** What a person should know of a file that went in all the same. */
import { quoted } from "../../domain/text.ts"
import type { Fields } from "./bindFields.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

export const warningsOf = (file: ImportFile, fields: Fields, keyless: ReadonlyArray<number>): ReadonlyArray<string> => [
  ...(fields.id === undefined
    ? [
        `${file.name} has no id: every row became a new record, and importing it again would make them twice. To say which header is the id: --map HEADER=id`
      ]
    : []),
  ...fields.values.flatMap(({ header, keyless: what }, number) =>
    keyless[number] === 0
      ? []
      : [
          `${quoted(header).slice(1, -1)}: ${keyless[number]} value${keyless[number] === 1 ? " isn't" : "s aren't"} ${what} and can't be looked up by; the text is kept.`
        ]
  )
]
