/** What an answer was about, each as an entry of a directory: nothing stands here that the answer didn't say. */
import "./cards.css"
import { dateValue } from "../../shared/time.ts"
import type { Cell, Reference } from "../wire.ts"

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

/** A name alone is in the text already, and so are many: a list is read better as a list. */
const saysSomething = ({ cells = [], name = "" }: Reference): boolean => name !== "" && cells.length > 0
const MOST = 4

export const Cards = ({ references }: { readonly references: ReadonlyArray<Reference> }) => {
  const shown = references.filter(saysSomething)
  return shown.length === 0 || shown.length > MOST ? null : (
    <ul class="cards" aria-label="What this is about">
      {shown.map((reference) => (
        <Card key={`${reference.type}/${reference.id}`} {...reference} />
      ))}
    </ul>
  )
}
