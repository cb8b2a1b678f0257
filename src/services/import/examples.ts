/** What a dry run shows of the readings of a file. */
import { Stream } from "effect"
import { columnBySlug, type EntityType } from "../../domain/EntityType.ts"
import type { LocalForms } from "./localForms.ts"
import type { Mapped } from "./planImport.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

/** The first text of each column that is read in another form. */
export const examplesOf = (file: ImportFile, mapped: ReadonlyArray<Mapped>, type: EntityType, forms: LocalForms) =>
  Stream.runFold(
    Stream.take(file.batches, 1),
    () => new Map<string, { readonly text: string; readonly read: string }>(),
    (examples, batch) => {
      for (const { index, slug } of mapped) {
        const column = columnBySlug(type, slug)
        for (const { cells } of column === undefined ? [] : batch) {
          const cell = cells[index]
          const read = typeof cell === "string" ? forms(column!.kind, cell.trim()) : undefined
          if (read === undefined) continue
          examples.set(slug, { text: String(cell), read })
          break
        }
      }
      return examples
    }
  )
