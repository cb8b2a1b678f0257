/** Collects the problems of a policy file and suggests the closest known name for an unknown one. */
import { closest, quoted } from "../domain/text.ts"
import type { Problem } from "./Policy.ts"

/** The most problems that one reading reports. */
const MAX_PROBLEMS = 50

export class PolicyProblems {
  readonly list: Array<Problem> = []
  /** Includes the problems beyond the limit of `list`. */
  count = 0

  report(path: string, message: string, fix?: string) {
    this.count += 1
    if (this.list.length < MAX_PROBLEMS) this.list.push(fix === undefined ? { path, message } : { path, message, fix })
  }

  unknownName(path: string, what: string, name: string, known: ReadonlyArray<string>) {
    const message = `There is no ${what} ${quoted(name)}.`
    this.suggest(
      path,
      known.length === 0 ? message : `${message} Known: ${known.slice(0, 20).join(", ")}.`,
      name,
      known
    )
  }

  unknownProperties(value: object, known: ReadonlyArray<string>, path: string) {
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue
      this.suggest(`${path}.${quoted(key).slice(1, -1)}`, `Unknown property ${quoted(key)}.`, key, known)
    }
  }

  suggest(path: string, message: string, name: string, known: ReadonlyArray<string>) {
    // Beyond the limit of the list, the closest name would be computed for nothing.
    if (this.list.length >= MAX_PROBLEMS) return this.report(path, message)
    const near = closest(name, known)
    this.report(path, message, near === undefined ? undefined : `"${near}"`)
  }
}
