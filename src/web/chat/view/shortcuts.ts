/**
 * Keyboard shortcuts of the chat page. All have a modifier key, so that they never take a character from a field or from
 * speech input.
 */
import type { Chat } from "../state/Chat.ts"

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus()

export const focusQuestion = (): void => focus(".composer textarea")

/** Opens the list on a narrow page, then focuses its search. */
const focusSearch = (): void => {
  if (document.querySelector(".history .search input") === null) {
    document.querySelector<HTMLElement>('.topbar [aria-label="Conversations"]')?.click()
  }
  requestAnimationFrame(() => focus(".history .search input"))
}

export const listenToShortcuts = (chat: Chat): void => {
  const actions: Readonly<Record<string, () => void>> = {
    "/": focusQuestion,
    k: focusSearch,
    O: () => {
      void chat.goTo(undefined)
      requestAnimationFrame(focusQuestion)
    }
  }
  addEventListener("keydown", (event) => {
    if (chat.access.value !== "signed in" || !(event.ctrlKey || event.metaKey) || event.altKey) return
    const action = actions[event.shiftKey ? event.key.toUpperCase() : event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}
