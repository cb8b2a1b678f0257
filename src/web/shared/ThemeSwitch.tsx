/** A button that cycles through the themes: device, light, dark. */
import { MoonIcon, ScreenIcon, SunIcon } from "./icons.tsx"
import { nextTheme, theme } from "./theme.ts"

const THEMES = {
  system: { Icon: ScreenIcon, label: "Device colors" },
  light: { Icon: SunIcon, label: "Light colors" },
  dark: { Icon: MoonIcon, label: "Dark colors" }
} as const

export const ThemeSwitch = () => {
  const { Icon, label } = THEMES[theme.value]
  return (
    <button type="button" class="quiet square" onClick={nextTheme} aria-label={`${label}. Change`} title={label}>
      <Icon />
    </button>
  )
}
