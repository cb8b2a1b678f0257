/** Shows what is made of the parts that are loaded when they are first needed. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { Chat, Parts } from "../state/Chat.ts"

interface Props {
  readonly chat: Chat
  readonly children: (parts: Parts) => ComponentChildren
}

export const Loaded = ({ chat, children }: Props) => {
  const parts = useSignal<Parts | undefined>(undefined)
  const said = useSignal("")
  useEffect(() => {
    chat.loadParts().then(
      (loaded) => (parts.value = loaded),
      () => (said.value = "This can't be loaded right now.")
    )
  }, [])
  return parts.value === undefined ? <p role="alert">{said.value}</p> : <>{children(parts.value)}</>
}
