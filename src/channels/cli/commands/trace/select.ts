/** The arguments and flags that select traces. */
import { Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { InvalidInput, OperatorError } from "../../../../domain/errors.ts"
import { quoted } from "../../../../domain/text.ts"
import { Env } from "../../../../env.ts"
import { TraceStore, type TraceQuery } from "../../../../services/traces/TraceStore.ts"
import { currentOrganization, max } from "../../context.ts"
import { argument, optional, toggle } from "../../flags.ts"

const UNITS = { m: 1, h: 60, d: 1440 } as const

/** Parses `30m`, `12h` or `7d` to minutes. */
const readSpan = (text: string): number | undefined => {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

const MAX_LISTED = 1000

export const filters = {
  since: optional("since", "Only traces of the last 30m, 12h or 7d"),
  name: optional("name", 'Only traces whose name starts with this, such as "max find"'),
  failed: toggle("failed", "Only failed traces"),
  denied: toggle("denied", "Only traces with a denial; with --failed also failed traces"),
  slow: toggle("slow", "Only traces of at least MAX_TRACE_SLOW"),
  slower: Flag.Int("slower").pipe(
    Flag.withDescription("Only traces of at least this many milliseconds"),
    Flag.optional
  ),
  limit: Flag.Int("limit").pipe(
    Flag.withDescription(`At most this many traces, 1 to ${MAX_LISTED}`),
    Flag.withDefault(30)
  )
}

/** The organization of --org; every organization without the flag. */
const scope = Effect.gen(function* () {
  const { org } = yield* max
  return Option.isNone(org) ? {} : { organizationId: (yield* currentOrganization).id }
})

export const queryOf = Effect.fnUntraced(function* (input: Command.Command.Config.Infer<typeof filters>) {
  const sinceMinutes = Option.map(input.since, readSpan)
  if (Option.isSome(sinceMinutes) && sinceMinutes.value === undefined)
    return yield* InvalidInput.of("--since takes minutes, hours or days, such as 30m, 12h or 7d.")
  if (input.limit < 1 || input.limit > MAX_LISTED) return yield* InvalidInput.of(`--limit must be 1 to ${MAX_LISTED}.`)
  const { traceSlow } = yield* Env
  const query: TraceQuery = {
    ...(yield* scope),
    name: Option.getOrUndefined(input.name),
    failed: input.failed,
    denied: input.denied,
    atLeastMilliseconds: Option.getOrUndefined(input.slower) ?? (input.slow ? traceSlow : undefined),
    sinceMinutes: Option.getOrUndefined(sinceMinutes),
    limit: input.limit
  }
  return query
})

/** The traces with an id or reference; fails if there are none. */
export const findTraces = Effect.fnUntraced(function* (idOrReference: string) {
  const store = yield* TraceStore
  const { organizationId } = { organizationId: undefined, ...(yield* scope) }
  const traces = yield* store.get(idOrReference, organizationId)
  if (traces.length > 0) return traces
  return yield* OperatorError.of(`No trace ${quoted(idOrReference)} is stored. max trace list shows the stored traces.`)
})

export const reference = argument("ref", "A trace's reference, such as 7F3K, or its id")
