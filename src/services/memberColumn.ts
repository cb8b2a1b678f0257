/** The members that a column of people says: who has roles in it, known by the e-mail address or else the phone number of their record. */
import { Effect } from "effect"
import { Database } from "../database/Database.ts"
import { orUnavailable } from "../database/read.ts"
import { columnReference } from "../database/sql/predicate.ts"
import { qualified } from "../database/sql/SqlWriter.ts"
import { columnByKey, columnBySlug, DISPLAY_NAME, type Organization, PEOPLE, peopleOf } from "../domain/EntityType.ts"
import { OperatorError } from "../domain/errors.ts"
import { closest, printable, quoted } from "../domain/text.ts"
import { readIdentifier } from "./IdentityResolver.ts"
import type { ListedMember } from "./Memberships.ts"
import { MANAGED } from "./physicalColumns.ts"
import { OrganizationState } from "./OrganizationState.ts"

/** Reads `people.role`; who has no identifier is named. */
export const membersByColumn = Effect.fnUntraced(function* (organization: Organization, path: string) {
  const { search } = yield* Database
  const states = yield* OrganizationState
  const { state } = yield* states.read(organization.id, { by: "nobody" })
  const people = peopleOf(state.catalog)!
  if (people.relation.schema !== MANAGED) {
    return yield* new OperatorError({
      message: `People are read from ${printable(people.relation.table)}, which isn't Max's. Give the members as a file: max member sync FILE`
    })
  }
  const [type, slug = ""] = path.split(".")
  const column = type === PEOPLE ? columnBySlug(people, slug) : undefined
  if (column === undefined || (column.kind !== "text" && column.kind !== "list")) {
    const near = closest(
      slug,
      people.columns.filter(({ kind }) => kind === "text" || kind === "list").map((known) => known.slug)
    )
    return yield* new OperatorError({
      message: `--column takes a column of people that holds text or a list, such as people.role, and ${quoted(path)} is none.${near === undefined ? "" : ` Did you mean people.${near}?`}`
    })
  }
  const value = (key: string) => {
    const known = columnByKey(people, key)
    return known === undefined ? "NULL" : `${columnReference(known, "p", "value")}`
  }
  const given = columnReference(column, "p", "value")
  const rows = yield* orUnavailable(
    search.unsafe<{
      name: string
      email: string | null
      phone: string | null
      roles: string | ReadonlyArray<string>
    }>(
      `/* max members */ SELECT ${value(DISPLAY_NAME)} AS name, ${value("email")} AS email, ${value("phone")} AS phone, ${given} AS roles ` +
        `FROM ${qualified(people.relation)} p WHERE p.organization_id = $1::bigint AND ${given} IS NOT NULL ORDER BY p.id`,
      [organization.id]
    )
  )
  const faults: Array<string> = []
  const members = rows.flatMap(({ email, name, phone, roles }): ReadonlyArray<ListedMember> => {
    const identifier = [email, phone].find((text) => text !== null && readIdentifier(text, organization) !== undefined)
    if (typeof identifier !== "string") faults.push(`${quoted(name)} has neither an e-mail address nor a phone number.`)
    const listed = typeof roles === "string" ? roles.split(";") : roles
    return typeof identifier === "string"
      ? [{ place: quoted(name), identifier, roles: listed.map((role) => role.trim()).filter((role) => role !== "") }]
      : []
  })
  if (faults.length > 0) return yield* new OperatorError({ message: "Nothing was changed.", details: faults })
  return members
})
