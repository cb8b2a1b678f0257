/**
 * Drafts and what came of them. The server holds their state: the page asks for it when a turn ends, when a conversation is
 * opened, when the page is looked at again, and every few seconds while a change is pending.
 */
import { batch, type Signal, signal } from "@preact/signals"
import type { Applied, ChangePage, Draft, Pending, Preview } from "../../../wire/changes.ts"
import { Problem, type Request } from "../../shared/api.ts"

interface Difference {
  readonly row: string
  readonly cell: string
  readonly was: string | undefined
  readonly now: string | undefined
}

/** A change as the page shows it. */
export interface Card {
  readonly id: string
  /** The position of its turn, of a change that a conversation drafted. */
  readonly turn: number | undefined
  readonly preview: Signal<Preview>
  /** When its time is over, in milliseconds of `performance.now()`. */
  readonly endsAt: Signal<number | undefined>
  readonly busy: Signal<boolean>
  /** Why the last press did nothing. */
  readonly problem: Signal<string | undefined>
  /** What has changed since the person looked before. */
  readonly differences: Signal<ReadonlyArray<Difference>>
  /** The inverse change, while it waits for its confirmation. */
  readonly undo: Signal<Card | undefined>
}

/** Milliseconds between two looks at pending changes, and at what waits for the person. */
const LOOK_EVERY = 4000
const INBOX_EVERY = 20_000
/** Milliseconds in which nothing on the page can be pressed after a card has appeared. */
export const STILL = 700
/** Milliseconds between the two confirmations of level `twice`. */
const BETWEEN = 1100

export const isPending = ({ state }: Pick<Preview, "state">): boolean => state === "open" || state === "waiting"

const newCard = (preview: Preview, turn: number | undefined): Card => ({
  id: preview.changeId,
  turn,
  preview: signal(preview),
  endsAt: signal(endOf(preview)),
  busy: signal(false),
  problem: signal(undefined),
  differences: signal([]),
  undo: signal(undefined)
})

const endOf = ({ seconds }: Preview): number | undefined =>
  seconds === undefined ? undefined : performance.now() + seconds * 1000

/** The cells that two looks at the same steps show differently. */
const differencesOf = (before: Preview, after: Preview): ReadonlyArray<Difference> =>
  after.steps.flatMap((step) => {
    const earlier = before.steps.find(
      ({ entityId, entityTypeId }) => entityId === step.entityId && entityTypeId === step.entityTypeId
    )
    const row = step.displayName ?? ""
    if (earlier === undefined) return []
    return [
      ...(earlier.displayName === step.displayName
        ? []
        : [{ row, cell: "Name", was: earlier.displayName, now: step.displayName }]),
      ...step.cells.flatMap(({ columnId, name, was }) => {
        const seen = earlier.cells.find((cell) => cell.columnId === columnId)
        return seen === undefined || seen.was === was ? [] : [{ row, cell: name, was: seen.was, now: was }]
      })
    ]
  })

export class Drafts {
  /** The changes of the open conversation, or the one that is opened alone; the oldest first. */
  readonly cards: Signal<ReadonlyArray<Card>> = signal([])
  readonly inbox: Signal<ChangePage["changes"]> = signal([])
  /** Until then nothing can be pressed, in milliseconds of `performance.now()`. */
  stillUntil = 0
  readonly #request: Request
  #conversation: string | undefined
  #firstYes = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOff = true

  constructor(request: Request) {
    this.#request = request
    addEventListener("visibilitychange", () => {
      if (document.hidden || this.#isOff) return
      void this.#look()
      void this.lookAtInbox()
    })
    setInterval(() => {
      if (!document.hidden && !this.#isOff) void this.lookAtInbox()
    }, INBOX_EVERY)
  }

  /** Whether the credential may propose changes; without it the page asks for none. */
  switch(isOn: boolean): void {
    this.#isOff = !isOn
    if (isOn) void this.lookAtInbox()
    else this.clear()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#conversation = undefined
    this.cards.value = []
    this.inbox.value = []
  }

  async #get<A>(path: string): Promise<A> {
    return (await this.#request("GET", path)).json() as Promise<A>
  }

  async #post<A>(id: string, what: string, body?: unknown): Promise<A | undefined> {
    const response = await this.#request("POST", `/v1/changes/${id}/${what}`, body)
    return response.status === 204 ? undefined : ((await response.json()) as A)
  }

  async lookAtInbox(): Promise<void> {
    const page = await this.#get<ChangePage>("/v1/changes?list=waiting&limit=20").catch(() => undefined)
    if (page !== undefined) this.inbox.value = page.changes
  }

  /** Shows the changes of a conversation, or none. */
  async open(conversation: string | undefined): Promise<void> {
    if (conversation !== this.#conversation) this.cards.value = []
    this.#conversation = conversation
    if (conversation === undefined || this.#isOff) return
    await this.#look()
  }

  /** Shows one change. Fails if there is none with this id for the person. */
  async openOne(id: string): Promise<void> {
    this.#conversation = undefined
    const preview = await this.#get<Preview>(`/v1/changes/${id}`)
    this.#show([newCard(preview, undefined)])
  }

  #show(cards: ReadonlyArray<Card>): void {
    const known = new Set(this.cards.value.map(({ id }) => id))
    if (cards.some((card) => !known.has(card.id) && isPending(card.preview.value))) this.#hold()
    this.cards.value = cards
    this.#again()
  }

  /** A control that has just appeared can't be pressed by mistake, nor one that it has moved. */
  #hold(): void {
    this.stillUntil = performance.now() + STILL
  }

  #again(): void {
    clearTimeout(this.#timer)
    const pending = this.cards.value.flatMap((card) => [
      card,
      ...(card.undo.value === undefined ? [] : [card.undo.value])
    ])
    if (pending.every(({ preview }) => !isPending(preview.value))) return
    this.#timer = setTimeout(() => {
      if (document.hidden) this.#again()
      else void this.#look()
    }, LOOK_EVERY)
  }

  /** Asks for the state of what is shown. Previews are fetched only where the state differs: each look at one is recorded. */
  async #look(): Promise<void> {
    const conversation = this.#conversation
    try {
      if (conversation === undefined) {
        for (const card of this.cards.value) if (isPending(card.preview.value)) await this.#refresh(card)
      } else {
        const { changes } = await this.#get<ChangePage>(`/v1/changes?list=mine&session=${conversation}&limit=100`)
        const current = changes.filter(({ replacedBy }) => replacedBy === undefined).toReversed()
        const cards: Array<Card> = []
        for (const { changeId, state, turn } of current) {
          const known = this.cards.value.find(({ id }) => id === changeId)
          if (known === undefined) cards.push(newCard(await this.#get<Preview>(`/v1/changes/${changeId}`), turn))
          else {
            if (known.preview.value.state !== state && !known.busy.value) await this.#refresh(known)
            cards.push(known)
          }
        }
        if (this.#conversation === conversation) this.#show(cards)
      }
    } catch {
      // The next look may succeed; what is shown stays.
    }
    this.#again()
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
