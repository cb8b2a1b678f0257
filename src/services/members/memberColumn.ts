/** Reads a member list from a column of people that holds roles; the identifier is the row's e-mail address, else its phone number. */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { runWithin } from "../../database/execute.ts"
import { compileValues } from "../../database/sql/identify.ts"
import {
  columnByKey,
  columnBySlug,
  DISPLAY_NAME,
  type Organization,
  PEOPLE,
  peopleOf
} from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"
import { readIdentifier } from "./identifier.ts"
import type { ListedMember } from "./Memberships.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"

/** Reads a column such as `people.role`; fails with the names of people who have no identifier. */
export const membersByColumn = Effect.fnUntraced(function* (organization: Organization, path: string) {
  const { search } = yield* Database
  const states = yield* OrganizationState
  const { state } = yield* states.read(organization.id, { by: "none" })
  const people = peopleOf(state.catalog)!
  const [type, slug = ""] = path.split(".")
  const column = type === PEOPLE ? columnBySlug(people, slug) : undefined
  if (column === undefined || (column.kind !== "text" && column.kind !== "list")) {
    const near = closest(
      slug,
      people.columns.filter(({ kind }) => kind === "text" || kind === "list").map((candidate) => candidate.slug)
    )
    return yield* OperatorError.of(
      `--column must be a column of people that holds text or a list, such as people.role; ${quoted(path)} isn't.${near === undefined ? "" : ` Did you mean people.${near}?`}`
    )
  }
  const statement = compileValues(
    people,
    [column, ...[DISPLAY_NAME, "email", "phone"].map((key) => columnByKey(people, key))],
    state.catalog
  )
  const rows = yield* runWithin<{
    c0: string | ReadonlyArray<string>
    c1: string | null
    c2: string | null
    c3: string | null
  }>(search, organization.id, statement)
  const faults: Array<string> = []
  const members = rows.flatMap(({ c0: roles, c1, c2: email, c3: phone }): ReadonlyArray<ListedMember> => {
    const name = c1 ?? ""
    const identifier = [email, phone].find((text) => text !== null && readIdentifier(text, organization) !== undefined)
    if (typeof identifier !== "string") faults.push(`${quoted(name)} has neither an e-mail address nor a phone number.`)
    const listed = typeof roles === "string" ? roles.split(";") : roles
    return typeof identifier === "string"
      ? [{ place: quoted(name), identifier, roles: listed.map((role) => role.trim()).filter((role) => role !== "") }]
      : []
  })
  if (faults.length > 0) return yield* OperatorError.of("Nothing was changed.", faults)
  return members
})
