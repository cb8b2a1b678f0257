/** Which colours somebody prefers, kept in this browser; without a preference the device decides. */
import { effect, signal } from "@preact/signals"

const THEMES = ["system", "light", "dark"] as const
type Theme = (typeof THEMES)[number]

const KEY = "max-theme"

const kept = (): Theme => {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system"
  } catch {
    return "system"
  }
}

export const theme = signal<Theme>(kept())

export const nextTheme = (): void => {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
}

/** Keeps a root in the colours that are preferred. */
export const themed = (root: HTMLElement): (() => void) =>
  effect(() => {
    if (theme.value === "system") delete root.dataset["theme"]
    else root.dataset["theme"] = theme.value
    try {
      if (theme.value === "system") localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, theme.value)
    } catch {
      // A browser that keeps nothing forgets it with the page.
    }
  })
