import { Effect, Tracer } from "effect"
import { Headers } from "effect/http"
import { describe, expect, it, vi } from "vitest"
import { Recorder } from "../../src/observability/Recorder.ts"
import * as Telemetry from "../../src/observability/Telemetry.ts"
import type { TraceSpan } from "../../src/observability/Trace.ts"
import { EVERYTHING, NOTHING, recorded } from "../support/traces.ts"

describe("Telemetry.span", () => {
  const inner = (parent?: Tracer.Span) =>
    Telemetry.span("inner", { kind: "client", parent }, (span) => {
      Telemetry.setAttributes(span, { "max.rows": 3, "max.organization.id": 9007199254740993n, phone: "canary" })
      return Effect.succeed(span)
    })
  const outer = Telemetry.span("outer", {}, (span) =>
    Effect.andThen(Telemetry.completed("past", span!, 1_000_000n), inner(span))
  )

  it("takes the place and the clock of a span of Effect's, with attributes of the allowlist", async () => {
    const before = Date.now()
    const [trace] = await Effect.runPromise(recorded(Effect.withSpan(Effect.andThen(outer, inner()), "root")))
    const [root, first, planned, second, third] = trace!.spans
    expect(trace!.spans.map(({ kind, name, parentId }) => [name, kind, parentId])).toEqual([
      ["root", "internal", undefined],
      ["outer", "internal", root!.spanId],
      ["past", "internal", first!.spanId],
      ["inner", "client", first!.spanId],
      ["inner", "client", root!.spanId]
    ])
    for (const { attributes } of [second!, third!])
      expect(attributes).toEqual({ "max.rows": 3, "max.organization.id": "9007199254740993" })
    const end = ({ duration, start }: TraceSpan) => start + duration
    expect(planned!.duration).toBeGreaterThanOrEqual(1_000_000)
    expect(root!.start).toBe(0)
    expect([end(first!) <= third!.start, end(second!) <= end(first!), end(third!) <= end(root!)]).toEqual([
      true,
      true,
      true
    ])
    expect(Math.abs(Number(trace!.startedAt / 1_000_000n) - before)).toBeLessThan(60_000)
  })

  it("ends with the exit of its effect: a failure, an exception of the body, an interruption", async () => {
    const failed = async (body: () => Effect.Effect<unknown, unknown>) => {
      const [trace] = await Effect.runPromise(recorded(Telemetry.span("one", {}, body)))
      return trace?.spans[0]?.failure
    }
    expect(await failed(() => Effect.fail({ _tag: "Unavailable" }))).toBe("Unavailable")
    expect(
      await failed(() => {
        throw new Error("canary")
      })
    ).toBe("Defect")
    expect(await failed(() => Effect.interrupt)).toBe("interrupted")
    expect(await failed(() => Effect.timeout(Effect.never, 5))).toBe("TimeoutError")
  })

  it("keeps slow, failed and denied traces, and others by their sampling share", async () => {
    const kept = async (effect: Effect.Effect<unknown, unknown>, sampling = NOTHING) =>
      (await Effect.runPromise(recorded(effect, sampling))).length
    const denied = Telemetry.span("one", {}, (span) => Effect.sync(() => span!.attribute("max.denied", true)))
    expect(await kept(outer)).toBe(0)
    expect(await kept(outer, EVERYTHING)).toBe(1)
    expect(await kept(denied)).toBe(1)
    expect(await kept(Telemetry.span("one", {}, () => Effect.fail({ _tag: "Unavailable" })))).toBe(1)
    expect(await kept(Telemetry.span("one", {}, () => Effect.fail({ _tag: "InvalidInput" })))).toBe(0)
    expect(
      await kept(
        Telemetry.span("one", {}, () => Effect.sleep(20)),
        { share: 0, slow: 10 }
      )
    ).toBe(1)
  })

  it("creates its span through another tracer where there is one, and none while tracing is off", async () => {
    const seen: Array<Tracer.Span> = []
    const record = (span: Tracer.Span) => {
      seen.push(span)
      return span
    }
    const foreign = Tracer.make({ span: (options) => record(new Tracer.NativeSpan(options)) })
    const own = Recorder.make(EVERYTHING).tracer
    const around = Tracer.make({ ...own, span: (options) => record(own.span(options)) })
    const ran = Effect.withSpan(inner(), "root")
    for (const tracer of [foreign, around]) await Effect.runPromise(Effect.withTracer(ran, tracer))
    expect(seen.map(({ name }) => name)).toEqual(["root", "inner", "root", "inner"])
    expect(seen[1]!.attributes.get("max.organization.id")).toBe("9007199254740993")
    expect(await Effect.runPromise(recorded(Effect.withTracerEnabled(outer.pipe(Effect.ignore), false)))).toEqual([])
    expect(await Effect.runPromise(inner())).toBe(undefined)
  })

  it("holds the latest value of each attribute once", async () => {
    const [trace] = await Effect.runPromise(
      recorded(
        Telemetry.span("one", {}, (span) =>
          Effect.sync(() => {
            for (let rows = 0; rows < 50_000; rows++) span!.attribute("max.rows", rows)
            Telemetry.setAttributes(span, { "max.rows": 7, "max.total": 8 })
            expect(span!.attributes.get("max.rows")).toBe(7)
            span!.attribute("max.rows", 9)
          })
        )
      )
    )
    expect(trace!.spans[0]!.attributes).toEqual({ "max.rows": 9, "max.total": 8 })
  })
})

describe("Telemetry", () => {
  it("withReadOnlySpan discards attributes of the current span and keeps spans below it in place", async () => {
    const inner = Effect.andThen(
      Effect.annotateCurrentSpan({ "max.rows": 1, "max.denied": true }),
      Telemetry.span("inner", { attributes: { "max.rows": 2 } }, () => Effect.void)
    )
    const [trace] = await Effect.runPromise(recorded(Effect.withSpan(Telemetry.withReadOnlySpan(inner), "root")))
    expect(trace!.spans.map(({ attributes, name, parentId }) => [name, attributes, parentId])).toEqual([
      ["root", {}, undefined],
      ["inner", { "max.rows": 2 }, trace!.spans[0]!.spanId]
    ])
  })

  const turn = Telemetry.linkedTrace("turn", { "max.organization.id": "1" }, Effect.withSpan(Effect.void, "work"))

  it("linkedTrace records a new trace with a link to the current span, whose channel it takes", async () => {
    const around = Effect.withSpan(Effect.andThen(turn, turn), "request", { attributes: { "max.channel": "http" } })
    const traces = await Effect.runPromise(recorded(around))
    const [first, second, request] = traces
    expect(traces.map(({ spans }) => spans.map(({ name }) => name))).toEqual([
      ["turn", "work"],
      ["turn", "work"],
      ["request"]
    ])
    expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(3)
    const link = { traceId: request!.traceId, spanId: request!.spans[0]!.spanId }
    for (const { spans } of [first!, second!]) {
      expect(spans[0]).toMatchObject({
        links: [link],
        attributes: { "max.channel": "http", "max.organization.id": "1" }
      })
      expect(spans[0]).not.toHaveProperty("parentId")
    }
    const [alone] = await Effect.runPromise(recorded(turn))
    expect(alone!.spans[0]).not.toHaveProperty("links")
  })

  it("linkedTrace keeps a trace exactly if its sampling share kept the one that it links to", async () => {
    let next = 0
    for (const share of [0, 0.5, 1]) {
      const random = vi.spyOn(Math, "random").mockImplementation(() => (next++ % 2) * 0.9)
      const around = Effect.withSpan(turn, "request")
      const kept = await Effect.runPromise(recorded(Effect.all([around, around, around]), { share, slow: 1_000_000 }))
      random.mockRestore()
      const requests = kept.filter(({ spans }) => spans[0]!.name === "request")
      expect(kept.length).toBe(2 * requests.length)
    }
  })

  it("linkedTrace never takes the trace id of a request's traceparent", async () => {
    const id = "0af7651916cd43dd8448eb211c80319c"
    const continued = Telemetry.continueFrom(Headers.fromInput({ traceparent: `00-${id}-b7ad6b7169203331-01` }), true)
    const traces = await Effect.runPromise(recorded(Effect.withSpan(Effect.andThen(continued, turn), "request")))
    const idOf = (name: string) => traces.find(({ spans }) => spans[0]!.name === name)!.traceId
    expect(idOf("request")).toBe(id)
    expect(idOf("turn")).not.toBe(id)
  })

  it("outside runs an effect under no span, so that services built in it keep the spans of their callers", async () => {
    const service = Effect.map(Effect.context<never>(), (captured) =>
      Effect.provideContext(Effect.withSpan(Effect.void, "work"), captured)
    )
    const served = Effect.flatMap(Effect.withSpan(Telemetry.outside(service), "startup"), Effect.withSpan("request"))
    const traces = await Effect.runPromise(recorded(served))
    expect(traces.map(({ spans }) => spans.map(({ name }) => name))).toEqual([["startup"], ["request", "work"]])
  })

  it("continueFrom ignores an invalid traceparent, and a trace whose id has been read", async () => {
    const id = "0af7651916cd43dd8448eb211c80319c"
    const traceIdOf = async (traceparent: string, before: Effect.Effect<unknown, unknown> = Effect.void) => {
      const continued = Effect.andThen(before, Telemetry.continueFrom(Headers.fromInput({ traceparent }), false))
      const [trace] = await Effect.runPromise(recorded(Effect.withSpan(continued, "root")))
      return trace!.traceId
    }
    const valid = `00-${id}-b7ad6b7169203331-01`
    expect(await traceIdOf(valid)).toBe(id)
    expect(await traceIdOf(valid, Telemetry.traceparent)).not.toBe(id)
    for (const hostile of [
      valid.toUpperCase(),
      `01-${id}-b7ad6b7169203331-01`,
      `00-${id}-b7ad6b7169203331`,
      `${valid}-00`,
      `00-${id}-${"0".repeat(16)}-01`,
      `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
      ` ${valid}`,
      `${valid}\n`,
      "x".repeat(500)
    ])
      expect(await traceIdOf(hostile), hostile).not.toBe(id)
  })

  it("traceparent names the current span, and is absent outside of any", async () => {
    const headers = await Effect.runPromise(
      Effect.withSpan(Effect.all([Telemetry.traceparent, Effect.currentSpan]), "root")
    )
    const [{ traceparent }, { spanId, traceId }] = headers
    expect(traceparent).toBe(`00-${traceId}-${spanId}-01`)
    expect(await Effect.runPromise(Telemetry.traceparent)).toEqual({})
  })
})
