/** The operator's command for derived columns. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { FORMS } from "../../../domain/derived.ts"
import { DerivedColumns } from "../../../services/catalog/DerivedColumns.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { toggle } from "../flags.ts"
import { listing, result } from "../output.ts"

export const derive = Command.make(
  "derive",
  {
    column: Argument.String("column").pipe(
      Argument.withDescription("TYPE.COLUMN; without it, derived columns are listed"),
      Argument.optional
    ),
    form: Argument.String("form").pipe(Argument.withDescription(FORMS.join(", ")), Argument.optional),
    remove: toggle("remove", "Remove the derived column")
  },
  Effect.fnUntraced(function* ({ column, form, remove }) {
    const columns = yield* DerivedColumns
    const organization = yield* currentOrganization
    if (Option.isNone(column)) {
      if (remove) return yield* UsageError.of("Name the column: max catalog derive TYPE.COLUMN --remove")
      return yield* listing(
        yield* columns.list(organization),
        `No column is derived. To derive one: max catalog derive TYPE.COLUMN "${FORMS[0]}"`,
        ({ broken, column, is, name }) => [column, name, broken ? `${is} (not read: a column is missing)` : is],
        ["column", "name", "is"]
      )
    }
    if (remove === Option.isSome(form))
      return yield* UsageError.of(
        `Write what the column is, such as "${FORMS[0]}", or --remove. The forms: ${FORMS.join(", ")}.`
      )
    if (Option.isNone(form)) {
      const removed = yield* columns.remove(organization, column.value)
      return yield* result(removed, [`${removed.column} (${removed.is}) is no longer derived.`])
    }
    const declared = yield* columns.declare(organization, column.value, form.value)
    yield* result(declared, [
      `${declared.column} is ${declared.is}. A person sees it where the person may see all that it is computed from.`
    ])
  })
).pipe(
  Command.withDescription("Declare a number that is computed from other columns of a type, list those, or remove one"),
  Command.withExamples([
    {
      command: 'max catalog derive cases.handle_time "hours between created and closed"',
      description: "The hours from one time to another; days and years likewise"
    },
    { command: 'max catalog derive people.age "years since born"', description: "Completed years until today" },
    { command: 'max catalog derive invoices.total "price times quantity"', description: "A product of two numbers" },
    { command: "max catalog derive", description: "List them" },
    { command: "max catalog derive people.age --remove", description: "Remove one; no value of a row is lost" }
  ])
)
