/** Invites people who are named, or those of a list. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { type Invited, Invitations, MAX_INVITED } from "../../../services/access/Invitations.ts"
import { readPeopleList } from "../../../services/import/peopleList.ts"
import { currentOrganization, linkTo, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { columns, note, result } from "../output.ts"

const PLACES = ["place", "identifier", "roles"]

export const invite = Command.make(
  "invite",
  {
    identifiers: Argument.String("identifier").pipe(
      Argument.withDescription("An e-mail address or phone number; several at once are invited all or none"),
      Argument.atLeast(0)
    ),
    role: Flag.String("role").pipe(
      Flag.withDescription("A role of the policy; may be repeated. With --from, for people without a role in the list"),
      Flag.atLeast(0)
    ),
    from: optional("from", "A list instead: CSV, JSONL or XLSX with a header for e-mail or phone, and name and role"),
    dryRun: toggle("dry-run", "Show whom it would invite with which roles, and invite no person")
  },
  Effect.fnUntraced(function* ({ dryRun, from, identifiers, role: roles }) {
    const file = Option.getOrUndefined(from)
    if ((file === undefined) === (identifiers.length === 0))
      return yield* UsageError.of("Name people, or give a list with --from FILE.")
    if (file === undefined && roles.length === 0) return yield* UsageError.of("Give a role: --role ROLE")
    const organization = yield* currentOrganization
    const invitations = yield* Invitations
    const named: ReadonlyArray<Invited> = identifiers.map((identifier) => ({ identifier }))
    const list = file === undefined ? undefined : yield* readPeopleList(file, { most: MAX_INVITED })
    const people = list?.people ?? named
    for (const warning of list?.warnings ?? []) yield* note(warning)
    if (dryRun || (list !== undefined && list.problems.length > 0)) {
      const found =
        people.length === 0 ? { people: [], problems: [] } : yield* invitations.preview(organization, people, roles)
      const problems = [...(list?.problems ?? []), ...found.problems]
      if (problems.length > 0) return yield* OperatorError.of("No person was invited.", problems)
      yield* result(
        found.people,
        columns(
          found.people.map(({ again, created, identifier, name, place, roles }) => [
            place,
            quoted(identifier).slice(1, -1),
            roles.join(", "),
            [...(created ? [`new: ${quoted(name ?? "").slice(1, -1)}`] : []), ...(again ? ["invited again"] : [])].join(
              ", "
            )
          ]),
          [...PLACES, ""]
        )
      )
      return yield* note("A dry run: no person was invited.")
    }
    const issued = yield* invitations.invite(organization, people, roles)
    const links = yield* Effect.forEach(issued, ({ secret }) => linkTo(secret))
    yield* result(
      issued.map(({ anchorId, created, expiresAt, identifier, roles }, index) => ({
        identifier,
        entityId: anchorId,
        created,
        roles,
        link: links[index],
        expiresAt: expiresAt.toISOString()
      })),
      columns(issued.map(({ identifier }, index) => [identifier, links[index]!]))
    )
    yield* note("Shown only once. Each link works once, within seven days; until then the person sees nothing.")
  })
).pipe(
  Command.withDescription("Invite people: each gets a link that makes them a member"),
  Command.withExamples([
    { command: "max member invite ada@example.com bo@example.com --role member", description: "Two colleagues" },
    {
      command: "max member invite --from people.csv --dry-run",
      description: "Whom a list would invite, and its problems"
    }
  ])
)
