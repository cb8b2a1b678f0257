/** What a policy file says and changes: its remarks by line, its differences, its tests and its rules in words. */
import type { CheckedPolicy, Remark } from "../../wire/admin/policyEditor.ts"
import type { GridTable } from "../../wire/admin/policyGrid.ts"
import { Differences } from "./History.tsx"
import { Badge, counted } from "./parts.tsx"
import { RoleRules } from "./Policy.tsx"

type Show = (line: number) => void

const Line = ({ line, show }: { readonly line: number; readonly show: Show }) => (
  <button type="button" class="button" onClick={() => show(line)}>
    Line {line}
  </button>
)

/** Problems or warnings, each with a button that goes to its line. */
export const Remarks = ({ of, show }: { readonly of: ReadonlyArray<Remark>; readonly show: Show }) => (
  <ul class="remarks">
    {of.map(({ fix, line, message, path }) => (
      <li key={path + message}>
        <Line line={line} show={show} />
        <span>
          <code>{path}</code> {message}
          {fix === undefined ? null : (
            <>
              {" "}
              Write: <code>{fix}</code>
            </>
          )}
        </span>
      </li>
    ))}
  </ul>
)

/** Rules in words, each with a button that goes to its line. */
export const RuleLines = ({ of, show }: { readonly of: GridTable["others"]; readonly show: Show }) => (
  <ul class="remarks">
    {of.map(({ effect, id, line, role, words }) => (
      <li key={id}>
        <Line line={line} show={show} />
        <span>
          <Badge kind={effect === "allow" ? "good" : "bad"}>{effect}</Badge> {role} {words} <code>{id}</code>
        </span>
      </li>
    ))}
  </ul>
)

export const Report = ({
  checked: { changes, confirm, roles, tests, warnings },
  show
}: {
  readonly checked: CheckedPolicy
  readonly show: Show
}) => (
  <>
    <section aria-labelledby="differences">
      <h2 id="differences">What changes</h2>
      {changes.length === 0 ? (
        <p class="empty">Nothing: it says the same as the version in force.</p>
      ) : (
        <Differences of={changes} />
      )}
    </section>
    {warnings.length === 0 ? null : (
      <section aria-labelledby="warnings">
        <h2 id="warnings">{counted(warnings.length, "warning")}</h2>
        <Remarks of={warnings} show={show} />
      </section>
    )}
    <section aria-labelledby="tests">
      <h2 id="tests">Tests</h2>
      {tests.length === 0 ? (
        <p class="empty">This file has no tests. A test says what a person must or must not see.</p>
      ) : (
        <ul class="remarks">
          {tests.map(({ failures, line, passes, path, title }) => (
            <li key={path}>
              <Line line={line} show={show} />
              <span>
                <Badge kind={passes ? "good" : "bad"}>{passes ? "passes" : "fails"}</Badge> {title}
                {failures.map((failure) => (
                  <span key={failure} class="failure">
                    {failure}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
    <details>
      <summary>The whole file in words</summary>
      {roles.map((role) => (
        <RoleRules key={role.role} role={role} />
      ))}
      {confirm.length === 0 ? null : (
        <ul>
          {confirm.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      )}
    </details>
  </>
)
