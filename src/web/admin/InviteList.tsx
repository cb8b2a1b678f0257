/** A list of people to invite: whom it would invite with which roles, and everything that is wrong with it. */
import type { InvitePreview } from "../../wire/admin/people.ts"
import { RefusedRows, Warnings } from "./ImportOutcome.tsx"
import { counted, Isolated, Roles } from "./parts.tsx"
import { Table } from "./Table.tsx"

export const InviteListPreview = ({ preview: { people, problems, warnings } }: { readonly preview: InvitePreview }) => (
  <>
    <Warnings of={warnings} />
    {problems.length > 0 ? (
      <RefusedRows
        refused={{
          message: `${counted(problems.length, "problem")}. The list is invited completely or not at all.`,
          lines: problems
        }}
      />
    ) : null}
    {people.length === 0 ? null : (
      <div class="invited" role="region" tabIndex={0} aria-label="Whom the list invites">
        <Table
          caption="Whom the list invites"
          headings={["Person", "Roles", "In the list"]}
          rows={people.map(({ again, created, identifier, name, place, roles }) => ({
            key: place,
            cells: [
              <>
                {name === undefined ? null : (
                  <>
                    <Isolated>{name}</Isolated>{" "}
                  </>
                )}
                <Isolated>{identifier}</Isolated>
                {created || again ? (
                  <span class="soft fine">
                    {created ? " a new person" : ""}
                    {again ? " invited again: the earlier link ends" : ""}
                  </span>
                ) : null}
              </>,
              <Roles roles={roles} />,
              place
            ]
          }))}
        />
      </div>
    )}
  </>
)
