/**
 * The page's location, in the fragment of the address: it can be linked to and is part of the browser's history, and it
 * is never sent to a server or written to a log.
 */
import { signal } from "@preact/signals"

export interface Place {
  /** Such as `["people", "abc"]`. */
  readonly path: ReadonlyArray<string>
  readonly query: Readonly<Record<string, string>>
}

const read = (): Place => {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?")
  const parts = path.split("/").filter((part) => part !== "")
  return {
    path: parts.map(decoded),
    query: Object.fromEntries(new URLSearchParams(query))
  }
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const place = signal<Place>(read())
addEventListener("hashchange", () => {
  navigation.movesFocus = true
  place.value = read()
})

/** After a navigation, the heading of the new page takes the focus. */
export const navigation = { movesFocus: false }

/** The link to a place within the pages. */
export const to = (path: ReadonlyArray<string>, query: Readonly<Record<string, string>> = {}): string => {
  const search = new URLSearchParams(query).toString()
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`
}
