/** The progress of a long command, on one line that is overwritten; silent unless standard error is a terminal. */
import { printable } from "../../domain/text.ts"
import type { Progress } from "../../services/import/Importer.ts"

const EVERY_MS = 100

export const makeProgress = () => {
  const terminal = process.stderr.isTTY === true
  let last = 0
  let shown = false
  return {
    show: ({ doing, file, rows, share }: Progress) => {
      const now = Date.now()
      if (!terminal || now - last < EVERY_MS) return
      last = now
      shown = true
      const width = process.stderr.columns > 0 ? process.stderr.columns : 80
      const line = `${doing === "reading" ? "Reading" : "Writing"} ${printable(file)}: ${rows.toLocaleString("en-US")} rows, ${Math.floor(share * 100)} %`
      process.stderr.write(`\r\u001b[K${line.slice(0, width - 1)}`)
    },
    clear: () => {
      if (shown) process.stderr.write("\r\u001b[K")
    }
  }
}
