/** The list of conversations: a page at a time, searched by the server, with what is being answered right now. */
import { type Signal, signal } from "@preact/signals"
import type { Request } from "../../shared/api.ts"
import type { ConversationSummary, HeldTurn } from "../wire.ts"

interface Page {
  readonly conversations: ReadonlyArray<ConversationSummary>
  readonly next?: string
}

export class History {
  readonly conversations: Signal<ReadonlyArray<ConversationSummary>> = signal([])
  /** Turns that begin a conversation and are being answered, here or on another device. */
  readonly running: Signal<ReadonlyArray<HeldTurn>> = signal([])
  readonly search = signal("")
  readonly state: Signal<"loading" | "ready" | "failed"> = signal("loading")
  readonly next: Signal<string | undefined> = signal(undefined)
  readonly #request: Request
  #latest = 0

  constructor(request: Request) {
    this.#request = request
  }

  async #page(after?: string): Promise<Page> {
    const asked = new URLSearchParams({ limit: "100" })
    if (this.search.value.trim() !== "") asked.set("search", this.search.value.trim())
    if (after !== undefined) asked.set("after", after)
    return (await this.#request("GET", `/v1/conversations?${asked}`)).json() as Promise<Page>
  }

  /** Fetches the beginning of the list; what is asked later wins. */
  async load(): Promise<void> {
    const mine = (this.#latest += 1)
    try {
      const [page, running] = await Promise.all([
        this.#page(),
        this.#request("GET", "/v1/chat").then(
          (response) => response.json() as Promise<{ turns: ReadonlyArray<HeldTurn> }>
        )
      ])
      if (mine !== this.#latest) return
      this.conversations.value = page.conversations
      this.next.value = page.next
      this.running.value = running.turns.filter(
        ({ answering, conversation }) => answering && conversation === undefined
      )
      this.state.value = "ready"
    } catch {
      if (mine === this.#latest) this.state.value = "failed"
    }
  }

  async more(): Promise<void> {
    const after = this.next.value
    if (after === undefined) return
    const mine = this.#latest
    this.next.value = undefined
    const page = await this.#page(after).catch(() => undefined)
    if (mine !== this.#latest) return
    if (page === undefined) {
      this.next.value = after
      return
    }
    const known = new Set(this.conversations.value.map(({ id }) => id))
    this.conversations.value = [...this.conversations.value, ...page.conversations.filter(({ id }) => !known.has(id))]
    this.next.value = page.next
  }

  find(words: string): void {
    this.search.value = words
    const mine = (this.#latest += 1)
    setTimeout(() => mine === this.#latest && void this.load(), 150)
  }

  forget(id: string): void {
    this.conversations.value = this.conversations.value.filter((one) => one.id !== id)
  }

  clear(): void {
    this.#latest += 1
    this.conversations.value = []
    this.running.value = []
    this.search.value = ""
    this.next.value = undefined
    this.state.value = "loading"
  }
}
