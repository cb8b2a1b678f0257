/** The entities of an answer as cards, which contain only values that the answer itself contains. */
import "./cards.css"
import type { Cell, Reference } from "../../../wire/conversations.ts"
import { dateValue } from "../../shared/time.ts"

const Value = ({ kind, value }: Cell) => {
  switch (kind) {
    case "phone":
      return (
        <a href={`tel:${value.replace(/[^\d+]/g, "")}`}>
          <bdi>{value}</bdi>
        </a>
      )
    case "email":
      return (
        <a href={`mailto:${encodeURIComponent(value).replace("%40", "@")}`}>
          <bdi>{value}</bdi>
        </a>
      )
    case "date":
    case "timestamp":
      return <>{dateValue(value)}</>
    default:
      return <bdi>{value}</bdi>
  }
}

const Card = ({ cells = [], name = "", status }: Reference) => (
  <li class="card">
    <p class="name">
      <bdi>{name}</bdi>
      {status !== undefined && (
        <span class="status">
          <bdi>{status}</bdi>
        </span>
      )}
    </p>
    {cells.length > 0 && (
      <dl>
        {cells.map((cell, index) => (
          <div key={index}>
            <dt>{cell.name}</dt>
            <dd>
              <Value {...cell} />
            </dd>
          </div>
        ))}
      </dl>
    )}
  </li>
)

/** A card needs a name and a value: a name alone is in the text already. */
const hasContent = ({ cells = [], name = "" }: Reference): boolean => name !== "" && cells.length > 0
/** More entities than this read better as the list in the text. */
const MAX_CARDS = 4

export const Cards = ({ references }: { readonly references: ReadonlyArray<Reference> }) => {
  const shown = references.filter(hasContent)
  return shown.length === 0 || shown.length > MAX_CARDS ? null : (
    <ul class="cards" aria-label="What this is about">
      {shown.map((reference) => (
        <Card key={`${reference.type}/${reference.id}`} {...reference} />
      ))}
    </ul>
  )
}
