/**
 * Drafts and what came of them. The server holds their state: the page asks for it when a turn ends, when a conversation is
 * opened, when the page is looked at again, and every few seconds while a change is pending.
 */
import { batch, type Signal, signal } from "@preact/signals"
import type { Applied, ChangePage, Draft, Pending, Preview } from "../../../wire/changes.ts"
import { Problem, type Request } from "../../shared/api.ts"
import { type Card, differencesOf, endOf, isPending, newCard } from "./Card.ts"

/** Milliseconds between two looks at pending changes, and at what waits for the person. */
const LOOK_EVERY = 4000
const INBOX_EVERY = 20_000
/** What is counted of what waits. */
export const COUNTED = 20
/** Milliseconds in which nothing on the page can be pressed after a card has appeared. */
export const STILL = 700
/** Milliseconds between the two confirmations of level `twice`. */
const BETWEEN = 1100

export type Summary = ChangePage["changes"][number]
type Listing = () => Promise<ReadonlyArray<Summary>>

export class Drafts {
  /** The changes of the open conversation, of the inbox, or the one that is opened alone; in their order on the page. */
  readonly cards: Signal<ReadonlyArray<Card>> = signal([])
  /** What waits for the person, up to `COUNTED`. */
  readonly waiting = signal(0)
  /** Whether the credential may propose changes; without it the page asks for none. */
  readonly isOn = signal(false)
  /** Until then nothing can be pressed, in milliseconds of `performance.now()`. */
  stillUntil = 0
  readonly #request: Request
  /** What the cards are listed by, and its name; undefined for a change alone. */
  #listing: Listing | undefined
  #key: string | undefined
  /** Ids of changes that were decided here: their receipts stay on the list. */
  readonly #decided = new Set<string>()
  #firstYes = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(request: Request) {
    this.#request = request
    addEventListener("visibilitychange", () => {
      if (document.hidden || !this.isOn.value) return
      void this.#look()
      void this.lookAtInbox()
    })
    setInterval(() => {
      if (!document.hidden && this.isOn.value) void this.lookAtInbox()
    }, INBOX_EVERY)
  }

  switch(isOn: boolean): void {
    this.isOn.value = isOn
    if (isOn) void this.lookAtInbox()
    else this.clear()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#listing = this.#key = undefined
    this.cards.value = []
    this.waiting.value = 0
  }

  async #get<A>(path: string): Promise<A> {
    return (await this.#request("GET", path)).json() as Promise<A>
  }

  async #post<A>(id: string, what: string, body?: unknown): Promise<A | undefined> {
    const response = await this.#request("POST", `/v1/changes/${id}/${what}`, body)
    return response.status === 204 ? undefined : ((await response.json()) as A)
  }

  async lookAtInbox(): Promise<void> {
    const page = await this.#get<ChangePage>(`/v1/changes?list=waiting&limit=${COUNTED}`).catch(() => undefined)
    if (page !== undefined) this.waiting.value = page.changes.length
  }

  /** Shows the changes of a conversation, or none. */
  open(conversation: string | undefined): Promise<void> {
    return this.show(conversation, async () => {
      const path = `/v1/changes?list=mine&session=${conversation}&limit=100`
      const { changes } = await this.#get<ChangePage>(path)
      return changes.filter(({ replacedBy }) => replacedBy === undefined).toReversed()
    })
  }

  /** Shows what is listed, under a name; none without a name. */
  async show(key: string | undefined, listing: Listing): Promise<void> {
    if (key !== this.#key) {
      this.cards.value = []
      this.#decided.clear()
    }
    this.#key = key
    this.#listing = key === undefined ? undefined : listing
    if (key === undefined || !this.isOn.value) return
    await this.#look()
  }

  /** Shows one change. Fails if there is none with this id for the person. */
  async openOne(id: string): Promise<void> {
    this.#listing = this.#key = undefined
    const preview = await this.#get<Preview>(`/v1/changes/${id}`)
    this.#show([newCard(preview, undefined)])
  }

  #show(cards: ReadonlyArray<Card>): void {
    const known = this.cards.value.map(({ id }) => id)
    const isNew = cards.some((card) => !known.includes(card.id) && isPending(card.preview.value))
    const hasLeft = known.some((id) => cards.every((card) => card.id !== id))
    if (isNew || hasLeft) this.#hold()
    this.cards.value = cards
    this.#again()
  }

  /** A control that has just appeared can't be pressed by mistake, nor one that it has moved. */
  #hold(): void {
    this.stillUntil = performance.now() + STILL
  }

  #again(hasFailed = false): void {
    clearTimeout(this.#timer)
    const pending = this.cards.value.flatMap((card) => [
      card,
      ...(card.undo.value === undefined ? [] : [card.undo.value])
    ])
    // A list is looked at also while nothing on it is pending: what is decided elsewhere comes and goes.
    const isInbox = this.#key?.startsWith("inbox") === true
    if (!hasFailed && !isInbox && pending.every(({ preview }) => !isPending(preview.value))) return
    this.#timer = setTimeout(() => {
      if (document.hidden) this.#again(hasFailed)
      else void this.#look()
    }, LOOK_EVERY)
  }

  /** Asks for the state of what is shown. Previews are fetched only where the state differs: each look at one is recorded. */
  async #look(): Promise<void> {
    const listing = this.#listing
    let hasFailed = false
    try {
      if (listing === undefined) {
        for (const card of this.cards.value) if (isPending(card.preview.value)) await this.#refresh(card)
      } else {
        const listed = await listing()
        const kept = this.cards.value.filter(
          ({ id }) => this.#decided.has(id) && listed.every(({ changeId }) => changeId !== id)
        )
        for (const card of kept) if (isPending(card.preview.value) && !card.busy.value) await this.#refresh(card)
        const cards: Array<Card> = []
        for (const { changeId, state, turn } of listed) {
          const known = this.cards.value.find(({ id }) => id === changeId)
          if (known === undefined) cards.push(newCard(await this.#get<Preview>(`/v1/changes/${changeId}`), turn))
          else {
            if (known.preview.value.state !== state && !known.busy.value) await this.#refresh(known)
            cards.push(known)
          }
        }
        if (this.#listing === listing) this.#show(this.#withKept(cards, kept))
      }
    } catch {
      // What is shown stays, and the next look may succeed.
      hasFailed = true
    }
    this.#again(hasFailed)
  }

  /** Receipts of what was decided here stay where they were: before the card that followed them. */
  #withKept(cards: ReadonlyArray<Card>, kept: ReadonlyArray<Card>): ReadonlyArray<Card> {
    const shown = [...cards]
    for (const card of kept.toReversed()) {
      const following = this.cards.value.slice(this.cards.value.indexOf(card) + 1)
      const next = shown.findIndex((one) => following.includes(one))
      shown.splice(next < 0 ? shown.length : next, 0, card)
    }
    return shown
  }

  async #refresh(card: Card): Promise<void> {
    const preview = await this.#get<Preview>(`/v1/changes/${card.id}`)
    batch(() => {
      if (preview.state !== card.preview.value.state) card.problem.value = undefined
      card.preview.value = preview
      card.endsAt.value = endOf(preview)
    })
  }

  /** Does something with a card, then shows its state; a refusal is shown on the card. */
  async #act(card: Card, act: () => Promise<unknown>): Promise<void> {
    if (card.busy.value) return
    card.busy.value = true
    this.#decided.add(card.id)
    card.problem.value = undefined
    let problem: string | undefined
    try {
      await act()
    } catch (error) {
      problem = error instanceof Problem ? error.message : "Something went wrong on this page."
    }
    try {
      await this.#refresh(card)
    } catch {
      // The card keeps its state until the next look.
    }
    batch(() => {
      card.problem.value = problem
      card.busy.value = false
    })
    void this.lookAtInbox()
    this.#again()
  }

  /** The person's yes; `rows` is the number that was typed at the second one. */
  confirm(card: Card, rows?: number): Promise<void> {
    return this.#act(card, async () => {
      const { digest } = card.preview.value
      const left = this.#firstYes + BETWEEN - performance.now()
      if (rows !== undefined && left > 0) await new Promise((resolve) => setTimeout(resolve, left))
      const body = rows === undefined ? { digest } : { digest, rows }
      const outcome = await this.#post<Applied | Pending>(card.id, "confirm", body)
      if (outcome?._tag === "Again") {
        this.#firstYes = performance.now()
        this.#hold()
      }
    })
  }

  refuse(card: Card): Promise<void> {
    return this.#act(card, () => this.#post(card.id, card.preview.value.own ? "withdraw" : "reject"))
  }

  /** Proposes the same again, as the data is now. */
  async again(card: Card): Promise<void> {
    await this.#act(card, async () => {
      const draft = await this.#post<Draft>(card.id, "again")
      if (draft === undefined) return
      const next = newCard(draft.preview, card.turn)
      this.#decided.add(next.id)
      next.differences.value = differencesOf(card.preview.value, draft.preview)
      this.#show(this.cards.value.map((one) => (one === card ? next : one)))
    })
  }

  /** Shows the inverse of an applied change; confirming that is the yes. */
  async undo(card: Card): Promise<void> {
    await this.#act(card, async () => {
      const draft = await this.#post<Draft>(card.id, "undo")
      if (draft === undefined) return
      this.#hold()
      card.undo.value = newCard(draft.preview, undefined)
    })
  }

  /** Confirms or refuses the inverse of a change, whose receipt changes with it. */
  async decideUndo(card: Card, decide: (undo: Card) => Promise<void>): Promise<void> {
    const undo = card.undo.value
    if (undo === undefined) return
    await decide(undo)
    if (isPending(undo.preview.value)) return
    await this.#refresh(card).catch(() => {})
    card.undo.value = undo.preview.value.state === "withdrawn" ? undefined : undo
  }
}
