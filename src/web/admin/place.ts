/**
 * Where in the pages somebody is. It stands behind # in the address: it can be linked to and gone back to, and no server
 * and no log on the way ever reads it.
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
  arrival.expected = true
  place.value = read()
})

/** Whether somebody has gone somewhere and isn't there yet: the heading that comes then takes the focus. */
export const arrival = { expected: false }

/** The address of a place within the pages. */
export const to = (path: ReadonlyArray<string>, query: Readonly<Record<string, string>> = {}): string => {
  const search = new URLSearchParams(query).toString()
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`
}
