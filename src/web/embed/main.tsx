/**
 * The chat as a part of another site, by one script tag (docs/chat-page.md). It lives in a shadow root, so that neither
 * site's styles touch the other's, and asks its own server with a token that the site gives.
 */
import "./embed.css"
import { render } from "preact"
import { type Address, Chat } from "../chat/state/Chat.ts"
import { App } from "../chat/view/App.tsx"
import { Floating } from "./Floating.tsx"
import { Outside } from "./Outside.tsx"

/** What the styles came to when this was built. */
declare const __STYLES__: string

type TokenSource = () => string | Promise<string>

const script = document.currentScript as HTMLScriptElement | null
const base = new URL(script?.src ?? location.href).origin

const styles = new CSSStyleSheet()
styles.replaceSync(__STYLES__)

/** Asks the site's own server, with the site's own cookies: it knows who is there. */
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

/** The place is kept while the tab is open, so that the next page of the site goes on. */
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
      // A site that may keep nothing begins anew on every page.
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

  /** Gives a token; called again when one isn't good any more. */
  set token(source: TokenSource | undefined) {
    this.#source = source
    this.#last = undefined
    if (this.#chat?.access.peek() === "out") void this.#chat.begin()
  }

  connectedCallback(): void {
    if (this.#chat !== undefined) return
    // A site may have said it before this script was there.
    if (Object.hasOwn(this, "token")) {
      const given = this.token
      delete (this as { token?: unknown }).token
      this.#source = given
    }
    const root = this.attachShadow({ mode: "open" })
    root.adoptedStyleSheets = [styles]
    const chat = (this.#chat = new Chat({ base, token: (fresh) => this.#token(fresh) }, address))
    const outside = <Outside chat={chat} />
    this.style.setProperty("--site-font", getComputedStyle(this.parentElement ?? document.body).fontFamily)
    if (this.hasAttribute("floating")) {
      // Nothing is asked before somebody wants something.
      render(<Floating chat={chat} outside={outside} />, root)
    } else {
      void chat.begin()
      render(<App chat={chat} outside={outside} />, root)
    }
  }

  #token(fresh: boolean): Promise<string | undefined> {
    if (fresh || this.#last === undefined) this.#last = this.#ask().catch(() => undefined)
    return this.#last
  }

  async #ask(): Promise<string | undefined> {
    const url = this.getAttribute("token-from")
    const source = this.#source ?? (url === null ? undefined : tokenFrom(url))
    return source?.()
  }
}

if (customElements.get("max-chat") === undefined) customElements.define("max-chat", MaxChat)

/** The script tag alone is enough: it says where tokens come from, and where the chat goes. */
const begin = () => {
  const { into, tokenFrom: url } = script?.dataset ?? {}
  if (url === undefined) return
  const element = document.createElement("max-chat")
  element.setAttribute("token-from", url)
  const place = into === undefined ? document.body : document.querySelector(into)
  if (into === undefined) element.setAttribute("floating", "")
  place?.append(element)
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin)
else begin()
