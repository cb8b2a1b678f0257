/** Changes of the library: promises over the `Changes` service, with inputs checked for programs without types. */
import { Effect } from "effect"
import type { ChangeSummary, HistoryEntry, Preview } from "./domain/Change.ts"
import type { NotAdmitted, Unavailable } from "./domain/errors.ts"
import type { CurrentPrincipal } from "./domain/Principal.ts"
import { type ChangeEntry, Changes, type Confirmed, type Draft, type Via } from "./services/changes/Changes.ts"
import { describeAction } from "./services/changes/describeAction.ts"
import { stepsOf } from "./services/changes/steps.ts"
import { checked, text } from "./MaxInput.ts"
import {
  Choosing,
  Confirm,
  type FieldChoices,
  ListChanges,
  type OpenAction,
  Propose,
  type Step
} from "./wire/changes.ts"

export interface ProposeOptions {
  /** Idempotency key: the same key is the same change, whatever became of it. */
  readonly key?: string | undefined
}

export interface ConfirmOptions {
  /** At the second confirmation of level `twice`: the number of rows, as the person typed it. */
  readonly rows?: number | undefined
}

export interface ListOptions {
  /** `waiting` (default): for the person's decision. `mine`: proposed by it. `decided`: final, proposed or decided by it. */
  readonly list?: "waiting" | "mine" | "decided" | undefined
  /** The id of the last change of the previous page. */
  readonly after?: string | undefined
  /** At most 100; 20 by default. */
  readonly limit?: number | undefined
}

/** Changes of one person. Nothing is changed before a confirmation of the digest that belongs to what the person saw. */
export interface ChangesFor {
  /** The actions that are open to the person, each with the JSON Schema of a step. */
  readonly actions: () => Promise<ReadonlyArray<OpenAction>>
  /** What can be chosen for a field of an action that stands for an entity, by a part of what names it. */
  readonly choices: (actionId: string, asked: typeof Choosing.Type) => Promise<FieldChoices["choices"]>
  readonly propose: (steps: ReadonlyArray<Step>, options?: ProposeOptions) => Promise<Draft>
  readonly preview: (changeId: string) => Promise<Preview>
  readonly confirm: (changeId: string, digest: string, options?: ConfirmOptions) => Promise<Confirmed>
  readonly reject: (changeId: string) => Promise<void>
  readonly withdraw: (changeId: string) => Promise<void>
  /** Proposes the inverse of an applied change, which is confirmed like any other. */
  readonly undo: (changeId: string) => Promise<Draft>
  readonly changes: (options?: ListOptions) => Promise<ReadonlyArray<ChangeSummary>>
  /** What happened to a change, without values. */
  readonly events: (changeId: string) => Promise<ReadonlyArray<ChangeEntry>>
  /** The applied changes of an entity, newest first. */
  readonly history: (entityTypeId: string, entityId: string) => Promise<ReadonlyArray<HistoryEntry>>
}

type Service = Changes["Service"]

/** Runs a use of the service as the person, with the scope that it needs. */
export type RunChanges = <A, E>(
  scope: "changes" | "confirm",
  use: (changes: Service, via: Via) => Effect.Effect<A, E | NotAdmitted | Unavailable, CurrentPrincipal>
) => Promise<A>

export const changesFor = (run: RunChanges): ChangesFor => ({
  actions: () => run("changes", ({ actions }) => Effect.map(actions, (open) => open.map(describeAction))),
  choices: (actionId, asked) =>
    run("changes", (changes) =>
      Effect.flatMap(Effect.all([text("actionId", actionId), checked(Choosing, () => asked)]), ([, read]) =>
        changes.choices({ actionId, ...read })
      )
    ),
  propose: (steps, options = {}) =>
    run("changes", (changes, via) =>
      Effect.gen(function* () {
        const { key, steps: read } = yield* checked(Propose, () => ({ ...options, steps }))
        return yield* changes.propose({ steps: yield* Effect.fromResult(stepsOf(read)), key, via })
      })
    ),
  preview: (id) =>
    run("changes", (changes, via) => Effect.flatMap(text("changeId", id), () => changes.preview(id, via))),
  confirm: (id, digest, options = {}) =>
    run("confirm", (changes, via) =>
      Effect.gen(function* () {
        yield* text("changeId", id)
        yield* text("digest", digest)
        const { rows } = yield* checked(Confirm, () => ({ ...options, digest }))
        return yield* changes.confirm({ changeId: id, digest, rows, via })
      })
    ),
  reject: (id) => run("confirm", (changes, via) => Effect.andThen(text("changeId", id), changes.reject(id, via))),
  withdraw: (id) => run("changes", (changes, via) => Effect.andThen(text("changeId", id), changes.withdraw(id, via))),
  undo: (id) => run("changes", (changes, via) => Effect.andThen(text("changeId", id), changes.undo(id, via))),
  changes: (options = {}) =>
    run("changes", (changes) =>
      Effect.flatMap(
        checked(ListChanges, () => options),
        ({ after, limit, list = "waiting" }) => changes.list({ which: list === "waiting" ? "me" : list, after, limit })
      )
    ),
  events: (id) => run("changes", (changes) => Effect.andThen(text("changeId", id), changes.events(id))),
  history: (type, id) =>
    run("changes", (changes) =>
      Effect.andThen(Effect.all([text("entityTypeId", type), text("entityId", id)]), changes.history(type, id))
    )
})
