/**
 * What stands beside an answer: the entities that it presents with those of their values that it says, and what can be
 * chosen from. A card is a second form of what was said, never a second way to the data, so it can be kept with the text.
 */
import type { ReferenceCell } from "../domain/Page.ts"
import type { Presented, SaidCell } from "../domain/Presented.ts"
import type { TypeOverview } from "../services/EntityQueryService.ts"
import { Grounding } from "./guards/Grounding.ts"
import { type Claim, claims, dayKeys } from "./guards/claims.ts"
import { normalize } from "./guards/normalize.ts"
import { MAX_FOCUS } from "./prepare.ts"
import { type Meant, position, words } from "./Sightings.ts"
import type { Choice } from "../wire/TurnEvent.ts"

/** Values of one entity, and characters of one, that stand on a card. */
const MAX_CELLS = 8
const MAX_VALUE = 200

/** What is a name of its own on a card. */
const NOT_CELLS = ["name", "status"]

/** Kinds whose values are compared as what they are, however they are written. */
const CLAIMED: Readonly<Record<string, ReadonlyArray<Claim["kind"]>>> = {
  phone: ["phone"],
  email: ["email"],
  integer: ["amount"],
  number: ["amount"],
  date: ["date"],
  timestamp: ["date"]
}

interface Said {
  readonly folded: string
  /** What a reply may say when this answer is all that is known. */
  readonly grounding: Grounding
}

const plain = (value: unknown): string =>
  typeof value === "object" && value !== null ? ((value as ReferenceCell).name ?? "") : String(value)

/** A day that is said in any of the ways of saying one that mean no other day of its year. */
const dayOf = (claim: Claim): Claim => {
  const day = claim.keys.find((key) => key.startsWith("day "))?.slice(4)
  return day === undefined
    ? claim
    : { ...claim, keys: dayKeys(day).filter((key) => key.startsWith("day ") || key.startsWith("month-day ")) }
}

const isSaid = (value: string, kind: string, { folded, grounding }: Said): boolean => {
  const kinds = CLAIMED[kind]
  if (kinds === undefined) return value.length >= 3 && position(folded, value) !== undefined
  const own = claims(normalize(value), grounding.locale).filter((claim) => kinds.includes(claim.kind))
  return own.length > 0 && own.every((claim) => grounding.isGrounded(claim.kind === "date" ? dayOf(claim) : claim))
}

const cellsOf = (
  { columns, type }: Meant,
  overview: ReadonlyArray<TypeOverview>,
  said: Said
): ReadonlyArray<SaidCell> =>
  (overview.find(({ id }) => id === type)?.columns ?? [])
    .filter(({ id }) => !NOT_CELLS.includes(id) && columns[id] !== undefined && columns[id] !== null)
    .flatMap(({ id, kind, name }) => {
      const value = columns[id]
      const parts = (Array.isArray(value) ? value : [value]).map((part) => normalize(plain(part)).trim())
      const spoken = parts.filter((part) => part !== "" && part.length <= MAX_VALUE && isSaid(part, kind, said))
      return spoken.length === 0 ? [] : [{ name, kind, value: spoken.join(", ") }]
    })
    .slice(0, MAX_CELLS)

/** The entities that an answer presents, each with what the answer says of it. */
export const presentedBy = (
  text: string,
  meant: ReadonlyArray<Meant>,
  { grounding, overview }: { readonly grounding: Grounding; readonly overview: ReadonlyArray<TypeOverview> }
): ReadonlyArray<Presented> => {
  const said: Said = { folded: ` ${words(text)} `, grounding: new Grounding(grounding.locale).addText(text) }
  return meant.map((one, index) => {
    // Of several only those that are called by their names: a value can be somebody else's as well.
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

/** What is offered to choose from, when the answer asks which of several is meant. */
export const choicesIn = (
  text: string,
  presented: ReadonlyArray<Pick<Meant, "id" | "name" | "status" | "type">>
): ReadonlyArray<Choice> =>
  presented.length < 2 || !text.includes("?")
    ? []
    : presented.slice(0, MAX_FOCUS).map((one) => ({
        handle: handleOf(one),
        name: one.name ?? "",
        ...(one.status === undefined ? {} : { status: one.status })
      }))
