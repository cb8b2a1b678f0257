/** Answers who else works where the person in focus does. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { columnsFor } from "./conceptColumns.ts"
import type { Context } from "./readConversation.ts"
import { amount, called, notForYou, numbered } from "./replies.ts"
import { columnsOf, find, type Script } from "./script.ts"

const MAX_SHOWN = 5

/** The people at the company of the person in focus, or at the company in focus. */
export function* colleagues(context: Context): Script<string> {
  const [focus, ...others] = context.focus ?? []
  const people = context.types.find(({ id }) => id === PEOPLE)
  if (focus === undefined || others.length > 0 || people === undefined)
    return `Whom do you mean? Ask with the name, such as “who works at” and the company.`
  const columns = yield* columnsOf(PEOPLE)
  const [column] = columnsFor("company", columns)
  if (column === undefined) return notForYou(context)
  const own =
    focus.type === PEOPLE
      ? yield* find({
          entityTypeId: PEOPLE,
          filters: [{ columnId: "id", op: "eq", value: focus.id }],
          limit: 1,
          selectColumns: [column]
        })
      : undefined
  const cellOf = own?.entities[0]?.columns?.[column] as { readonly id?: string; readonly name?: string } | undefined
  const company = focus.type === PEOPLE ? cellOf : focus
  if (company?.id === undefined || company.name === undefined) return `I can't see where ${focus.name} works.`
  const page = yield* find({
    entityTypeId: PEOPLE,
    filters: [{ columnId: column, op: "eq", value: company.id }],
    limit: MAX_READ
  })
  if (page === undefined || page.total === 0) return `I can't see people at ${company.name}.`
  const among = focus.type === PEOPLE ? `, ${focus.name} among them` : ""
  const rest = page.total > MAX_SHOWN ? ` The first ${MAX_SHOWN}:` : ""
  return `There ${page.total === 1 ? "is" : "are"} ${amount(page)} ${called("people", people, page.total)} at ${company.name}${among}.${rest}\n${numbered({ ...page, entities: page.entities.slice(0, MAX_SHOWN) }, columns, [])}`
}
const MAX_READ = 25
