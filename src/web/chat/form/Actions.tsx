/** What the person may do: the list of actions, and the form of one. Loaded when it is opened. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { OpenAction, OpenActions } from "../../../wire/changes.ts"
import { Problem } from "../../shared/api.ts"
import type { Chat } from "../state/Chat.ts"
import { ActionForm } from "./ActionForm.tsx"
import { Form } from "./Form.ts"

/** Whether an action has a form: it changes something, and takes no rows. */
const hasForm = ({ category, entityTypeId, id }: OpenAction): boolean =>
  entityTypeId === undefined ? category !== "read" : id.endsWith(".create")

const List = ({ actions, chat }: { readonly actions: ReadonlyArray<OpenAction>; readonly chat: Chat }) => {
  const [formed, others] = [actions.filter(hasForm), actions.filter((action) => !hasForm(action))]
  return (
    <>
      <h1 tabIndex={-1}>What you can do</h1>
      {actions.length === 0 && <p>You may change nothing here. An administrator can change that.</p>}
      {formed.length > 0 && (
        <ul class="doable">
          {formed.map(({ description, id, name }) => (
            <li key={id}>
              <button type="button" onClick={() => void chat.goTo({ action: id })}>
                <strong>{name}</strong>
                <span>{description}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <>
          <h2>In a conversation</h2>
          <p>You can also ask for these, by the names of what they are about:</p>
          <ul class="askable">
            {others.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

/** The list, or the form of the action with this id. */
export const Actions = ({ chat, id }: { readonly chat: Chat; readonly id: string }) => {
  const actions = useSignal<ReadonlyArray<OpenAction> | undefined>(undefined)
  const form = useSignal<Form | undefined>(undefined)
  const trouble = useSignal("")
  useEffect(() => {
    let isOpen = true
    const load = async () => {
      try {
        const response = await chat.request("GET", "/v1/actions")
        const all = ((await response.json()) as OpenActions).actions
        if (!isOpen) return
        const action = all.find((one) => one.id === id)
        actions.value = all
        const given = chat.prefilled?.actionId === id ? chat.prefilled.values : {}
        form.value = action !== undefined && hasForm(action) ? new Form(action, given, chat.request) : undefined
        if (id !== "" && form.value === undefined) trouble.value = "There is no such form for you."
      } catch (error) {
        if (isOpen) trouble.value = error instanceof Problem ? error.message : "The list can't be loaded right now."
      }
      requestAnimationFrame(() => document.querySelector<HTMLElement>(".doing h1")?.focus())
    }
    void load()
    return () => {
      isOpen = false
    }
  }, [])
  return (
    <div class="entries doing" aria-busy={actions.value === undefined && trouble.value === ""}>
      {trouble.value !== "" && (
        <>
          <h1 tabIndex={-1}>What you can do</h1>
          <p role="alert">{trouble.value}</p>
        </>
      )}
      {id === "" && actions.value !== undefined && <List actions={actions.value} chat={chat} />}
      {form.value !== undefined && <ActionForm chat={chat} form={form.value} />}
    </div>
  )
}
