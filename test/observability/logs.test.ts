import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { describe, expect, it, vi } from "vitest"
import { orUnavailable } from "../../src/database/execute.ts"
import { shortReference } from "../../src/domain/reference.ts"
import { LineLimit, makeLineLimit, reportFailure } from "../../src/observability/failures.ts"
import { logging } from "../../src/observability/logs.ts"
import * as Telemetry from "../../src/observability/Telemetry.ts"
import { EVERYTHING } from "../support/traces.ts"
import { Recorder } from "../../src/observability/Recorder.ts"

/** What a failed request prints on standard error, and the id of its trace. */
const printed = async (format: "pretty" | "logfmt" | "json", cause = "57P01") => {
  const lines: Array<string> = []
  const spies = [
    vi
      .spyOn(console, "error")
      .mockImplementation((...parts: ReadonlyArray<unknown>) => void lines.push(parts.join(" "))),
    vi.spyOn(console, "log").mockImplementation(() => void lines.push("on standard output"))
  ]
  const failing = Effect.andThen(
    Effect.andThen(Telemetry.recordCause(cause), Telemetry.recordCause("later")),
    Effect.andThen(reportFailure("A request failed", { route: "/v1/chat" }), Effect.currentSpan)
  )
  const { traceId } = await Effect.runPromise(
    Effect.withSpan(failing, "request").pipe(
      Effect.withTracer(Recorder.make(EVERYTHING).tracer),
      Effect.provide(logging(format, false)),
      Effect.provideService(LineLimit, makeLineLimit())
    )
  )
  for (const spy of spies) spy.mockRestore()
  return { lines, traceId }
}

describe("log lines", () => {
  it("are logfmt, one record on one line with the trace's id and reference", async () => {
    const { lines, traceId } = await printed("logfmt", 'a\n"b"')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^timestamp=\S+ level=WARN fiber=#\d+ message="A request failed" route=\/v1\/chat /)
    expect(lines[0]).toContain(` cause="a\\n\\"b\\"" trace=${traceId} ref=${shortReference(traceId)}`)
  })

  it("are JSON, one object on one line with the same fields", async () => {
    const { lines, traceId } = await printed("json")
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: "WARN",
      message: "A request failed",
      annotations: { route: "/v1/chat", cause: "57P01", trace: traceId, ref: shortReference(traceId) }
    })
  })

  it("are pretty for people, with the same fields, on standard error", async () => {
    const { lines, traceId } = await printed("pretty")
    expect(lines[0]).toMatch(/^\[\d\d:.*\] WARN \(#\d+\): A request failed$/)
    expect(lines.slice(1)).toEqual([
      "route: /v1/chat",
      "cause: 57P01",
      `trace: ${traceId}`,
      `ref: ${shortReference(traceId)}`
    ])
  })
})

it("the cause of a database failure is its SQLSTATE, system code or tag, never its message", async () => {
  const causeOf = (cause: object) => {
    const message = 'invalid input syntax: "qzcanaryqz"'
    const reason = new SqlError.UnknownError({ cause: Object.assign(new Error(message), cause), message })
    const failing = orUnavailable(Effect.fail(new SqlError.SqlError({ reason })))
    return Effect.runPromise(
      Effect.withSpan(Effect.andThen(Effect.exit(failing), Telemetry.recordedCause), "request").pipe(
        Effect.withTracer(Recorder.make(EVERYTHING).tracer)
      )
    )
  }
  expect(await causeOf({ code: "22P02" })).toBe("22P02")
  expect(await causeOf({ code: "ECONNREFUSED" })).toBe("ECONNREFUSED")
  for (const other of [{}, { code: "qzcanaryqz" }, { code: "qz abc" }])
    expect(await causeOf(other)).toBe("UnknownError")
})

describe("the limit of lines", () => {
  it("passes five lines of a kind in ten seconds, then counts, and says the number with the next line", () => {
    let now = 0
    const limit = makeLineLimit(() => now)
    const pass = (count: number, kind = "one") => Array.from({ length: count }, () => limit(kind))
    expect(pass(7)).toEqual([0, 0, 0, 0, 0, undefined, undefined])
    expect(pass(1, "another")).toEqual([0])
    now = 9_999
    expect(pass(1)).toEqual([undefined])
    now = 10_000
    expect(pass(6)).toEqual([3, 0, 0, 0, 0, undefined])
    now = 30_000
    expect(pass(2)).toEqual([1, 0])
  })

  it("holds a bounded number of kinds", () => {
    const limit = makeLineLimit(() => 0)
    for (let kind = 0; kind < 100_000; kind++) limit(String(kind))
    expect(limit("one")).toBe(0)
  })
})
