/** The color theme, stored in this browser; by default it follows the device. */
import { effect, signal } from "@preact/signals"

const THEMES = ["system", "light", "dark"] as const
type Theme = (typeof THEMES)[number]

const KEY = "max-theme"

const storedTheme = (): Theme => {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system"
  } catch {
    return "system"
  }
}

export const theme = signal<Theme>(storedTheme())

export const nextTheme = (): void => {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
}

/** Applies the theme to an element and stores it, now and after every change. */
export const applyTheme = (root: HTMLElement): (() => void) =>
  effect(() => {
    if (theme.value === "system") delete root.dataset["theme"]
    else root.dataset["theme"] = theme.value
    try {
      if (theme.value === "system") localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, theme.value)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  })
