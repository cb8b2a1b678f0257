import type { Finding } from "../../wire/traces.ts"
import { show } from "./state.ts"

export const TraceLink = ({ id, reference }: { readonly id: string; readonly reference: string }) => (
  <a
    class="ref"
    href={`?trace=${id}`}
    onClick={(event) => {
      event.preventDefault()
      show({ _tag: "Trace", id })
    }}
  >
    {reference}
  </a>
)

/** Findings, each with a command that acts on it. */
export const Findings = ({
  findings,
  isOneTrace
}: {
  readonly findings: ReadonlyArray<Finding>
  readonly isOneTrace: boolean
}) => (
  <ul class="findings">
    {findings.map((one) => (
      <li key={`${one.kind} ${one.message}`}>
        <strong class="kind">{one.kind}</strong>
        <span class="message">
          {one.message}
          {!isOneTrace && (
            <>
              {one.traces > 1 ? ` · in ${one.traces} traces, the worst ` : " · "}
              <TraceLink id={one.reference} reference={one.reference} />
            </>
          )}
        </span>
        {!(isOneTrace && one.command.startsWith("max trace show ")) && <code class="command">{one.command}</code>}
      </li>
    ))}
  </ul>
)
