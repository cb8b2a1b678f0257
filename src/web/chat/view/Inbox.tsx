/** The inbox: the changes that wait for the person, that the person proposed, and that were decided, as their cards. */
import type { Signal } from "@preact/signals"
import type { Chat } from "../state/Chat.ts"
import type { List } from "../state/Inbox.ts"
import { DraftCard } from "./DraftCard.tsx"

const LISTS: ReadonlyArray<readonly [List, string]> = [
  ["waiting", "Waiting for you"],
  ["mine", "Proposed by you"],
  ["decided", "Decided"]
]

/** States as they are filtered by, and as they are called. */
const DECIDED = ["applied", "rejected", "withdrawn", "expired", "stale", "failed"]

const options = (values: ReadonlyArray<string>) => values.map((value) => [value, value.replaceAll("_", " ")] as const)

interface FilterProps {
  readonly name: string
  readonly every: string
  readonly chosen: Signal<string>
  readonly options: ReadonlyArray<readonly [string, string]>
  readonly onChoose: () => void
}

const Filter = ({ chosen, every, name, onChoose, options }: FilterProps) => (
  <label>
    <span>{name}</span>
    <select
      value={chosen.value}
      onChange={(event) => {
        chosen.value = event.currentTarget.value
        onChoose()
      }}
    >
      <option value="">{every}</option>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

export const Inbox = ({ chat }: { readonly chat: Chat }) => {
  const { drafts, inbox } = chat
  const list = inbox.list.value
  const cards = drafts.cards.value
  const isFiltered = [inbox.type, inbox.person, inbox.state].some(({ value }) => value !== "")
  const isEmpty = inbox.status.value === "ready" && cards.length === 0
  const filter = () => void inbox.filter()
  return (
    <div class="entries inbox">
      <h1>Inbox</h1>
      <div class="lists" role="group" aria-label="Which changes">
        {LISTS.map(([name, label]) => (
          <button
            key={name}
            type="button"
            class="plain small"
            aria-pressed={list === name}
            onClick={() => void inbox.open(name)}
          >
            {label}
          </button>
        ))}
      </div>
      {(cards.length > 0 || isFiltered) && (
        <div class="filters" role="group" aria-label="Filters">
          <Filter
            name="Type"
            every="Every type"
            chosen={inbox.type}
            options={options(inbox.types.value)}
            onChoose={filter}
          />
          {list !== "mine" && (
            <Filter
              name="Person"
              every="Everyone"
              chosen={inbox.person}
              options={[...inbox.people.value]}
              onChoose={filter}
            />
          )}
          {list !== "waiting" && (
            <Filter
              name="State"
              every="Every state"
              chosen={inbox.state}
              options={options(list === "mine" ? ["open", "waiting", ...DECIDED] : DECIDED)}
              onChoose={filter}
            />
          )}
        </div>
      )}
      <p class="aside" role="status">
        {inbox.status.value === "failed"
          ? "The list can't be loaded right now."
          : isEmpty
            ? isFiltered
              ? "No change fits."
              : "No changes here."
            : ""}
      </p>
      <ul class="cards">
        {cards.map((card) => (
          <li key={card.id}>
            <DraftCard card={card} chat={chat} alone />
          </li>
        ))}
      </ul>
      {inbox.hasMore.value && (
        <button type="button" class="plain" onClick={() => void inbox.more()}>
          Show more
        </button>
      )}
    </div>
  )
}
