/** The welcome, with example questions and the person's name, and the field of the question, which belongs to that person. */
import { batch, type Signal, signal } from "@preact/signals"
import type { Welcome } from "../../../wire/chat.ts"
import { Kept } from "./Kept.ts"
import { retrying } from "./retrying.ts"

export class Greeting {
  readonly welcome: Signal<Welcome | undefined> = signal(undefined)
  readonly draft = signal("")
  readonly #kept: Kept
  /** The person whose session ended. */
  #last: Welcome | undefined
  readonly #loading

  constructor(get: (path: string) => Promise<Welcome>, isStored: boolean) {
    this.#kept = new Kept(isStored)
    this.#loading = retrying(async (isCurrent) => {
      const welcome = await get("/v1/welcome")
      if (!isCurrent()) return
      const kept = this.#kept.take(welcome)
      batch(() => {
        this.welcome.value = welcome
        if (this.draft.value === "") this.draft.value = kept
      })
    })
  }

  /** Asks for the welcome until the server answers. */
  load(): void {
    this.#loading.after(0)
  }

  /** Keeps a question that got no answer because the session ended. */
  keep(question: string): void {
    this.#kept.put(question, this.#last)
  }

  /** After the end of a session, what was typed is kept for the same person. */
  end(): void {
    this.#last = this.welcome.value
    this.keep(this.draft.value)
    this.#empty()
  }

  clear(): void {
    this.#kept.take()
    this.#empty()
  }

  #empty(): void {
    this.#loading.stop()
    this.draft.value = ""
    this.welcome.value = undefined
  }
}
