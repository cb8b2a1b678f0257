/** Traces of the work on text messages, which no request waits for. */
import { Effect } from "effect"
import { reportFailure } from "../../observability/failures.ts"

/** Runs a part of the work as a trace of its own, whose failure is logged with the trace's reference. */
export const traced = <A, E extends { readonly _tag: string }, R>(
  organizationId: bigint,
  name: string,
  operation: "process" | "receive" | "send",
  work: Effect.Effect<A, E, R>
) =>
  work.pipe(
    Effect.tapError(({ _tag }) =>
      _tag === "Unavailable" ? reportFailure("Text messages are held back") : Effect.void
    ),
    Effect.withSpan(name, {
      root: true,
      kind: operation === "send" ? "producer" : "consumer",
      attributes: {
        "max.channel": "sms",
        "messaging.operation.name": operation,
        "max.organization.id": String(organizationId)
      }
    })
  )
