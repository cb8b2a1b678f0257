/** Changes at the terminal: proposing, deciding, undoing, and what happened to a row. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { ChangeSummary, Preview } from "../../../domain/Change.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { PolicyEditor } from "../../../services/administration/PolicyEditor.ts"
import { Changes, type Draft } from "../../../services/changes/Changes.ts"
import { stepsOf } from "../../../services/changes/steps.ts"
import { changeLines, confirmCommand, receiptLine, shown } from "../changeView.ts"
import { asPrincipal, UsageError, wantsJson } from "../context.ts"
import { askTerminal, decide, isInteractive, TERMINAL, waitingLine } from "../deciding.ts"
import { argument, optional } from "../flags.ts"
import { dim, json, listing, note, result } from "../output.ts"
import { gainLines } from "../policyOutput.ts"
import { outbox } from "./outbox.ts"
import { webhook } from "./webhook.ts"

const id = argument("id", "A change's id, as max change list shows it")

/** Shows a proposed change, and asks at a terminal. */
const proposed = Effect.fnUntraced(function* (draft: Draft) {
  if (yield* wantsJson) return yield* json({ ...draft, confirm: confirmCommand(draft.preview) })
  yield* decide(draft.preview, isInteractive() ? askTerminal : undefined)
})

/** Who gains and loses what by a policy that waits for an approval; nothing for any other change. */
const gainsOf = Effect.fnUntraced(function* ({ changeId, policy, state }: Preview) {
  if (policy === undefined || (state !== "open" && state !== "waiting")) return []
  const text = yield* Effect.flatMap(Changes, (changes) => changes.policyFile(changeId, TERMINAL))
  const editor = yield* PolicyEditor
  return gainLines(yield* editor.simulate(yield* CurrentPrincipal, text, undefined))
})

const show = Command.make(
  "show",
  { id },
  Effect.fnUntraced(function* (input) {
    const [preview, gains] = yield* asPrincipal(() =>
      Effect.gen(function* () {
        const changes = yield* Changes
        const found = yield* changes.preview(input.id, TERMINAL)
        return [found, yield* gainsOf(found)] as const
      })
    )
    yield* result(preview, [
      ...changeLines(preview),
      ...gains,
      ...(preview.digest === undefined ? [] : [dim(`To confirm it: ${confirmCommand(preview)}`)])
    ])
  })
).pipe(Command.withDescription("Show what a change would do, or did, as far as you may see it"))

const confirm = Command.make(
  "confirm",
  {
    id,
    digest: Argument.String("digest").pipe(
      Argument.withDescription("The digest of what was shown; without it, the change is shown and you are asked"),
      Argument.optional
    ),
    rows: Flag.Int("rows").pipe(
      Flag.withDescription("At a second confirmation: the number of rows that it changes"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ digest, id: changeId, rows }) {
    if (Option.isNone(digest) && !isInteractive())
      return yield* UsageError.of(`Pass the digest of what was shown: max change show ${shown(changeId)}`)
    yield* asPrincipal(() =>
      Effect.gen(function* () {
        const changes = yield* Changes
        if (Option.isNone(digest)) {
          const preview = yield* changes.preview(changeId, TERMINAL)
          for (const line of yield* gainsOf(preview)) yield* Console.log(line)
          return yield* decide(preview, askTerminal)
        }
        const outcome = yield* changes.confirm({
          changeId,
          digest: digest.value,
          rows: Option.getOrUndefined(rows),
          via: TERMINAL
        })
        const line =
          outcome._tag === "Applied"
            ? receiptLine(outcome.receipt, changeId)
            : outcome._tag === "Waiting"
              ? waitingLine(changeId, outcome.approvers)
              : `Nothing has changed yet. Confirm it again: max change confirm ${shown(changeId)} ${digest.value} --rows ${outcome.rows}`
        yield* result(outcome, [line])
      })
    )
  })
).pipe(Command.withDescription("Confirm your own change, or approve another person's"))

const ending = (name: "reject" | "withdraw", description: string) =>
  Command.make(
    name,
    { id },
    Effect.fnUntraced(function* (input) {
      yield* asPrincipal(() => Effect.flatMap(Changes, (changes) => changes[name](input.id, TERMINAL)))
      const state = name === "reject" ? "rejected" : "withdrawn"
      yield* result({ changeId: input.id, state }, [`Nothing was changed: it is ${state}.`])
    })
  ).pipe(Command.withDescription(description))

const undo = Command.make(
  "undo",
  { id },
  Effect.fnUntraced(function* (input) {
    yield* asPrincipal(() =>
      Effect.flatMap(
        Effect.flatMap(Changes, (changes) => changes.undo(input.id, TERMINAL)),
        proposed
      )
    )
  })
).pipe(Command.withDescription("Propose the inverse of an applied change, which is confirmed like any other"))

const paging = {
  limit: Flag.Int("limit").pipe(Flag.withDescription("At most so many (default 20, at most 100)"), Flag.optional),
  after: optional("after", "Continue after this change")
}

const row = ({ actionIds, changeId, channel, createdAt, rows, state }: ChangeSummary) => [
  changeId,
  state,
  actionIds.map(shown).join(", "),
  String(rows),
  createdAt,
  shown(channel)
]

const list = Command.make(
  "list",
  {
    list: Flag.Literals("list", ["mine", "waiting", "decided"]).pipe(
      Flag.withDescription("mine: proposed by you (default); waiting: for your decision; decided: final"),
      Flag.withDefault("mine" as const)
    ),
    ...paging
  },
  Effect.fnUntraced(function* (input) {
    const found = yield* asPrincipal(() =>
      Effect.flatMap(Changes, (changes) =>
        changes.list({
          which: input.list === "waiting" ? "me" : input.list,
          limit: Option.getOrUndefined(input.limit),
          after: Option.getOrUndefined(input.after)
        })
      )
    )
    yield* listing(found, "There is no change.", row, ["id", "state", "what", "rows", "proposed", "channel"])
  })
).pipe(Command.withDescription("List changes, newest first"))

const history = Command.make(
  "history",
  {
    type: argument("type", "Entity type, as listed by max types"),
    id: argument("id", "An entity's id, as max find prints it")
  },
  Effect.fnUntraced(function* (input) {
    const entries = yield* asPrincipal(() =>
      Effect.flatMap(Changes, (changes) => changes.history(input.type, input.id))
    )
    yield* result(
      entries,
      entries.length === 0
        ? ["No change of it is recorded."]
        : entries.flatMap(({ actionId, at, cells, changeId, channel, columnIds, proposer }) => [
            `${at}  ${shown(actionId)} by ${proposer} (${shown(channel)}), change ${changeId}`,
            ...(cells === undefined
              ? [`  ${columnIds.join(", ")} ${dim("(values aren't kept any more)")}`]
              : cells.map(
                  ({ becomes, name, was }) =>
                    `  ${shown(name)}: ${was === undefined ? dim("empty") : shown(was)} → ${becomes === undefined ? dim("empty") : shown(becomes)}`
                ))
          ])
    )
  })
).pipe(Command.withDescription("Show who changed an entity, when, and from what to what"))

export const change = Command.make(
  "change",
  {
    action: argument("action", "What to do: TYPE.create, TYPE.update, TYPE.delete, or an action of your own"),
    words: Argument.String("id-or-value").pipe(
      Argument.withDescription("Ids of the entities, then values: status=Won; phone= empties the cell"),
      Argument.variadic()
    ),
    key: optional("key", "Idempotency key: the same key is the same change")
  },
  Effect.fnUntraced(function* ({ action, key, words }) {
    // Ids have no =, and the first = of a value divides it.
    const values = words.filter((word) => word.includes("="))
    const entityIds = words.filter((word) => !word.includes("="))
    const steps = yield* Effect.fromResult(stepsOf([{ actionId: action, entityIds, values }]))
    yield* asPrincipal(() =>
      Effect.flatMap(
        Effect.flatMap(Changes, (changes) =>
          changes.propose({ steps, key: Option.getOrUndefined(key), via: TERMINAL })
        ),
        proposed
      )
    )
  })
).pipe(
  Command.withDescription("Propose a change, and decide on changes. Nothing is changed before you confirm it"),
  Command.withExamples([
    { command: "max change people.update jopsooahzyxrl status=Won", description: "Change a cell of one person" },
    { command: 'max change people.create "name=Ada Lovelace" status=Lead', description: "Add a person" },
    { command: "max change undo jopsoqbtmweka", description: "Undo an applied change" }
  ]),
  Command.withSubcommands([
    list,
    show,
    confirm,
    ending("reject", "Reject a change: nothing is changed"),
    ending("withdraw", "Withdraw a change that you proposed: nothing is changed"),
    undo,
    history,
    outbox,
    webhook
  ])
)

const inboxLines = (preview: Preview): ReadonlyArray<string> => [
  ...changeLines(preview),
  ...(preview.digest === undefined
    ? []
    : [
        dim(
          `${preview.policy === undefined ? "" : `Who gains and loses what: max change show ${preview.changeId}. `}To decide: max change confirm ${preview.changeId}, max change reject ${preview.changeId}`
        )
      ]),
  ""
]

export const inbox = Command.make(
  "inbox",
  {},
  Effect.fnUntraced(function* () {
    const waiting = yield* asPrincipal(() =>
      Effect.gen(function* () {
        const changes = yield* Changes
        const found = yield* changes.list({ which: "me" })
        return yield* Effect.forEach(found, ({ changeId }) => changes.preview(changeId, TERMINAL))
      })
    )
    if (yield* wantsJson) return yield* json(waiting)
    if (waiting.length === 0) return yield* Console.log("Nothing waits for you.")
    yield* Console.log(waiting.flatMap(inboxLines).join("\n").trimEnd())
    yield* note(`${waiting.length} ${waiting.length === 1 ? "change waits" : "changes wait"} for your decision.`)
  })
).pipe(Command.withDescription("Show the changes that wait for your decision"))
