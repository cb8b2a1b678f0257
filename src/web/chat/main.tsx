/** The chat page: its location is in the fragment of the address, and a sign-in link carries its code there. */
import "../shared/base.css"
import "../shared/controls.css"
import { effect } from "@preact/signals"
import { render } from "preact"
import { applyTheme } from "../shared/theme.ts"
import { type Address, Chat, type Place } from "./state/Chat.ts"
import { App } from "./view/App.tsx"
import { SignIn } from "./view/SignIn.tsx"
import { listenToShortcuts } from "./view/shortcuts.ts"

const PLACE = /^#(c|d|t)\/([A-Za-z0-9_-]{1,64})$/

const hashOf = (place: Place): string => {
  if (place === undefined) return ""
  if ("conversation" in place) return `#c/${place.conversation}`
  return "change" in place ? `#d/${place.change}` : `#t/${place.turn}`
}

const address: Address = {
  read: () => {
    const [, kind, name] = PLACE.exec(location.hash) ?? []
    if (name === undefined) return undefined
    return kind === "c" ? { conversation: name } : kind === "d" ? { change: name } : { turn: name }
  },
  write: (place, isNew) => {
    const hash = hashOf(place)
    if (location.hash === hash) return
    if (isNew) history.pushState(null, "", `/${hash}`)
    else history.replaceState(null, "", `/${hash}`)
  }
}

// The one-time code is removed from the address first.
const isSignIn = location.pathname === "/sign-in"
const code = isSignIn && location.hash !== "" ? location.hash.slice(1) : undefined
const failed = isSignIn ? (new URLSearchParams(location.search).get("failed") ?? undefined) : undefined
if (isSignIn) history.replaceState(null, "", "/")

let token: string | undefined
const chat = new Chat({ base: "", token: () => Promise.resolve(token) }, address)
const entry = { code, failed, useToken: (pasted: string) => void (token = pasted) }

applyTheme(document.documentElement)
effect(() => {
  const name = chat.welcome.value?.organization
  document.title = name === undefined ? "Max" : `Max at ${name}`
})
listenToShortcuts(chat)
addEventListener("popstate", () => void chat.goTo(address.read()))
if (code === undefined) void chat.start()
else chat.access.value = "signed out"
render(<App chat={chat} signIn={<SignIn chat={chat} entry={entry} />} />, document.getElementById("app")!)
