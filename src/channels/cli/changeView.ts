/** A change in lines, made by code from its preview. No value can end its line or turn the direction of another's text. */
import {
  type Preview,
  type PreviewCell,
  type PreviewPolicy,
  type PreviewStep,
  type Receipt
} from "../../domain/Change.ts"
import { printable } from "../../domain/text.ts"
import { bold, dim } from "./output.ts"

/** In characters. */
const MAX_SHOWN = 200
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/** A value for the terminal: printable, cut, and isolated where its direction could move its neighbours. */
export const shown = (text: string): string => {
  const clean = [...printable(text)]
  const cut = clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN - 1).join("")}…` : clean.join("")
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut
}

const cellLines = ({ becomes, name, was }: PreviewCell): ReadonlyArray<string> => [
  ...(was === undefined ? [] : [`  - ${shown(name)}: ${shown(was)}`]),
  becomes === undefined ? `  + ${shown(name)} ${dim("is emptied")}` : `  + ${shown(name)}: ${shown(becomes)}`
]

const stepLines = ({ action, actionId, call, cells, displayName, entityId }: PreviewStep): ReadonlyArray<string> => [
  bold(
    call === undefined && (displayName ?? entityId) !== ""
      ? `${shown(action)}: ${displayName === undefined ? entityId : shown(displayName)}`
      : shown(action)
  ),
  ...(call === undefined ? [] : [dim(`  at ${shown(call.host)}${call.state === undefined ? "" : `: ${call.state}`}`)]),
  ...(actionId.endsWith(".delete")
    ? cells.flatMap(({ name, was }) => (was === undefined ? [] : [`  - ${shown(name)}: ${shown(was)}`]))
    : cells.flatMap(cellLines))
]

/** A duration for people, such as `4 min 58 s` or `71 h`. */
const duration = (seconds: number): string =>
  seconds >= 2 * 3600
    ? `${Math.floor(seconds / 3600)} h`
    : seconds >= 60
      ? `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? "" : ` ${seconds % 60} s`}`
      : `${seconds} s`

const rolesIn = (roles: ReadonlyArray<string>): string => roles.map(shown).join(" or ")

const policyLines = ({ changes, problems, replaces, tests, warnings }: PreviewPolicy): ReadonlyArray<string> => [
  bold(`Publish a policy over version ${replaces}`),
  ...(changes.length === 0 ? [`  The same as version ${replaces}.`] : []),
  ...changes.map(({ mark, what }) => `  ${mark} ${shown(what)}`),
  ...warnings.map((warning) => `  Warning: ${shown(warning)}`),
  ...(tests === undefined ? [] : [`  ${tests.count - tests.failing.length} of its ${tests.count} tests pass.`]),
  ...(tests?.failing ?? []).map((title) => `  FAIL ${shown(title)}`),
  ...problems.map(shown)
]

/** What a change needs and how long it waits. */
const standing = (preview: Preview, isSaid: boolean): ReadonlyArray<string> => {
  const { approvers, lasting, level, receipt, seconds, state } = preview
  if (receipt !== undefined) return [shown(receipt.message)]
  if (state !== "open" && state !== "waiting") return [`Nothing was changed: it is ${state}.`]
  return [
    ...(preview.complete ? [] : ["You don't see everything that this changes, so you can't confirm it."]),
    ...(lasting === true ? ["It can't be undone here."] : []),
    ...(level === "second" ? [`Another person must approve this: role ${rolesIn(approvers)}.`] : []),
    [
      ...(isSaid ? [] : ["Nothing has changed yet."]),
      ...(seconds === undefined
        ? []
        : [`It can be ${state === "waiting" ? "approved" : "confirmed"} for ${duration(seconds)}.`])
    ].join(" ")
  ]
}

/** The whole of a change, as its viewer may see it. `isSaid`: the answer above says that nothing has changed yet. */
export const changeLines = (preview: Preview, isSaid = false): ReadonlyArray<string> => {
  const { changeId, channel, proposer, proposerName, source, steps, token, undoes } = preview
  const by = token === undefined ? "" : `, drafted by the token ${shown(token)}`
  return [
    dim(
      `Change ${changeId}${undoes === undefined ? "" : `, which undoes ${undoes}`}, proposed by ${shown(proposerName ?? proposer)} (${shown(channel)}${by})`
    ),
    ...(source === undefined
      ? []
      : [dim(`Read from a message of ${shown(source.from)} (${shown(source.source)} ${shown(source.sourceId)})`)]),
    ...(preview.remains ?? []).map((name) => `“${shown(name)}” isn't taken back: it can't be undone here.`),
    ...(steps.length === 0
      ? ["Its values aren't kept any more."]
      : preview.policy === undefined
        ? steps.flatMap(stepLines)
        : policyLines(preview.policy)),
    ...standing(preview, isSaid)
  ]
}

/** What came of it. */
export const receiptLine = ({ calls = 0, invertible, lasting, message, rows }: Receipt, changeId: string): string =>
  lasting === true || (calls === rows && invertible !== true)
    ? shown(message)
    : `${shown(message)} ${dim(`To undo it: max change undo ${changeId}`)}`

/** The command that confirms a change without a terminal. */
export const confirmCommand = ({ changeId, confirmedOnce, digest, level, rows }: Preview): string =>
  `max change confirm ${changeId} ${digest ?? "DIGEST"}${level === "twice" && confirmedOnce ? ` --rows ${rows}` : ""}`
