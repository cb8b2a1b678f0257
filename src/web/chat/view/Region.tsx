import type { ComponentChildren } from "preact"
import type { Chat } from "../state/Chat.ts"

interface Props {
  readonly chat: Chat
  readonly class: string
  readonly children: ComponentChildren
}

/** The page's `main` element; inside another site, which has its own, a section. */
export const Region = ({ chat, ...rest }: Props) =>
  chat.isOwnPage ? <main {...rest} /> : <section aria-label="Max" {...rest} />
