/** The commands that check, publish, list, show and retire declared actions. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { OPERATOR } from "../../../database/audit.ts"
import { targetOf } from "../../../domain/DeclaredAction.ts"
import { actionFileSchema } from "../../../services/actions/actionFile.ts"
import { Actions, type PlannedAction } from "../../../services/actions/Actions.ts"
import { MAX_ACTIONS_LENGTH } from "../../../services/actions/readActions.ts"
import { currentOrganization } from "../context.ts"
import { argument } from "../flags.ts"
import { columns, json, listing, note, result } from "../output.ts"
import { readTextFile } from "../readTextFile.ts"

const file = argument("file", "A file of actions (JSON)")
const slug = argument("action", "An action, as listed by max action list")

const rowOf = ({ action: { category, confirm, executor, slug, version }, change }: PlannedAction) => [
  slug,
  change,
  String(version),
  category,
  confirm,
  targetOf(executor)
]
const HEADER = ["action", "", "version", "category", "confirm", "request"]

const summary = (planned: ReadonlyArray<PlannedAction>) =>
  planned.map(({ action: { slug, version }, change }) => ({ action: slug, version, change }))

const check = Command.make(
  "check",
  { file },
  Effect.fnUntraced(function* (input) {
    const actions = yield* Actions
    const planned = yield* actions.check(
      yield* currentOrganization,
      yield* readTextFile(input.file, MAX_ACTIONS_LENGTH)
    )
    yield* result(
      planned.map(({ action, change }) => ({ action: action.slug, change })),
      [
        ...columns(
          planned.map((one) => rowOf(one).map((cell, at) => (at === 2 && one.change !== "unchanged" ? "" : cell))),
          HEADER
        ),
        "",
        `The file can be published: max action publish ${input.file}`
      ]
    )
  })
).pipe(Command.withDescription("Check a file of actions and compare it with what is in force"))

const publish = Command.make(
  "publish",
  { file },
  Effect.fnUntraced(function* (input) {
    const actions = yield* Actions
    const text = yield* readTextFile(input.file, MAX_ACTIONS_LENGTH)
    const planned = yield* actions.publish(yield* currentOrganization, text, OPERATOR)
    yield* result(summary(planned), columns(planned.map(rowOf), HEADER))
    yield* note(
      'An action permits nothing by itself. A rule of the policy does: { "effect": "allow", "action": "invoke", "name": ACTION, … }'
    )
  })
).pipe(Command.withDescription("Put the new and changed actions of a file in force"))

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const actions = yield* Actions
    yield* listing(
      yield* actions.list(yield* currentOrganization),
      "There is no action of your own: max action publish FILE",
      ({ author, category, confirm, publishedAt, retired, slug, target, version }) => [
        slug,
        retired ? "retired" : String(version),
        category,
        confirm,
        target,
        publishedAt,
        author
      ],
      ["action", "version", "category", "confirm", "request", "published", "by"]
    )
  })
).pipe(Command.withDescription("List the organization's own actions"))

const show = Command.make(
  "show",
  { slug },
  Effect.fnUntraced(function* (input) {
    const actions = yield* Actions
    yield* json(yield* actions.show(yield* currentOrganization, input.slug))
  })
).pipe(Command.withDescription("Print the definition of an action"))

const retire = Command.make(
  "retire",
  { slug },
  Effect.fnUntraced(function* (input) {
    const actions = yield* Actions
    const version = yield* actions.retire(yield* currentOrganization, input.slug, OPERATOR)
    yield* result({ action: input.slug, version }, [
      `${input.slug} is retired. Open changes with it can't be confirmed any more.`
    ])
  })
).pipe(Command.withDescription("Take an action out of force; its versions stay"))

const schema = Command.make("schema", {}, () => json(actionFileSchema())).pipe(
  Command.withDescription("Print the JSON Schema of a file of actions")
)

/** `schema` needs no database. */
export const actionCommands = { connected: [check, publish, list, show, retire] as const, schema }
