/**
 * The fourth tool over MCP: it proposes at once and never waits for the person, who decides on Max's page. Only a client of the
 * version with continuations may put the question itself, for a change of level once and a credential with the scope `confirm`.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Preview } from "../../domain/Change.ts"
import type { CurrentPrincipal } from "../../domain/Principal.ts"
import { printable } from "../../domain/text.ts"
import type { Changes, Via } from "../../services/changes/Changes.ts"
import type { ToolOutcome } from "../../tools/call.ts"
import { asOutcome, readRequest } from "../../tools/ChangeTool.ts"
import { renderDraft } from "../../tools/renderChange.ts"

/** What the person answered to the client's form. */
export interface Answered {
  /** The state that came back with the answer. Clients can change it. */
  readonly state: string | undefined
  readonly accepts: boolean
}

export interface ChangeCaller {
  readonly changes: Changes["Service"]
  readonly via: Via
  /** Whether the credential may confirm. */
  readonly confirms: boolean
  /** The page of a change; undefined where no server is known. */
  readonly pageOf: (changeId: string) => string | undefined
}

/** Within this time the same call is the same change, whatever became of it, in milliseconds. */
const SAME_MS = 3_600_000

/** The same call of the same credential, within the hour. */
const keyOf = (input: unknown, { credentialId = "" }: Via): string =>
  createHash("sha256")
    .update(JSON.stringify(["mcp", credentialId, Math.floor(Date.now() / SAME_MS), input]))
    .digest("hex")

/** Characters of a name or value in a question. */
const MAX_SHOWN = 200
const shown = (text = "–"): string => [...printable(text)].slice(0, MAX_SHOWN).join("")

/** The whole change, a line per cell. No value can end its line. */
const asked = ({ steps }: Preview): string =>
  steps
    .flatMap(({ action, cells, displayName, entityId }) => [
      `${shown(action)}: ${shown(displayName ?? entityId)}`,
      ...cells.map(({ becomes, name, was }) => `  ${shown(name)}: ${shown(was)} → ${shown(becomes)}`)
    ])
    .join("\n")

const told = (preview: Preview, pageOf: ChangeCaller["pageOf"]): ToolOutcome => {
  const { changeId, receipt, state } = preview
  const uri = pageOf(changeId)
  const pending = state === "open" || state === "waiting"
  const text = pending ? renderDraft(changeId, preview) : `${state}: ${receipt?.message ?? "nothing was changed"}`
  const where = uri === undefined ? `max change show ${changeId}` : uri
  return {
    text: pending ? `${text}\nNothing has changed yet. The person decides: ${where}` : text,
    failed: false,
    unavailable: false,
    value: { changeId, state, steps: preview.steps },
    ...(uri === undefined ? {} : { link: { uri, name: "Decide about this change" } })
  }
}

/** Answers a call of `requestAction`: with the draft or with what became of it. */
export const requestChange = (caller: ChangeCaller) =>
  Effect.fnUntraced(function* (
    input: unknown,
    answered?: Answered
  ): Effect.fn.Return<ToolOutcome, never, CurrentPrincipal> {
    const { changes, confirms, pageOf, via } = caller
    const actions = yield* asOutcome(changes.actions)
    if ("text" in actions) return actions
    const read = readRequest(input, actions)
    if ("text" in read) return read
    const draft = yield* asOutcome(changes.propose({ steps: [read.step], via, key: keyOf(input, via) }))
    if ("text" in draft) return draft
    const preview = yield* asOutcome(draft.known ? current(changes, draft.preview, via) : Effect.succeed(draft.preview))
    if ("text" in preview) return preview
    const { changeId, complete, digest, level, own, state } = preview
    const mayAsk = confirms && state === "open" && level === "once" && own && complete && digest !== undefined
    if (!mayAsk) return told(preview, pageOf)
    if (answered === undefined) {
      return { ...told(preview, pageOf), question: { message: asked(preview), state: changeId } }
    }
    // The state only has to be what the same call would be asked about: a client can't confirm another change with it.
    if (!answered.accepts || answered.state !== changeId) return told(preview, pageOf)
    const confirmed = yield* asOutcome(changes.confirm({ changeId, digest, via }))
    if ("text" in confirmed) return confirmed
    return told(yield* Effect.orElseSucceed(changes.preview(changeId, via), () => preview), pageOf)
  })

/** What stands in for a change now: one that has expired, or whose rows have changed, is proposed again. */
const current = Effect.fnUntraced(function* (changes: Changes["Service"], known: Preview, via: Via) {
  let preview = known
  while (preview.replacedBy !== undefined) preview = yield* changes.preview(preview.replacedBy, via)
  return preview.state === "expired" || preview.state === "stale"
    ? (yield* changes.again(preview.changeId, via)).preview
    : preview
})
