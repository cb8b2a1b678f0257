/**
 * The inbox: what waits for the person, what the person proposed, and what was decided. Its cards are those of `Drafts`, so a
 * decision shows wherever the change is shown.
 */
import { batch, type Signal, signal } from "@preact/signals"
import type { ChangePage } from "../../../wire/changes.ts"
import type { Request } from "../../shared/api.ts"
import type { Drafts, Summary } from "./Drafts.ts"

export type List = "waiting" | "mine" | "decided"

/** Cards to begin with, and as many more at a time. */
const CARDS = 8
/** Changes per request. */
const MAX_LISTED = 100

export class Inbox {
  readonly list: Signal<List> = signal("waiting")
  /** The filters; "" is no filter. */
  readonly type = signal("")
  readonly person = signal("")
  readonly state = signal("")
  /** The types and the other people of the changes that were listed, to choose from. */
  readonly types: Signal<ReadonlyArray<string>> = signal([])
  readonly people: Signal<ReadonlyMap<string, string>> = signal(new Map())
  readonly hasMore = signal(false)
  readonly status: Signal<"loading" | "ready" | "failed"> = signal("loading")
  readonly #drafts: Drafts
  readonly #request: Request
  #wanted = CARDS

  constructor(request: Request, drafts: Drafts) {
    this.#request = request
    this.#drafts = drafts
  }

  /** Shows a list without filters. */
  open(list: List = "waiting"): Promise<void> {
    batch(() => {
      this.list.value = list
      this.type.value = this.person.value = this.state.value = ""
      this.types.value = []
      this.people.value = new Map()
    })
    return this.filter()
  }

  /** Shows what fits the filters. */
  filter(): Promise<void> {
    this.#wanted = CARDS
    this.status.value = "loading"
    return this.#show()
  }

  more(): Promise<void> {
    this.#wanted += CARDS
    return this.#show()
  }

  #show(): Promise<void> {
    const filters = Object.entries({ type: this.type.value, proposer: this.person.value, state: this.state.value })
    const query = new URLSearchParams({ list: this.list.value })
    for (const [name, value] of filters) if (value !== "") query.set(name, value)
    const wanted = this.#wanted
    return this.#drafts.show(`inbox ${query}`, () => this.#find(query, wanted))
  }

  /** The newest changes of the list, page by page. */
  async #find(query: URLSearchParams, wanted: number): Promise<ReadonlyArray<Summary>> {
    const found: Array<Summary> = []
    let after: string | undefined
    try {
      do {
        const page = new URLSearchParams(query)
        page.set("limit", String(Math.min(MAX_LISTED, wanted - found.length)))
        if (after !== undefined) page.set("after", after)
        const { changes, next } = (await (await this.#request("GET", `/v1/changes?${page}`)).json()) as ChangePage
        // A card that was looked at again is listed as its new change.
        found.push(...changes.filter(({ replacedBy }) => replacedBy === undefined))
        after = next
      } while (after !== undefined && found.length < wanted)
    } catch (error) {
      this.status.value = "failed"
      throw error
    }
    batch(() => {
      this.status.value = "ready"
      this.hasMore.value = after !== undefined
      // The whole of what waits: the number beside the inbox is at least as fresh as the inbox.
      if (after === undefined && String(query) === "list=waiting") this.#drafts.waiting.value = found.length
      this.#offer(found)
    })
    return found.map(({ turn: _, ...summary }) => summary)
  }

  #offer(found: ReadonlyArray<Summary>): void {
    const types = found.flatMap(({ actionIds }) => actionIds.map((id) => id.slice(0, id.lastIndexOf("."))))
    const added = types.filter((type) => !this.types.value.includes(type))
    if (added.length > 0) this.types.value = [...new Set([...this.types.value, ...added])].toSorted()
    const people = found.flatMap(({ proposer, proposerName }) =>
      proposerName === undefined || this.people.value.has(proposer) ? [] : [[proposer, proposerName] as const]
    )
    if (people.length > 0) this.people.value = new Map([...this.people.value, ...people])
  }
}
