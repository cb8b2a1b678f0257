/** The list of conversations, paged and searched by the server, with the turns that are being answered. */
import { type Signal, signal } from "@preact/signals"
import type { NamedTurn, NamedTurns } from "../../../wire/chat.ts"
import type { ConversationPage, ConversationSummary } from "../../../wire/conversations.ts"
import type { Request } from "../../shared/api.ts"

export class History {
  readonly conversations: Signal<ReadonlyArray<ConversationSummary>> = signal([])
  /** Turns in progress that begin a new conversation, on this or another device. */
  readonly running: Signal<ReadonlyArray<NamedTurn>> = signal([])
  readonly search = signal("")
  readonly state: Signal<"loading" | "ready" | "failed"> = signal("loading")
  readonly next: Signal<string | undefined> = signal(undefined)
  readonly #request: Request
  #latest = 0

  constructor(request: Request) {
    this.#request = request
  }

  async #page(after?: string): Promise<ConversationPage> {
    const query = new URLSearchParams({ limit: "100" })
    if (this.search.value.trim() !== "") query.set("search", this.search.value.trim())
    if (after !== undefined) query.set("after", after)
    return (await this.#request("GET", `/v1/conversations?${query}`)).json() as Promise<ConversationPage>
  }

  /** Loads the first page; a response is ignored after a later request. */
  async load(): Promise<void> {
    const current = (this.#latest += 1)
    try {
      const [page, running] = await Promise.all([
        this.#page(),
        this.#request("GET", "/v1/chat").then((response) => response.json() as Promise<NamedTurns>)
      ])
      if (current !== this.#latest) return
      this.conversations.value = page.conversations
      this.next.value = page.next
      this.running.value = running.turns.filter(
        ({ answering, conversation }) => answering && conversation === undefined
      )
      this.state.value = "ready"
    } catch {
      if (current === this.#latest) this.state.value = "failed"
    }
  }

  async more(): Promise<void> {
    const after = this.next.value
    if (after === undefined) return
    const current = this.#latest
    this.next.value = undefined
    const page = await this.#page(after).catch(() => undefined)
    if (current !== this.#latest) return
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
    const current = (this.#latest += 1)
    setTimeout(() => current === this.#latest && void this.load(), 150)
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
