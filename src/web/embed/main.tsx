/**
 * The chat inside another site, added by one script tag (docs/chat-page.md). A shadow root separates its styles from the
 * site's; its requests go to Max's server with a token from the site.
 */
import "./embed.css"
import { render } from "preact"
import { Chat } from "../chat/state/Chat.ts"
import type { Address } from "../chat/state/place.ts"
import { App } from "../chat/view/App.tsx"
import { Figures } from "../chat/view/Figures.tsx"
import { Inbox } from "../chat/view/Inbox.tsx"
import { Floating } from "./Floating.tsx"
import { NoToken } from "./NoToken.tsx"

/** The CSS text, inserted by the build. */
declare const __STYLES__: string

type TokenSource = () => string | Promise<string>

const script = document.currentScript as HTMLScriptElement | null
const base = new URL(script?.src ?? location.href).origin

const styles = new CSSStyleSheet()
styles.replaceSync(__STYLES__)

/** Fetches the token from the site's own server, which identifies the person by the site's cookies. */
const tokenFrom =
  (url: string): TokenSource =>
  async () => {
    const response = await fetch(url, {
      credentials: "same-origin",
      headers: { accept: "application/json, text/plain" }
    })
    if (!response.ok) throw new Error(`${url} answered with ${response.status}.`)
    const text = (await response.text()).trim()
    return text.startsWith("{") ? String((JSON.parse(text) as { readonly token?: unknown }).token) : text
  }

/** The place is stored for the tab, so that the site's next page continues the conversation. */
const KEY = "max-place"
const address: Address = {
  read: () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? undefined
    } catch {
      return undefined
    }
  },
  write: (place) => {
    try {
      if (place === undefined) sessionStorage.removeItem(KEY)
      else sessionStorage.setItem(KEY, JSON.stringify(place))
    } catch {
      // Without storage every page begins an empty conversation.
    }
  }
}

class MaxChat extends HTMLElement {
  #source: TokenSource | undefined
  #last: Promise<string | undefined> | undefined
  #chat: Chat | undefined

  get token(): TokenSource | undefined {
    return this.#source
  }

  /** Returns a token; called again after a 401. */
  set token(source: TokenSource | undefined) {
    this.#source = source
    this.#last = undefined
    if (this.#chat?.access.peek() === "signed out") void this.#chat.start()
  }

  connectedCallback(): void {
    if (this.#chat !== undefined) return
    // The site may have set the property before this script defined the element.
    if (Object.hasOwn(this, "token")) {
      const { token } = this
      delete (this as { token?: unknown }).token
      this.#source = token
    }
    const root = this.attachShadow({ mode: "open" })
    root.adoptedStyleSheets = [styles]
    const chat = (this.#chat = new Chat({ base, token: (fresh) => this.#token(fresh) }, address, () =>
      Promise.resolve({ Figures, Inbox })
    ))
    const signIn = <NoToken chat={chat} />
    this.style.setProperty("--site-font", getComputedStyle(this.parentElement ?? document.body).fontFamily)
    if (this.hasAttribute("floating")) {
      // No request is sent until the panel is opened.
      render(<Floating chat={chat} signIn={signIn} />, root)
    } else {
      void chat.start()
      render(<App chat={chat} signIn={signIn} />, root)
    }
  }

  #token(fresh: boolean): Promise<string | undefined> {
    if (fresh || this.#last === undefined) this.#last = this.#fetchToken().catch(() => undefined)
    return this.#last
  }

  async #fetchToken(): Promise<string | undefined> {
    const url = this.getAttribute("token-from")
    const source = this.#source ?? (url === null ? undefined : tokenFrom(url))
    return source?.()
  }
}

if (customElements.get("max-chat") === undefined) customElements.define("max-chat", MaxChat)

/** Creates the element for a script tag with `data-token-from`. */
const mount = () => {
  const { into, tokenFrom: url } = script?.dataset ?? {}
  if (url === undefined) return
  const element = document.createElement("max-chat")
  element.setAttribute("token-from", url)
  const place = into === undefined ? document.body : document.querySelector(into)
  if (into === undefined) element.setAttribute("floating", "")
  place?.append(element)
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", mount)
else mount()
