/**
 * The cards and choices beside an answer: the entities that it presents, each with the values that the answer states. A
 * card adds no data to the answer, so it can be stored with it.
 */
import type { ReferenceCell } from "../domain/Page.ts"
import type { Beside, Presented, SaidCell } from "../domain/Presented.ts"
import type { TypeOverview } from "../services/lookup/listed.ts"
import { figuresIn } from "./figures.ts"
import { Grounding } from "./guards/Grounding.ts"
import { type Claim, claims, dayKeys } from "./guards/claims.ts"
import { normalize } from "./guards/normalize.ts"
import { MAX_FOCUS } from "./prepare.ts"
import { words } from "./guards/normalize.ts"
import { type PresentedEntity, position, type Sightings } from "./Sightings.ts"
import type { Choice } from "../wire/TurnEvent.ts"

/** Limits of a card: cells per entity, characters per value. */
const MAX_CELLS = 8
const MAX_VALUE = 200

/** Columns that a card shows in its heading. */
const HEADING = ["name", "status"]

/** Column kinds whose values are compared as claims, independent of spelling. */
const CLAIM_KINDS: Readonly<Record<string, ReadonlyArray<Claim["kind"]>>> = {
  phone: ["phone"],
  email: ["email"],
  integer: ["amount"],
  number: ["amount"],
  date: ["date"],
  timestamp: ["date"]
}

interface Said {
  readonly folded: string
  /** The claims of the answer itself. */
  readonly grounding: Grounding
}

const plain = (value: unknown): string =>
  typeof value === "object" && value !== null ? ((value as ReferenceCell).name ?? "") : String(value)

/** A date claim with the spellings that identify one day of a year: with or without the year, not a weekday alone. */
const dayOf = (claim: Claim): Claim => {
  const day = claim.keys.find((key) => key.startsWith("day "))?.slice(4)
  return day === undefined
    ? claim
    : { ...claim, keys: dayKeys(day).filter((key) => key.startsWith("day ") || key.startsWith("month-day ")) }
}

const isSaid = (value: string, kind: string, { folded, grounding }: Said): boolean => {
  const kinds = CLAIM_KINDS[kind]
  if (kinds === undefined) return value.length >= 3 && position(folded, value) !== undefined
  const own = claims(normalize(value), grounding.locale).filter((claim) => kinds.includes(claim.kind))
  return own.length > 0 && own.every((claim) => grounding.isGrounded(claim.kind === "date" ? dayOf(claim) : claim))
}

const cellsOf = (
  { columns, type }: PresentedEntity,
  overview: ReadonlyArray<TypeOverview>,
  said: Said
): ReadonlyArray<SaidCell> =>
  (overview.find(({ id }) => id === type)?.columns ?? [])
    .filter(({ id }) => !HEADING.includes(id) && columns[id] !== undefined && columns[id] !== null)
    .flatMap(({ id, kind, name }) => {
      const value = columns[id]
      const parts = (Array.isArray(value) ? value : [value]).map((part) => normalize(plain(part)).trim())
      const spoken = parts.filter((part) => part !== "" && part.length <= MAX_VALUE && isSaid(part, kind, said))
      return spoken.length === 0 ? [] : [{ name, kind, value: spoken.join(", ") }]
    })
    .slice(0, MAX_CELLS)

/** The entities that an answer presents, each with the values that it states. */
export const presentedBy = (
  text: string,
  meant: ReadonlyArray<PresentedEntity>,
  { grounding, overview }: { readonly grounding: Grounding; readonly overview: ReadonlyArray<TypeOverview> }
): ReadonlyArray<Presented> => {
  const said: Said = { folded: ` ${words(text)} `, grounding: new Grounding(grounding.locale).addText(text) }
  return meant.map((one, index) => {
    // Among several, only entities that the answer names: a value alone could belong to another one.
    const isNamed = meant.length === 1 || (one.name !== undefined && position(said.folded, one.name) !== undefined)
    const cells = isNamed && index < MAX_FOCUS ? cellsOf(one, overview, said) : []
    const hasStatus = isNamed && one.status !== undefined && position(said.folded, one.status) !== undefined
    return {
      type: one.type,
      id: one.id,
      ...(one.name === undefined ? {} : { name: one.name }),
      ...(hasStatus ? { status: one.status! } : {}),
      ...(cells.length === 0 ? {} : { cells })
    }
  })
}

export const handleOf = ({ id, type }: { readonly id: string; readonly type: string }): string => `${type}/${id}`

/** The choices of an answer that asks which of several entities is meant. */
export const choicesIn = (
  text: string,
  presented: ReadonlyArray<Pick<PresentedEntity, "id" | "name" | "status" | "type">>
): ReadonlyArray<Choice> =>
  presented.length < 2 || !text.includes("?")
    ? []
    : presented.slice(0, MAX_FOCUS).map((one) => ({
        handle: handleOf(one),
        name: one.name ?? "",
        ...(one.status === undefined ? {} : { status: one.status })
      }))

/** What is shown beside an answer: the groups that it is about, and the list behind it or behind them. */
export const besideOf = (text: string, presented: ReadonlyArray<PresentedEntity>, sightings: Sightings): Beside => {
  const shown = figuresIn(text, sightings.figures)
  const list = sightings.listOf(presented) ?? shown.at(-1)?.list
  return {
    ...(list === undefined ? {} : { list }),
    ...(shown.length === 0 ? {} : { figures: shown.map(({ figures }) => figures) })
  }
}
