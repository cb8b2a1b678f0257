/** Checks the inverse that an action of a file or a program declares. */
import { type ActionField, type DeclaredAction, READ } from "../../domain/DeclaredAction.ts"
import { quoted } from "../../domain/text.ts"
import type { PolicyProblems } from "../../permissions/PolicyProblems.ts"

/** The kinds whose texts hold several values, which only a field of the same kind takes. */
const SEVERAL: ReadonlyArray<string> = ["list", "group"]

export const checkInverse = (
  action: DeclaredAction,
  actions: ReadonlyArray<DeclaredAction>,
  path: string,
  problems: PolicyProblems
) => {
  const { executor, fields, inverse } = action
  if (inverse === undefined) return
  const report = (place: string, message: string) => problems.report(`${path}.${place}`, message)
  if (action.category === READ) return problems.report(path, "What only reads has no inverse.")
  const undoing = actions.find(({ slug }) => slug === inverse.action)
  if (undoing === undefined || undoing.category === READ)
    return report("action", "It must be an action of the same file or program that changes something.")
  for (const [slug, source] of Object.entries(inverse.fields)) {
    const place = `fields.${slug}`
    const taken = undoing.fields.find((one) => one.slug === slug)
    if (taken === undefined) {
      report(place, `${undoing.slug} has no field ${quoted(slug)}.`)
      continue
    }
    if ("result" in source) {
      // What a function returns isn't declared; a value that it didn't return leaves nothing to take back.
      const pointer = executor._tag === "Http" ? pointerOf(executor.result, source.result) : ""
      if (pointer === undefined) report(place, `This action has no result ${quoted(source.result)}.`)
      else if (pointer.split("/").includes("*") || SEVERAL.includes(taken.kind))
        report(place, `${quoted(source.result)} must be one value, for a field that takes one.`)
      continue
    }
    const field = fields.find((one) => one.slug === source.field)
    if (field === undefined) report(place, `This action has no field ${quoted(source.field)}.`)
    else if (field.kind === "reference" && !isSameReference(field, taken))
      report(place, `${quoted(source.field)} is a reference: ${quoted(slug)} must be a reference to the same entities.`)
    else if (field.kind !== taken.kind && [field.kind, taken.kind].some((kind) => SEVERAL.includes(kind)))
      report(place, `${quoted(source.field)} is of another kind.`)
  }
  const missing = undoing.fields.find(
    ({ default: standard, needed, slug }) => needed && standard === undefined && !Object.hasOwn(inverse.fields, slug)
  )
  if (missing !== undefined) report("fields", `${undoing.slug} needs ${quoted(missing.slug)}.`)
  const round = roundOf(action, actions)
  if (round.length > 3)
    report("action", `These inverses go round: ${round.join(", ")}. Two actions can be inverses of each other.`)
}

const pointerOf = (results: Readonly<Record<string, string>> = {}, name: string): string | undefined =>
  Object.hasOwn(results, name) ? results[name] : undefined

/** Whether both stand for the same entities: who doesn't see one of them isn't shown what is sent for it. */
const isSameReference = (a: ActionField, b: ActionField): boolean =>
  b.kind === "reference" && a.target === b.target && a.sends === b.sends && a.from?.action === b.from?.action

/** The inverses from an action back to it; empty where they don't lead back. */
const roundOf = (action: DeclaredAction, actions: ReadonlyArray<DeclaredAction>): ReadonlyArray<string> => {
  const round = [action.slug]
  for (let next = action.inverse?.action; next !== undefined;) {
    round.push(next)
    if (next === action.slug) return round
    if (round.indexOf(next) < round.length - 1) return []
    const slug = next
    next = actions.find((one) => one.slug === slug)?.inverse?.action
  }
  return []
}
