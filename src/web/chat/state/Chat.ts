/** The state and the actions of the chat: access, the open conversation, and the running turn. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { FunctionComponent } from "preact"
import type { NamedTurn, NamedTurns, Say, Welcome } from "../../../wire/chat.ts"
import type { RequestedForm } from "../../../wire/TurnEvent.ts"
import type { ConversationSummary, ShownFigures } from "../../../wire/conversations.ts"
import { type Connection, Problem, type Request, requestOver } from "../../shared/api.ts"
import type { Session } from "../../../wire/session.ts"
import { applyEvents, failureOfProblem } from "./applyEvents.ts"
import { Drafts } from "./Drafts.ts"
import { Greeting } from "./Greeting.ts"
import { History } from "./History.ts"
import { Inbox } from "./Inbox.ts"
import { listen } from "./listen.ts"
import type { Address, Place } from "./place.ts"
import { retrying } from "./retrying.ts"
import { Thread } from "./Thread.ts"
import { type Failure, newTurn, type Turn } from "./Turn.ts"

/** Parts of the page that are loaded when they are first needed; without forms inside another site. */
export interface Parts {
  readonly Figures: FunctionComponent<{ readonly figures: ShownFigures }>
  readonly Inbox: FunctionComponent<{ readonly chat: Chat }>
  readonly Actions?: FunctionComponent<{ readonly chat: Chat; readonly id: string }>
  readonly Entity?: FunctionComponent<{ readonly chat: Chat; readonly handle: string }>
}

export type Access = "unknown" | "signed in" | "signed out" | "unreachable"

interface Running {
  readonly name: string
  readonly turn: Turn
  readonly listening: AbortController
}

export class Chat {
  readonly access: Signal<Access> = signal("unknown")
  readonly welcome: ReadonlySignal<Welcome | undefined>
  readonly history: History
  readonly drafts: Drafts
  readonly inbox: Inbox
  /** Whether the credential may decide on changes; without it the page links to one that may. */
  readonly mayConfirm = signal(false)
  /** Whether the credential may save what the person sees as files. */
  readonly mayExport = signal(false)
  readonly place: Signal<Place> = signal(undefined)
  readonly turns: Signal<ReadonlyArray<Turn>>
  /** Whether the open conversation is being loaded. */
  readonly loading = signal(false)
  /** Why the open conversation couldn't be loaded. */
  readonly failure: Signal<Failure | undefined> = signal(undefined)
  readonly running: Signal<Running | undefined> = signal(undefined)
  /** The text of the live region, which screen readers announce. */
  readonly status = signal("")
  readonly draft: Signal<string>
  /** Whether the session ended by itself. */
  readonly ended = signal(false)
  readonly conversation: ReadonlySignal<string | undefined> = computed(() => {
    const place = this.place.value
    return place !== undefined && "conversation" in place ? place.conversation : undefined
  })
  readonly thread: Thread
  /** The values that a conversation has for the form that is opened next. */
  prefilled: RequestedForm | undefined
  readonly loadParts: () => Promise<Parts>

  readonly request: Request
  readonly #address: Address
  readonly #base: string
  /** The message of the last turn that got no answer because the server couldn't be reached. */
  #unsent: { readonly name: string; readonly turn: Turn; readonly say: Say | undefined } | undefined
  readonly #greeting: Greeting
  /** Tries to reach the server again, and then does what has failed. */
  readonly #recovery = retrying(() => this.#recover())

  /** False inside another site, which controls the theme and the sign-in. */
  readonly isOwnPage: boolean

  constructor(connection: Connection, address: Address, loadParts: () => Promise<Parts>) {
    this.loadParts = loadParts
    this.isOwnPage = connection.base === ""
    const request = requestOver(connection)
    this.#address = address
    this.request = async (...call) => {
      try {
        return await request(...call)
      } catch (error) {
        if (error instanceof Problem && error.status === 401) this.#end()
        throw error
      }
    }
    this.thread = new Thread((path) => this.#get(path))
    this.turns = this.thread.turns
    this.#greeting = new Greeting((path) => this.#get(path), this.isOwnPage)
    this.welcome = this.#greeting.welcome
    this.draft = this.#greeting.draft
    this.history = new History(this.request)
    this.drafts = new Drafts(this.request)
    this.inbox = new Inbox(this.request, this.drafts)
    this.#base = connection.base
    effect(() => {
      const isAway =
        this.access.value === "unreachable" ||
        (this.access.value === "signed in" &&
          (this.history.state.value === "failed" ||
            this.failure.value?.isUnreachable === true ||
            this.turns.value.at(-1)?.failure.value?.isUnreachable === true))
      if (isAway) this.#recovery.after(1000)
      else this.#recovery.stop()
    })
    addEventListener("online", () => {
      if (this.#recovery.isWaiting()) this.#recovery.after(0)
    })
  }

  /** After the end of a session the page keeps what was typed, and nothing that the next person could read. */
  #end(): void {
    batch(() => {
      if (this.access.value === "signed in") {
        this.#greeting.end()
        this.ended.value = true
        this.prefilled = undefined
        this.drafts.switch(false)
        this.history.clear()
      }
      this.access.value = "signed out"
    })
  }

  async #recover(): Promise<void> {
    await this.request("GET", "/v1/session")
    if (this.access.value === "unreachable") return this.start()
    if (this.welcome.value === undefined) this.#greeting.load()
    if (this.history.state.value === "failed") void this.history.load()
    if (this.failure.value?.isUnreachable === true) return this.goTo(this.place.value, true)
    const unsent = this.#unsent
    if (unsent === undefined || this.turns.value.at(-1) !== unsent.turn || this.running.value !== undefined) return
    // The server may have received the question before the connection broke.
    const known = (await this.#namedTurns()).some(({ turn }) => turn === unsent.name)
    const { asked, replaces } = unsent.turn
    this.turns.value = this.turns.value.slice(0, -1)
    await this.#follow(unsent.name, newTurn(asked, replaces), known ? undefined : unsent.say)
  }

  async #get<A>(path: string): Promise<A> {
    return (await this.request("GET", path)).json() as Promise<A>
  }

  /** Checks the session, then opens the place that the address names. */
  async start(): Promise<void> {
    try {
      const { scopes } = await this.#get<Session>("/v1/session")
      this.mayConfirm.value = scopes.includes("confirm")
      this.mayExport.value = scopes.includes("export")
      this.drafts.switch(scopes.includes("changes"))
    } catch (error) {
      const problem = error instanceof Problem ? error : undefined
      if (problem?.status !== 401) this.access.value = problem?.status === 0 ? "unreachable" : "signed out"
      return
    }
    this.access.value = "signed in"
    this.ended.value = false
    void this.history.load()
    this.#greeting.load()
    await this.goTo(this.#address.read(), true)
  }

  /** Clears all data from the page. */
  #clear(access: Access): void {
    this.running.value?.listening.abort()
    batch(() => {
      this.access.value = access
      this.ended.value = false
      this.#greeting.clear()
      this.prefilled = undefined
      this.running.value = undefined
      this.turns.value = []
      this.drafts.switch(false)
      this.history.clear()
      this.#setPlace(undefined)
    })
  }

  #setPlace(place: Place, isNew = false): void {
    this.place.value = place
    this.#address.write(place, isNew)
  }

  /** Opens a conversation, a running turn, or an empty page. */
  async goTo(place: Place, force = false): Promise<void> {
    const here = this.place.value
    if (!force && JSON.stringify(place) === JSON.stringify(here)) return
    // A running turn continues on the server; the list offers to resume it.
    this.running.value?.listening.abort()
    batch(() => {
      this.running.value = undefined
      this.failure.value = undefined
      this.turns.value = []
      this.#setPlace(place, !force)
    })
    if (place !== undefined && "inbox" in place) return this.inbox.open()
    void this.drafts.open(this.conversation.value)
    if (place === undefined || "action" in place || "entity" in place) return
    if ("turn" in place) return this.#resume(place.turn)
    this.loading.value = true
    if ("change" in place) return this.#openChange(place)
    try {
      const [turns, named] = await Promise.all([this.thread.stored(place.conversation), this.#namedTurns()])
      if (this.conversation.value !== place.conversation) return
      batch(() => {
        this.turns.value = turns
        this.loading.value = false
      })
      const unfinished = named.find(({ answering, conversation }) => answering && conversation === place.conversation)
      if (unfinished !== undefined) void this.#replay(unfinished)
    } catch (error) {
      if (this.conversation.value !== place.conversation) return
      this.failure.value = failureOfProblem(error)
    } finally {
      this.loading.value = false
    }
  }

  async #openChange(place: { readonly change: string }): Promise<void> {
    try {
      await this.drafts.openOne(place.change)
    } catch (error) {
      if (this.place.value === place) this.failure.value = failureOfProblem(error)
    } finally {
      this.loading.value = false
    }
  }

  /** The address of a place on Max's own page. */
  linkTo({ change }: { readonly change: string }): string {
    return `${this.#base}/inbox/${change}`
  }

  async #resume(name: string): Promise<void> {
    const named = (await this.#namedTurns().catch(() => [])).find(({ turn }) => turn === name)
    return named === undefined ? this.goTo(undefined, true) : this.#replay(named)
  }

  async #namedTurns(): Promise<ReadonlyArray<NamedTurn>> {
    return (await this.#get<NamedTurns>("/v1/chat")).turns
  }

  /** Shows all events of a turn that was started earlier, on this or another device. */
  async #replay({ after, asked, choice, turn }: NamedTurn): Promise<void> {
    const before =
      after === undefined ? this.turns.value : this.turns.value.filter((one) => (one.position.value ?? 0) <= after)
    const chosen = before.at(-1)?.choices.value.find(({ handle }) => handle === choice)
    const replaced = this.turns.value.slice(before.length)
    this.turns.value = before
    await this.#follow(turn, newTurn(asked ?? chosen?.name ?? "Your choice", replaced))
  }

  async loadEarlier(): Promise<void> {
    const conversation = this.conversation.value
    if (conversation === undefined) return
    return this.thread.loadEarlier(conversation, () => this.conversation.value === conversation)
  }

  /** Asks a question, or sends a choice; the answer replaces the turn `instead` and all later turns. */
  async say(
    words: string,
    say: { readonly text: string } | { readonly choice: string } = { text: words },
    instead?: Turn
  ): Promise<void> {
    if (this.running.value !== undefined) return
    const replaced = this.thread.dropFrom(instead)
    const turn = newTurn(words, replaced)
    const name = crypto.getRandomValues(new Uint32Array(3)).reduce((text, part) => text + part.toString(36), "t")
    const conversation = this.conversation.value
    const after = replaced.length === 0 ? undefined : replaced[0]!.position.value! - 1
    const { value: place } = this.place
    if (place !== undefined && "inbox" in place) void this.drafts.open(undefined)
    if (conversation === undefined) this.#setPlace({ turn: name }, true)
    await this.#follow(name, turn, {
      ...say,
      turn: name,
      ...(conversation === undefined ? {} : { conversation }),
      ...(after === undefined ? {} : { after })
    })
  }

  async #follow(name: string, turn: Turn, say?: Say): Promise<void> {
    const listening = new AbortController()
    const running = { name, turn, listening }
    const isCurrent = () => this.running.value === running
    const apply = applyEvents(turn)
    batch(() => {
      this.thread.add(turn)
      this.running.value = running
      this.status.value = "Max is looking it up."
    })
    try {
      for await (const event of listen(this.request, name, say, listening.signal)) {
        if (!isCurrent()) return
        apply(event)
        if (event._tag === "tool") this.status.value = event.message
        if (event._tag === "done") {
          turn.position.value = (this.turns.value.at(-2)?.position.value ?? 0) + 1
          this.#setPlace({ conversation: event.session })
          void this.drafts.open(event.session)
          this.status.value = "Max has answered."
        }
        if (event._tag === "error") this.status.value = event.message
      }
    } catch (error) {
      if (!isCurrent() || listening.signal.aborted) return
      batch(() => {
        turn.failure.value = failureOfProblem(error)
        turn.phase.value = "failed"
        if (this.ended.value && say !== undefined && "text" in say) this.#greeting.keep(say.text)
        if (turn.failure.value.isUnreachable) this.#unsent = { name, turn, say }
        this.status.value = turn.failure.value.title
      })
    }
    if (!isCurrent()) return
    this.running.value = undefined
    if (turn.phase.value !== "answered" && this.conversation.value === undefined) this.#setPlace(undefined)
    void this.history.load()
  }

  /** Stops the running turn. */
  async stop(): Promise<void> {
    const running = this.running.value
    if (running === undefined) return
    this.status.value = "Stopped."
    // The event stream reports the stop; a turn that has ended already can't be stopped.
    await this.request("DELETE", `/v1/chat/${running.name}`).catch(() => {})
  }

  async remove({ id }: ConversationSummary): Promise<void> {
    await this.request("DELETE", `/v1/conversations/${id}`)
    this.history.forget(id)
    if (this.conversation.value === id) await this.goTo(undefined)
  }

  async signOut(): Promise<void> {
    await this.request("DELETE", "/v1/session").catch(() => {})
    this.#clear("signed out")
  }
}
