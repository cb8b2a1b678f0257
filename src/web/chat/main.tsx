/**
 * The chat page: a conversation is in the fragment of the address, and a sign-in link carries its code there. The inbox and a
 * change have paths of their own, which other channels link to.
 */
import "../shared/base.css"
import "../shared/controls.css"
import { effect } from "@preact/signals"
import { render } from "preact"
import { applyTheme } from "../shared/theme.ts"
import { Chat } from "./state/Chat.ts"
import type { Address, Place } from "./state/place.ts"
import { App } from "./view/App.tsx"
import { Door } from "./view/Door.tsx"
import { listenToShortcuts } from "./view/shortcuts.ts"

/** `a` without a name is the list of actions. */
const PLACE = /^#([acdet])\/([A-Za-z0-9_.:/-]{0,200})$/
const INBOX = /^\/inbox(?:\/([A-Za-z0-9_-]{1,64}))?\/?$/

const pathOf = (place: Place): string => {
  if (place === undefined) return "/"
  if ("conversation" in place) return `/#c/${place.conversation}`
  if ("inbox" in place) return "/inbox"
  if ("action" in place) return `/#a/${place.action}`
  if ("entity" in place) return `/#e/${place.entity}`
  return "change" in place ? `/inbox/${place.change}` : `/#t/${place.turn}`
}

const inboxAt = (path: string): Place => {
  const found = INBOX.exec(path)
  if (found === null) return undefined
  return found[1] === undefined ? { inbox: true } : { change: found[1] }
}

/**
 * The part of the inbox that a person opened before signing in. The sign-in may begin in another tab or come back from another
 * site, so it is stored for a quarter of an hour.
 */
const AFTER = "max-after-sign-in"
const AFTER_MS = 900_000

const afterSignIn = (): Place => {
  try {
    const [path, at] = JSON.parse(localStorage.getItem(AFTER) ?? "[]") as ReadonlyArray<unknown>
    localStorage.removeItem(AFTER)
    return Date.now() - Number(at) < AFTER_MS ? inboxAt(String(path)) : undefined
  } catch {
    return undefined
  }
}

const address: Address = {
  read: () => {
    const inbox = inboxAt(location.pathname)
    if (inbox !== undefined) return inbox
    const [, kind, name] = PLACE.exec(location.hash) ?? []
    if (kind === "a" && name !== undefined) return { action: name }
    if (!name) return undefined
    if (kind === "e") return { entity: name }
    return kind === "c" ? { conversation: name } : kind === "d" ? { change: name } : { turn: name }
  },
  write: (place, isNew) => {
    const path = pathOf(place)
    if (location.pathname + location.hash === path) return
    if (isNew) history.pushState(null, "", path)
    else history.replaceState(null, "", path)
  }
}

// The one-time code is removed from the address first.
const isSignIn = location.pathname === "/sign-in"
const code = isSignIn && location.hash !== "" ? location.hash.slice(1) : undefined
const failed = isSignIn ? (new URLSearchParams(location.search).get("failed") ?? undefined) : undefined
if (isSignIn) history.replaceState(null, "", "/")

let token: string | undefined
const chat = new Chat({ base: "", token: () => Promise.resolve(token) }, address, () => import("./parts.ts"))
const entry = { code, failed, useToken: (pasted: string) => void (token = pasted) }

applyTheme(document.documentElement)
effect(() => {
  const name = chat.welcome.value?.organization
  document.title = name === undefined ? "Max" : `Max at ${name}`
})
effect(() => {
  if (chat.access.value !== "signed out" || inboxAt(location.pathname) === undefined) return
  try {
    localStorage.setItem(AFTER, JSON.stringify([location.pathname, Date.now()]))
  } catch {
    // Without storage the link is opened once more after the sign-in.
  }
})
effect(() => {
  if (chat.access.value !== "signed in") return
  const place = afterSignIn()
  if (place !== undefined && address.read() === undefined) address.write(place, false)
})
listenToShortcuts(chat)
addEventListener("popstate", () => void chat.goTo(address.read()))
if (code === undefined) void chat.start()
else chat.access.value = "signed out"
render(<App chat={chat} signIn={<Door chat={chat} entry={entry} />} />, document.getElementById("app")!)
