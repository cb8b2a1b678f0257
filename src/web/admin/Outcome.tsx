/** What a pasted token would do: whom it would admit with which roles, or why it wouldn't. */
import type { TriedToken } from "../../wire/admin/providers.ts"
import { Badge, Fact, Isolated, Moment, Roles } from "./parts.tsx"
import { to } from "./place.ts"

export const Outcome = ({
  of: { accepted, member, reason, roles, rolesFrom, unknownRoles, until }
}: {
  readonly of: TriedToken
}) => (
  <div class={accepted ? "notice" : "notice warn"} role="group" aria-label="What the token would do">
    <p>
      <Badge kind={accepted ? "good" : "bad"}>{accepted ? "Accepted" : "Refused"}</Badge> {reason}
    </p>
    {rolesFrom === undefined ? null : (
      <dl class="facts wide">
        <Fact name="Member">
          {member === undefined ? (
            "none"
          ) : (
            <a href={to(["people", member.id])}>
              <Isolated>{member.name ?? member.id}</Isolated>
            </a>
          )}
        </Fact>
        <Fact name={rolesFrom === "token" ? "Roles of the token" : "Roles of the membership"}>
          <Roles roles={roles} />
        </Fact>
        {unknownRoles.length === 0 ? null : (
          <Fact name="Not in the policy">
            <Roles roles={unknownRoles} /> <span class="soft">give nothing</span>
          </Fact>
        )}
        {until === undefined ? null : (
          <Fact name="Valid until">
            <Moment at={until} />
          </Fact>
        )}
      </dl>
    )}
  </div>
)
