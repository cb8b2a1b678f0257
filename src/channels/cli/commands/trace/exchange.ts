/** Exports and imports traces as OTLP. */
import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { OperatorError } from "../../../../domain/errors.ts"
import { fromOtlp, toOtlp } from "../../../../observability/otlp.ts"
import { quoted } from "../../../../domain/text.ts"
import { TraceStore } from "../../../../services/traces/TraceStore.ts"
import { version } from "../../../../version.ts"
import { argument } from "../../flags.ts"
import { result } from "../../output.ts"
import { readTextFile } from "../../readTextFile.ts"
import { filters, findTraces, queryOf, reference } from "./select.ts"

export const exported = Command.make(
  "export",
  { reference: Argument.optional(reference), ...filters },
  Effect.fnUntraced(function* (input) {
    const store = yield* TraceStore
    const ids = Option.isSome(input.reference)
      ? [input.reference.value]
      : (yield* store.list(yield* queryOf(input))).map(({ traceId }) => traceId)
    const traces = (yield* Effect.forEach([...new Set(ids)], findTraces)).flat()
    yield* Console.log(JSON.stringify(toOtlp(traces, version)))
  })
).pipe(Command.withDescription("Print traces as OTLP in JSON, for other tools"))

/** Characters; a document of 20,000 traces is about this long. */
const MAX_DOCUMENT = 200_000_000

export const imported = Command.make(
  "import",
  {
    file: argument("file", "A file of OTLP in JSON, as max trace export prints it")
  },
  Effect.fnUntraced(function* (input) {
    const store = yield* TraceStore
    const text = yield* readTextFile(input.file, MAX_DOCUMENT)
    const document = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => OperatorError.of(`${quoted(input.file)} isn't JSON.`)
    })
    const traces = fromOtlp(document)
    if (traces === undefined)
      return yield* OperatorError.of(`${quoted(input.file)} isn't OTLP in JSON, as max trace export prints it.`)
    yield* store.write(traces)
    yield* result({ traces: traces.length }, [
      `${traces.length} trace${traces.length === 1 ? "" : "s"} imported. max trace list shows them.`
    ])
  })
).pipe(Command.withDescription("Store traces from an OTLP file"))
