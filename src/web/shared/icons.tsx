/** Icons on a 16-pixel grid with one stroke width; they are decorative, so screen readers skip them. */
import type { JSX } from "preact"

const icon = (path: string) => (): JSX.Element => (
  <svg
    class="icon"
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={path} />
  </svg>
)

export const ReturnIcon = icon("M13 3v4.5a2 2 0 0 1-2 2H3.5M6.5 6l-3.5 3.5L6.5 13")
export const StopIcon = icon("M4 4h8v8H4z")
export const CopyIcon = icon("M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z")
export const CheckIcon = icon("M3 8.5l3.5 3.5L13 4.5")
export const EditIcon = icon("M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3zM9 4.5L11.5 7")
export const AgainIcon = icon("M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3")
export const SearchIcon = icon("M11 7A4 4 0 1 1 3 7a4 4 0 0 1 8 0zM10 10l3.5 3.5")
export const PlusIcon = icon("M8 3v10M3 8h10")
export const MenuIcon = icon("M2.5 4.5h11M2.5 8h11M2.5 11.5h7")
export const CloseIcon = icon("M4 4l8 8M12 4l-8 8")
export const BinIcon = icon("M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5")
export const InboxIcon = icon("M2.5 9h3.2l1 2h2.6l1-2h3.2M4.5 3h7l2 6v4h-11V9z")
export const DownloadIcon = icon("M8 2.5v7.5M4.5 7L8 10l3.5-3M3 13.5h10")
export const DownIcon = icon("M8 3v9.5M4 9l4 3.5L12 9")

export const SunIcon = icon(
  "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7"
)
export const MoonIcon = icon("M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5z")
export const ScreenIcon = icon("M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3")
export const OutIcon = icon("M9.5 3H3v10h6.5M7 8h6.5M11 5.5L13.5 8 11 10.5")
