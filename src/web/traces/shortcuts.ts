/** Keyboard shortcuts. */
import { listed, live, marked, show, shownId, trace, view } from "./state.ts"

export const SHORTCUTS = [
  ["j / k", "next, previous trace"],
  ["c", "compare with…"],
  ["l", "live"],
  ["/", "filter by name"],
  ["Esc", "back"]
] as const

const step = (by: 1 | -1): void => {
  const traces = listed.value?.traces ?? []
  const at = traces.findIndex(({ reference, traceId }) => traceId === shownId.value || reference === shownId.value)
  const next = traces[at < 0 ? 0 : at + by]
  if (next === undefined) return
  show({ _tag: "Trace", id: next.traceId })
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>(`[data-trace="${next.traceId}"]`)?.scrollIntoView({ block: "nearest" })
  })
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  j: () => step(1),
  k: () => step(-1),
  c: () => {
    const line = listed.value?.traces.find(({ traceId }) => traceId === trace.value?.traceId)
    if (line !== undefined && view.value._tag === "Trace") marked.value = line
  },
  l: () => {
    live.value = !live.value
  },
  "/": () => document.getElementById("name")?.focus(),
  Escape: () => {
    if (marked.value === undefined) show({ _tag: "Overview" })
    marked.value = undefined
  }
}

export const listenToShortcuts = (): void => {
  addEventListener("keydown", (event) => {
    const { target } = event
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
    if (isTyping && event.key === "Escape") target.blur()
    if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return
    const action = ACTIONS[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}
