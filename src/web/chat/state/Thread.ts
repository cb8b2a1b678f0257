/** The turns of the open conversation. */
import { computed, type Signal, signal } from "@preact/signals"
import type { Conversation } from "../../../wire/conversations.ts"
import { fromStored, type Turn } from "./Turn.ts"

/** Turns per request. */
const PAGE = 24

export class Thread {
  readonly turns: Signal<ReadonlyArray<Turn>> = signal([])
  readonly hasEarlier = computed(() => (this.turns.value[0]?.position.value ?? 1) > 1)
  readonly #get: (path: string) => Promise<Conversation>

  constructor(get: (path: string) => Promise<Conversation>) {
    this.#get = get
  }

  /** The latest stored turns of a conversation, or those before a position. */
  async stored(conversation: string, before?: number): Promise<ReadonlyArray<Turn>> {
    const from = before === undefined ? "" : `&before=${before}`
    return fromStored((await this.#get(`/v1/conversations/${conversation}?limit=${PAGE}${from}`)).turns)
  }

  async loadEarlier(conversation: string, isOpen: () => boolean): Promise<void> {
    const before = this.turns.value[0]?.position.value
    if (before === undefined || before <= 1) return
    const turns = await this.stored(conversation, before)
    if (isOpen() && this.turns.value[0]?.position.value === before) this.turns.value = [...turns, ...this.turns.value]
  }

  /** Removes a turn and all later ones; answers those that are stored. */
  dropFrom(turn: Turn | undefined): ReadonlyArray<Turn> {
    const turns = this.turns.value
    const index = turn === undefined ? -1 : turns.indexOf(turn)
    if (index < 0) return []
    this.turns.value = turns.slice(0, index)
    return turns.slice(index).filter(({ position }) => position.value !== undefined)
  }

  /** Adds a turn, instead of those that failed. */
  add(turn: Turn): void {
    this.turns.value = [...this.turns.value.filter(({ phase }) => phase.value !== "failed"), turn]
  }

  /** Removes a failed turn and restores the turns that it would have replaced. */
  restore(turn: Turn): void {
    this.turns.value = [...this.turns.value.filter((one) => one !== turn), ...turn.replaces]
  }
}
