/** One entity: what the person may see of it, what may be changed, and what has been. Loaded when it is opened. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Draft, History, OpenAction, OpenActions } from "../../../wire/changes.ts"
import type { EntityRecord } from "../../../wire/lookup.ts"
import { Problem } from "../../shared/api.ts"
import { clock, dateValue, dayName } from "../../shared/time.ts"
import type { Chat } from "../state/Chat.ts"
import { pastOf } from "../view/deed.ts"
import { DraftSteps } from "../view/DraftSteps.tsx"
import { ActionForm } from "./ActionForm.tsx"
import { Form } from "./Form.ts"
import { rowOf, textOf } from "./rowOf.ts"

interface Loaded {
  readonly record: EntityRecord
  /** The actions on entities of this type. */
  readonly actions: ReadonlyArray<OpenAction>
  /** Undefined where the credential may not see changes. */
  readonly entries: History["entries"] | undefined
}

const isDate = (kind: string): boolean => kind === "date" || kind === "timestamp"

const Details = ({ record: { columns, entity } }: { readonly record: EntityRecord }) => {
  const filled = columns
    .map(({ kind, ...column }) => ({ ...column, kind, text: textOf(entity.columns?.[column.id]) }))
    .filter(({ text }) => text !== "")
  return (
    <dl class="details">
      {filled.map(({ id, kind, name, text }) => (
        <div key={id}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <bdi>{isDate(kind) ? dateValue(text) : text}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

type Entry = History["entries"][number]

/** "Rosa Delgado", or who proposed and who approved. */
const peopleOf = ({ decider, deciderName = "someone", proposer, proposerName = "someone" }: Entry): string =>
  proposer === decider ? proposerName : `${proposerName}, approved by ${deciderName}`

const Changed = ({ entries }: { readonly entries: ReadonlyArray<Entry> }) => (
  <>
    <h2>What has changed</h2>
    {entries.length === 0 && <p class="aside">Nothing has been changed through Max yet.</p>}
    <ol class="changed">
      {entries.map((entry) => {
        const at = new Date(entry.at)
        const { actionId, cells, changeId } = entry
        return (
          <li key={changeId}>
            <p class="aside">
              <time dateTime={entry.at}>
                {dayName(at)}, {clock(at)}
              </time>{" "}
              · <bdi>{peopleOf(entry)}</bdi>
            </p>
            {cells === undefined ? (
              <p class="aside">The values are no longer kept.</p>
            ) : (
              <DraftSteps
                done
                steps={[
                  { actionId, action: "", displayName: pastOf(actionId), entityTypeId: "", entityId: changeId, cells }
                ]}
              />
            )}
          </li>
        )
      })}
    </ol>
  </>
)

export const Entity = ({ chat, handle }: { readonly chat: Chat; readonly handle: string }) => {
  const loaded = useSignal<Loaded | undefined>(undefined)
  const form = useSignal<Form | undefined>(undefined)
  const trouble = useSignal("")
  const [type = "", ...rest] = handle.split("/")
  const id = rest.join("/")
  const focus = () =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".entity h1, .entity [role=alert]")?.focus())
  const read = async <A,>(path: string): Promise<A> => (await chat.request("GET", path)).json() as Promise<A>
  const say = (error: unknown) => {
    trouble.value = error instanceof Problem ? error.message : "This can't be loaded right now."
  }
  useEffect(() => {
    let isOpen = true
    const load = async () => {
      try {
        const path = `/v1/entities/${encodeURIComponent(type)}/${encodeURIComponent(id)}`
        const mayChange = chat.drafts.isOn.value
        const [record, all, history] = await Promise.all([
          read<EntityRecord>(path),
          mayChange ? read<OpenActions>("/v1/actions") : { actions: [] },
          mayChange ? read<History>(`${path}/history`) : undefined
        ])
        const actions = all.actions.filter(({ entityTypeId }) => entityTypeId === type)
        if (isOpen) loaded.value = { record, actions, entries: history?.entries }
      } catch (error) {
        if (isOpen) say(error)
      }
      focus()
    }
    void load()
    return () => {
      isOpen = false
    }
  }, [])
  const remove = async (actionId: string) => {
    try {
      const steps = [{ actionId, entityIds: [id] }]
      const response = await chat.request("POST", "/v1/changes", { steps })
      await chat.goTo({ change: ((await response.json()) as Draft).changeId })
      document.querySelector<HTMLElement>(".alone h1")?.focus()
    } catch (error) {
      say(error)
    }
  }
  const { actions = [], entries, record } = loaded.value ?? {}
  const update = actions.find((one) => one.id === `${type}.update`)
  const deletion = actions.find((one) => one.id === `${type}.delete`)
  const name = record?.entity.displayName ?? record?.typeName ?? ""
  return (
    <div class="entries doing entity" aria-busy={record === undefined && trouble.value === ""}>
      {trouble.value !== "" && (
        <p role="alert" tabIndex={-1}>
          {trouble.value}
        </p>
      )}
      {form.value !== undefined ? (
        <ActionForm
          chat={chat}
          form={form.value}
          title={`Change ${name}`}
          onCancel={() => {
            form.value = undefined
            focus()
          }}
        />
      ) : (
        record !== undefined && (
          <>
            <h1 tabIndex={-1}>
              <bdi>{name}</bdi>
            </h1>
            <p class="aside">{record.typeName}</p>
            <Details record={record} />
            <p class="send">
              {update !== undefined && (
                <button
                  type="button"
                  class="solid"
                  onClick={() => {
                    form.value = new Form(update, {}, chat.request, rowOf(id, record))
                    focus()
                  }}
                >
                  Change
                </button>
              )}
              {deletion !== undefined && (
                <button type="button" class="plain" onClick={() => void remove(deletion.id)}>
                  Delete…
                </button>
              )}
              <button type="button" class="plain" onClick={() => history.back()}>
                Back
              </button>
            </p>
            {entries !== undefined && <Changed entries={entries} />}
          </>
        )
      )}
    </div>
  )
}
