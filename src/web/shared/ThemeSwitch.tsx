/** Light, dark or as the device is: one button that goes round. */
import { MoonIcon, ScreenIcon, SunIcon } from "./icons.tsx"
import { nextTheme, theme } from "./theme.ts"

const SHOWN = {
  system: { Icon: ScreenIcon, words: "Colours as on this device" },
  light: { Icon: SunIcon, words: "Light colours" },
  dark: { Icon: MoonIcon, words: "Dark colours" }
} as const

export const ThemeSwitch = () => {
  const { Icon, words } = SHOWN[theme.value]
  return (
    <button type="button" class="quiet square" onClick={nextTheme} aria-label={`${words}. Change`} title={words}>
      <Icon />
    </button>
  )
}
