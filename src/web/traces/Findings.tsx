import { show } from "./state.ts"
import type { Finding } from "./types.ts"

/** What stands out, each with what to do about it. */
export const Findings = ({
  findings,
  within
}: {
  readonly findings: ReadonlyArray<Finding>
  readonly within: boolean
}) => (
  <ul class="findings">
    {findings.map((one) => (
      <li key={`${one.kind} ${one.message}`}>
        <strong class="kind">{one.kind}</strong>
        <span class="message">
          {one.message}
          {!within && (
            <>
              {one.traces > 1 ? ` · in ${one.traces} traces, the worst ` : " · "}
              <a
                class="ref"
                href={`?trace=${one.reference}`}
                onClick={(event) => {
                  event.preventDefault()
                  show({ _tag: "Trace", id: one.reference })
                }}
              >
                {one.reference}
              </a>
            </>
          )}
        </span>
        {!(within && one.command.startsWith("max trace show ")) && <code class="command">{one.command}</code>}
      </li>
    ))}
  </ul>
)
