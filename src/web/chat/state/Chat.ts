/** Everything the page knows and can do: who is here, the conversation that is open, and what is being answered. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { type Connection, Problem, type Request, requestOver } from "../../shared/api.ts"
import type { ConversationSummary, KeptTurn, HeldTurn, Say, Welcome } from "../wire.ts"
import { answering, failureOfProblem } from "./answering.ts"
import { History } from "./History.ts"
import { listen } from "./listen.ts"
import { type Failure, keptTurns, newTurn, type Turn } from "./Turn.ts"

/** Where the page is: at a conversation, at a turn that begins one, or at the beginning. */
export type Place = { readonly conversation: string } | { readonly turn: string } | undefined

/** Where the page's place is kept, so that a reload comes back to it. */
export interface Address {
  readonly read: () => Place
  /** Whether it is somewhere else now, so that one can go back, or the same place under another name. */
  readonly write: (place: Place, isNew: boolean) => void
}

export type Access = "unknown" | "in" | "out" | "unreachable"

/** Turns that are loaded at once. */
const PAGE = 24

interface Running {
  readonly name: string
  readonly turn: Turn
  readonly listening: AbortController
}

export class Chat {
  readonly access: Signal<Access> = signal("unknown")
  readonly welcome: Signal<Welcome | undefined> = signal(undefined)
  readonly history: History
  readonly place: Signal<Place> = signal(undefined)
  readonly turns: Signal<ReadonlyArray<Turn>> = signal([])
  /** Whether the open conversation is being fetched. */
  readonly opening = signal(false)
  /** Why the open conversation can't be shown. */
  readonly trouble: Signal<Failure | undefined> = signal(undefined)
  readonly running: Signal<Running | undefined> = signal(undefined)
  /** Said to whoever doesn't look at the screen. */
  readonly status = signal("")
  readonly draft = signal("")
  readonly conversation: ReadonlySignal<string | undefined> = computed(() => {
    const place = this.place.value
    return place !== undefined && "conversation" in place ? place.conversation : undefined
  })
  readonly hasEarlier = computed(() => (this.turns.value[0]?.position.value ?? 1) > 1)

  readonly request: Request
  readonly #address: Address

  /** Whether the page stands by itself: in another site its colours and who is signed in are the site's business. */
  readonly isOwnPage: boolean

  constructor(connection: Connection, address: Address) {
    this.isOwnPage = connection.base === ""
    const request = requestOver(connection)
    this.#address = address
    this.request = async (...call) => {
      try {
        return await request(...call)
      } catch (error) {
        if (error instanceof Problem && error.status === 401) this.access.value = "out"
        throw error
      }
    }
    this.history = new History(this.request)
  }

  async #get<A>(path: string): Promise<A> {
    return (await this.request("GET", path)).json() as Promise<A>
  }

  /** Finds out who is here and goes on where the address says. */
  async begin(): Promise<void> {
    try {
      await this.request("GET", "/v1/session")
    } catch (error) {
      const problem = error instanceof Problem ? error : undefined
      if (problem?.status !== 401) this.access.value = problem?.status === 0 ? "unreachable" : "out"
      return
    }
    this.access.value = "in"
    void this.history.load()
    void this.#get<Welcome>("/v1/welcome").then(
      (welcome) => (this.welcome.value = welcome),
      () => {}
    )
    await this.goTo(this.#address.read(), true)
  }

  /** Forgets everything that was shown. */
  leave(access: Access): void {
    this.running.value?.listening.abort()
    batch(() => {
      this.access.value = access
      this.welcome.value = undefined
      this.running.value = undefined
      this.turns.value = []
      this.history.clear()
      this.#settle(undefined)
    })
  }

  #settle(place: Place, isNew = false): void {
    this.place.value = place
    this.#address.write(place, isNew)
  }

  /** Opens a conversation, a turn that is being answered, or a new page. */
  async goTo(place: Place, force = false): Promise<void> {
    const here = this.place.value
    if (!force && JSON.stringify(place) === JSON.stringify(here)) return
    // What is being answered goes on by itself and is listened to again from the list.
    this.running.value?.listening.abort()
    batch(() => {
      this.running.value = undefined
      this.trouble.value = undefined
      this.turns.value = []
      this.#settle(place, !force)
    })
    if (place === undefined) return
    if ("turn" in place) return this.#resume(place.turn)
    this.opening.value = true
    try {
      const [{ turns }, held] = await Promise.all([
        this.#get<{ readonly turns: ReadonlyArray<KeptTurn> }>(`/v1/conversations/${place.conversation}?limit=${PAGE}`),
        this.#held()
      ])
      if (this.conversation.value !== place.conversation) return
      batch(() => {
        this.turns.value = keptTurns(turns)
        this.opening.value = false
      })
      const going = held.find(({ answering: goes, conversation }) => goes && conversation === place.conversation)
      if (going !== undefined) void this.#listenAgain(going)
    } catch (error) {
      if (this.conversation.value !== place.conversation) return
      this.trouble.value = failureOfProblem(error)
    } finally {
      this.opening.value = false
    }
  }

  async #resume(name: string): Promise<void> {
    const found = (await this.#held().catch(() => [])).find(({ turn }) => turn === name)
    return found === undefined ? this.goTo(undefined, true) : this.#listenAgain(found)
  }

  async #held(): Promise<ReadonlyArray<HeldTurn>> {
    return (await this.#get<{ readonly turns: ReadonlyArray<HeldTurn> }>("/v1/chat")).turns
  }

  /** Listens from its beginning to a turn that has begun before, here or on another device. */
  async #listenAgain({ after, asked, choice, turn }: HeldTurn): Promise<void> {
    const before =
      after === undefined ? this.turns.value : this.turns.value.filter((one) => (one.position.value ?? 0) <= after)
    const chosen = before.at(-1)?.choices.value.find(({ handle }) => handle === choice)
    const replaced = this.turns.value.slice(before.length)
    this.turns.value = before
    await this.#follow(turn, newTurn(asked ?? chosen?.name ?? "Your choice", replaced))
  }

  async loadEarlier(): Promise<void> {
    const conversation = this.conversation.value
    const before = this.turns.value[0]?.position.value
    if (conversation === undefined || before === undefined || before <= 1) return
    const { turns } = await this.#get<{ readonly turns: ReadonlyArray<KeptTurn> }>(
      `/v1/conversations/${conversation}?limit=${PAGE}&before=${before}`
    )
    if (this.conversation.value !== conversation || this.turns.value[0]?.position.value !== before) return
    this.turns.value = [...keptTurns(turns), ...this.turns.value]
  }

  /** Asks something; from `instead` on, what was asked before makes room for it once there is an answer. */
  async say(words: string, say: Say = { text: words }, instead?: Turn): Promise<void> {
    if (this.running.value !== undefined) return
    const index = instead === undefined ? -1 : this.turns.value.indexOf(instead)
    const stays = index < 0 ? this.turns.value : this.turns.value.slice(0, index)
    const dropped = index < 0 ? [] : this.turns.value.slice(index)
    const replaced = dropped.filter(({ position }) => position.value !== undefined)
    const turn = newTurn(words, replaced)
    const name = crypto.getRandomValues(new Uint32Array(3)).reduce((text, part) => text + part.toString(36), "t")
    const conversation = this.conversation.value
    const after = replaced.length === 0 ? undefined : replaced[0]!.position.value! - 1
    this.turns.value = stays
    if (conversation === undefined) this.#settle({ turn: name }, true)
    await this.#follow(name, turn, { turn: name, conversation, after, say })
  }

  async #follow(name: string, turn: Turn, saying?: Parameters<typeof listen>[2]): Promise<void> {
    const listening = new AbortController()
    const running = { name, turn, listening }
    const isHere = () => this.running.value === running
    const hear = answering(turn)
    batch(() => {
      this.turns.value = [...this.turns.value.filter(({ phase }) => phase.value !== "failed"), turn]
      this.running.value = running
      this.status.value = "Max is looking."
    })
    try {
      for await (const event of listen(this.request, name, saying, listening.signal)) {
        if (!isHere()) return
        hear(event)
        if (event._tag === "tool") this.status.value = event.message
        if (event._tag === "done") {
          turn.position.value = (this.turns.value.at(-2)?.position.value ?? 0) + 1
          this.#settle({ conversation: event.session })
          this.status.value = "Max has answered."
        }
        if (event._tag === "error") this.status.value = event.message
      }
    } catch (error) {
      if (!isHere() || listening.signal.aborted) return
      batch(() => {
        turn.failure.value = failureOfProblem(error)
        turn.phase.value = "failed"
        this.status.value = turn.failure.value.title
      })
    }
    if (!isHere()) return
    this.running.value = undefined
    if (turn.phase.value !== "answered" && this.conversation.value === undefined) this.#settle(undefined)
    void this.history.load()
  }

  /** Ends what is being answered. */
  async stop(): Promise<void> {
    const running = this.running.value
    if (running === undefined) return
    this.status.value = "Stopped."
    // The turn says itself that it was stopped; when it is over already, there is nothing to stop.
    await this.request("DELETE", `/v1/chat/${running.name}`).catch(() => {})
  }

  /** Shows again what stood where something was asked again in vain. */
  putBack(turn: Turn): void {
    this.turns.value = [...this.turns.value.filter((one) => one !== turn), ...turn.replaces]
  }

  async remove({ id }: ConversationSummary): Promise<void> {
    await this.request("DELETE", `/v1/conversations/${id}`)
    this.history.forget(id)
    if (this.conversation.value === id) await this.goTo(undefined)
  }

  async signOut(): Promise<void> {
    await this.request("DELETE", "/v1/session").catch(() => {})
    this.leave("out")
  }
}
