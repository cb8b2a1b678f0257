/** A part of the page that is loaded when it is opened: the inbox, what the person may do, with its forms, and one entity. */
// Styles beside the page's own: a script that loads styles later needs more script.
import "../form/form.css"
import "./inbox.css"
import type { Chat } from "../state/Chat.ts"
import { Loaded } from "./Loaded.tsx"

interface Props {
  readonly chat: Chat
  /** The action's id, or "" for the list of actions; undefined for the inbox. */
  readonly action: string | undefined
  /** The handle of an entity that is shown alone. */
  readonly entity: string | undefined
}

export const Part = ({ action, chat, entity }: Props) => (
  <Loaded chat={chat}>
    {({ Actions, Entity, Inbox }) => {
      if (entity !== undefined && Entity !== undefined) return <Entity key={entity} chat={chat} handle={entity} />
      return action === undefined || Actions === undefined ? (
        <Inbox chat={chat} />
      ) : (
        <Actions key={action} chat={chat} id={action} />
      )
    }}
  </Loaded>
)
