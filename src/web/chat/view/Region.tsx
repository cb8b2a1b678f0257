import type { ComponentChildren } from "preact"
import type { Chat } from "../state/Chat.ts"

interface Props {
  readonly chat: Chat
  readonly class: string
  readonly children: ComponentChildren
}

/** The main part of the page; another site has one of its own. */
export const Region = ({ chat, ...rest }: Props) =>
  chat.isOwnPage ? <main {...rest} /> : <section aria-label="Max" {...rest} />
