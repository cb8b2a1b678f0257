/** A part of the page that is loaded when it is opened: the inbox, and what the person may do, with its forms. */
// Styles beside the page's own: a script that loads styles later needs more script.
import "../form/form.css"
import "./inbox.css"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Chat, Parts } from "../state/Chat.ts"

interface Props {
  readonly chat: Chat
  /** The action's id, or "" for the list of actions; undefined for the inbox. */
  readonly action: string | undefined
}

export const Part = ({ action, chat }: Props) => {
  const parts = useSignal<Parts | undefined>(undefined)
  const said = useSignal("")
  useEffect(() => {
    chat.loadParts().then(
      (loaded) => (parts.value = loaded),
      () => (said.value = "This can't be loaded right now.")
    )
  }, [])
  const { Actions, Inbox } = parts.value ?? {}
  if (Inbox === undefined) return <p role="alert">{said.value}</p>
  return action === undefined || Actions === undefined ? (
    <Inbox chat={chat} />
  ) : (
    <Actions key={action} chat={chat} id={action} />
  )
}
