/** The policy in force: the rules of each role in plain words, and all roles side by side. */
import type { Extent, Policy as PolicyInForce, Role } from "../../wire/admin/policy.ts"
import { policy } from "./api.ts"
import { Badge, Command, counted, listed, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { place, to } from "./place.ts"
import { may, useLoaded } from "./state.ts"
import { Matrix } from "./Table.tsx"

export const PolicyParts = () => {
  const [, part] = place.value.path
  const parts = [
    { part: undefined, name: "In force", path: ["policy"] },
    ...(may("policy")
      ? [
          { part: "edit", name: "Edit", path: ["policy", "edit"] },
          { part: "proposals", name: "Proposals", path: ["policy", "proposals"] }
        ]
      : []),
    { part: "history", name: "History", path: ["policy", "history"] },
    { part: "explain", name: "Explain", path: ["policy", "explain"] }
  ]
  return (
    <nav class="parts" aria-label="Policy">
      <ul>
        {parts.map((one) => (
          <li key={one.name}>
            <a href={to(one.path)} aria-current={one.part === part ? "page" : undefined}>
              {one.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

export const Policy = () => {
  useTitle("Policy")
  const { loaded, reload } = useLoaded(policy, [])
  return (
    <>
      <Title note="Who sees what. Nothing is visible without a rule that allows it, and a rule that denies overrides all rules that allow.">
        Policy
      </Title>
      <PolicyParts />
      <WhenLoaded loaded={loaded} reload={reload}>
        {(current) => (
          <>
            <p class="tally">
              <Badge kind="good">Version {current.version} in force</Badge>
            </p>
            {current.roles.map((role) => (
              <RoleRules key={role.role} role={role} />
            ))}
            <SideBySide policy={current} />
          </>
        )}
      </WhenLoaded>
      {may("policy") ? null : (
        <>
          <Command text="max policy show > policy.json">
            A policy is edited as a file, so that its tests run before it takes effect. First save it to a file and edit
            it:
          </Command>
          <Command text="max policy check policy.json">Then check its rules, its changes and its tests:</Command>
          <Command text="max policy publish policy.json">
            Finally publish it; the previous version stays in the history:
          </Command>
        </>
      )}
    </>
  )
}

/** A role's rules in words; `members` is unknown for a policy that isn't in force. */
export const RoleRules = ({
  role: { administers, inherits, members, powers, role, rules }
}: {
  readonly role: Omit<Role, "reach" | "members"> & { readonly members?: number }
}) => (
  <section class="role" aria-labelledby={`role-${role}`}>
    <h2 id={`role-${role}`}>{role}</h2>
    <p class="soft">
      {[
        ...(members === undefined ? [] : [counted(members, "member")]),
        ...(inherits.length === 0 ? [] : [`inherits from ${listed(inherits)}`]),
        ...(administers ? ["administrator: may use these pages, suspend other people and revoke tokens"] : []),
        ...(powers.length === 0 ? [] : [`may change ${listed(powers)} here`])
      ].join(" · ")}
    </p>
    {rules.length === 0 ? (
      <p class="empty">No rules of its own{inherits.length === 0 ? ": it sees nothing." : "."}</p>
    ) : (
      <ul class="rules">
        {rules.map(({ effect, id, words }) => (
          <li key={id} class={effect}>
            <span class="rule-words">{words}</span> <code>{id}</code>
          </li>
        ))}
      </ul>
    )}
  </section>
)

const EXTENTS: Readonly<Record<Extent, string>> = { all: "on every row", some: "on some rows", none: "never" }
const MARKS: Readonly<Record<Extent, string>> = { all: "●", some: "◐", none: "○" }

const Mark = ({ extent }: { readonly extent: Extent }) => (
  <span class={`mark ${extent}`}>
    <span aria-hidden="true">{MARKS[extent]}</span>
    <span class="visually-hidden">{EXTENTS[extent]}</span>
  </span>
)

const SideBySide = ({ policy: { roles } }: { readonly policy: PolicyInForce }) => (
  <section aria-labelledby="side-by-side">
    <h2 id="side-by-side">Side by side</h2>
    <p class="soft legend">
      {(["all", "some", "none"] as const).map((extent) => (
        <span key={extent}>
          <span class={`mark ${extent}`} aria-hidden="true">
            {MARKS[extent]}
          </span>{" "}
          {EXTENTS[extent]}
        </span>
      ))}
    </p>
    <Matrix label="Every column, by role" roles={roles}>
      {(roles[0]?.reach ?? []).map((type, index) => (
        <tbody key={type.type}>
          <tr>
            <th scope="rowgroup" colSpan={roles.length + 1}>
              {type.typeName}
            </th>
          </tr>
          {type.columns.map(({ column, name }, at) => (
            <tr key={column}>
              <th scope="row">{name}</th>
              {roles.map(({ reach, role }) => (
                <td key={role}>
                  <Mark extent={reach[index]?.columns[at]?.extent ?? "none"} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      ))}
    </Matrix>
  </section>
)
