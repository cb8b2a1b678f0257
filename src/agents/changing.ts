/** What a turn may propose: the caller's open actions, the conversation's latest changes, and the drafts of the answer. */
import { Effect } from "effect"
import type { ChangeSummary, Preview } from "../domain/Change.ts"
import { PEOPLE } from "../domain/EntityType.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import type { OpenSession } from "../services/conversations/Sessions.ts"
import type { Changes, OpenAction, Via } from "../services/changes/Changes.ts"
import { Drafts, type DraftsOptions } from "../tools/ChangeTool.ts"
import type { TurnEvent } from "../wire/TurnEvent.ts"
import type { TurnContext } from "./turnContext.ts"

/** How a channel lets a turn change something. */
export interface Changing {
  readonly via: Via
  /** Whether the caller may confirm through this channel. */
  readonly confirms: boolean
  /** The sentence that says what a draft waits for, where it isn't the caller's confirmation. */
  readonly waits?: string
}

/** What a turn of a channel may propose, with the scopes of its caller's credential. */
export const changingOf = (via: Via, scopes: ReadonlyArray<string> = ["changes", "confirm"]): Changing | undefined =>
  scopes.includes("changes") ? { via, confirms: scopes.includes("confirm") } : undefined

interface TurnChanges {
  readonly drafts: Drafts | undefined
  readonly context: Pick<TurnContext, "can" | "drafts">
}

const NONE: TurnChanges = { drafts: undefined, context: {} }

const MAX_TOLD = 3
/** Characters of `can` as JSON: 40 tokens. */
const MAX_CAN = 140

/** The changes of a turn; none where the channel, the policy or the configuration permits none. */
export const changesOf = Effect.fnUntraced(function* (
  changes: Changes["Service"],
  changing: Changing | undefined,
  principal: Principal,
  session: OpenSession,
  reference: string,
  judge: DraftsOptions["judge"]
) {
  if (changing === undefined || principal.anchorEntityId === "") return NONE
  const as = Effect.provideService(CurrentPrincipal, principal)
  const actions = yield* as(changes.actions)
  if (actions.length === 0) return NONE
  const earlier = session.isNew
    ? []
    : yield* as(changes.list({ which: "mine", sessionId: session.id, limit: MAX_TOLD })).pipe(
        // Changes are switched off or the token's scope excludes them: there is none to tell of.
        Effect.catch((error) =>
          error._tag === "Unavailable" || error._tag === "NotAdmitted" ? Effect.fail(error) : Effect.succeed([])
        )
      )
  const { via } = changing
  const drafts = new Drafts({ changes, via, sessionId: session.id, reference, actions, judge })
  const told = earlier.map(lineOf)
  const turn: TurnChanges = {
    drafts,
    context: { can: canOf(actions), ...(told.length === 0 ? {} : { drafts: told }) }
  }
  return turn
})

/** What the declared actions stand under. */
const DECLARED = "actions"

/** The open actions by type, people first, as far as they fit. */
const canOf = (actions: ReadonlyArray<OpenAction>): Readonly<Record<string, string>> => {
  const byType = new Map<string, Array<string>>()
  for (const { action } of actions) {
    const end = action.slug.lastIndexOf(".")
    // Declared actions belong to no type.
    const type = end < 0 ? DECLARED : action.slug.slice(0, end)
    byType.set(type, [...(byType.get(type) ?? []), action.slug.slice(end + 1)])
  }
  const can: Record<string, string> = {}
  for (const [type, ops] of [...byType].sort(([a], [b]) => Number(b === PEOPLE) - Number(a === PEOPLE))) {
    if (JSON.stringify({ ...can, [type]: ops.join(" ") }).length <= MAX_CAN) can[type] = ops.join(" ")
  }
  return can
}

/** One line about a change, without values. */
const lineOf = ({ actionIds, rows, state }: ChangeSummary): string =>
  `${state === "open" ? "waits for the person" : state === "waiting" ? "waits for another person" : state}: ${actionIds.join(", ")}, ${rows} ${rows === 1 ? "row" : "rows"}`

/** The drafts of an answer as the person is shown them: their time begins when the turn is kept. */
export const openedBy = (drafts: Drafts | undefined): ReadonlyArray<Preview> =>
  drafts === undefined
    ? []
    : drafts.changes.map(({ preview }) =>
        preview.state === "drafted" ? { ...preview, state: "open", seconds: secondsOf(preview, drafts) } : preview
      )

const secondsOf = ({ steps }: Preview, { options }: Drafts): number =>
  Math.min(
    ...options.actions
      .filter(({ action }) => steps.some(({ actionId }) => actionId === action.slug))
      .map(({ action }) => action.seconds)
  )

/** The events that show changes. */
export const draftEvents = (shown: ReadonlyArray<Preview>, notes: ReadonlyArray<string>): ReadonlyArray<TurnEvent> =>
  shown.map((draft) => ({ _tag: "draft", draft, notes }))
