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
    let query = `list=${this.list.value}`
    for (const [name, { value }] of [
      ["type", this.type],
      ["proposer", this.person],
      ["state", this.state]
    ] as const)
      if (value !== "") query += `&${name}=${value}`
    const wanted = this.#wanted
    return this.#drafts.show(`inbox ${query}`, () => this.#find(query, wanted))
  }

  /** The newest changes of the list, page by page. */
  async #find(query: string, wanted: number): Promise<ReadonlyArray<Summary>> {
    const found: Array<Summary> = []
    let after: string | undefined
    try {
      do {
        const limit = Math.min(MAX_LISTED, wanted - found.length)
        const path: string = `/v1/changes?${query}&limit=${limit}${after === undefined ? "" : `&after=${after}`}`
        const { changes, next } = (await (await this.#request("GET", path)).json()) as ChangePage
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
      if (after === undefined && query === "list=waiting") this.#drafts.waiting.value = found.length
      this.#offer(found)
    })
    return found
  }

  #offer(found: ReadonlyArray<Summary>): void {
    const types = new Set(this.types.value)
    const people = new Map(this.people.value)
    for (const { actionIds, proposer, proposerName } of found) {
      // An action of another system has no type, and neither has the publication of a policy.
      for (const id of actionIds) if (/\.[cud]\w+$/.test(id)) types.add(id.slice(0, id.lastIndexOf(".")))
      if (proposerName !== undefined) people.set(proposer, proposerName)
    }
    this.types.value = [...types].toSorted()
    this.people.value = people
  }
}
