import { describe, expect, it } from "vitest"
import { findings } from "../../src/observability/findings.ts"
import type { Trace, TraceSpan } from "../../src/observability/Trace.ts"

let next = 0
const span = (
  name: string,
  from: number,
  to: number,
  attributes: TraceSpan["attributes"] = {},
  parentId?: string
): TraceSpan => ({
  spanId: (next++).toString(16).padStart(16, "0"),
  ...(parentId === undefined ? {} : { parentId }),
  name,
  kind: "internal",
  start: from * 1e6,
  duration: (to - from) * 1e6,
  attributes
})

const trace = (...spans: ReadonlyArray<TraceSpan>): Trace => ({
  traceId: (next++).toString(16).padStart(32, "0"),
  startedAt: 1n,
  spans,
  dropped: 0,
  statements: {}
})

const statement = (from: number, to: number, more: TraceSpan["attributes"] = {}) =>
  span("postgres", from, to, {
    "db.query.summary": "max people name:ilike",
    "max.statement": "abc",
    "max.pool": "search",
    ...more
  })

const kinds = (...traces: ReadonlyArray<Trace>) => findings(traces).map(({ kind }) => kind)

describe("findings", () => {
  it("says nothing of traces in which nothing stands out", () => {
    const root = span("invoke_agent max", 0, 900)
    expect(kinds(trace(root, statement(0, 5), statement(5, 9)), trace())).toEqual([])
  })

  it("names a slow statement once, with the worst of its traces", () => {
    const worst = trace(statement(0, 900))
    const [found, ...others] = findings([trace(statement(0, 150)), worst, trace(statement(0, 200))])
    expect(others).toEqual([])
    expect(found).toMatchObject({ kind: "slow statement", traces: 3, message: expect.stringContaining("900 ms") })
    expect(found!.command).toBe(`max trace explain ${found!.reference}`)
  })

  it("counts of a statement what the database took, not the wait for a connection", () => {
    const waited = statement(0, 150, { "db.client.connection.wait_time_ms": 140 })
    expect(kinds(trace(span("POST /v1/tools/findEntities", 0, 160, { "max.channel": "http" }), waited))).toEqual([
      "waiting for a connection"
    ])
    // A command opens its connections itself.
    expect(kinds(trace(span("max find", 0, 160, { "max.channel": "cli" }), waited))).toEqual([])
  })

  it("says of each what to run next, what can be mended best first", () => {
    const found = findings([
      trace(
        span("invoke_agent max", 0, 2000),
        span("chat claude", 0, 1900, { "gen_ai.usage.input_tokens": 9000 }),
        ...Array.from({ length: 5 }, (_, index) => statement(index * 200, index * 200 + 150))
      )
    ])
    expect(found.map(({ kind }) => kind)).toEqual([
      "slow statement",
      "repeated statement",
      "many tokens",
      "mostly the model"
    ])
    for (const { command } of found)
      expect(command).toMatch(/^max (trace (show|explain) [0-9A-Z]{4}|usage --by person)$/)
  })

  it("names a statement that one trace repeats", () => {
    expect(kinds(trace(...Array.from({ length: 5 }, (_, index) => statement(index, index + 1))))).toEqual([
      "repeated statement"
    ])
    expect(kinds(trace(...Array.from({ length: 4 }, (_, index) => statement(index, index + 1))))).toEqual([])
  })

  it("names tool calls of one step that ran one after another, not those of different steps or at once", () => {
    const root = span("invoke_agent max", 0, 500)
    const tool = (from: number, to: number) => span("execute_tool findEntities", from, to, {}, root.spanId)
    const chat = (from: number, to: number) => span("chat claude", from, to, {}, root.spanId)
    expect(kinds(trace(root, chat(0, 10), tool(10, 20), tool(20, 30)))).toEqual(["one after another"])
    expect(kinds(trace(root, chat(0, 10), tool(10, 20), tool(11, 30)))).toEqual([])
    expect(kinds(trace(root, tool(10, 20), chat(20, 30), tool(30, 40)))).toEqual([])
  })

  it("names waiting for a connection, a turn that is mostly the model's, and one with many tokens", () => {
    expect(kinds(trace(statement(0, 50, { "db.client.connection.wait_time_ms": 40 })))).toEqual([
      "waiting for a connection"
    ])
    const root = span("invoke_agent max", 0, 2000)
    const chat = (to: number, tokens: number) =>
      span("chat claude", 0, to, { "gen_ai.request.model": "claude", "gen_ai.usage.input_tokens": tokens }, root.spanId)
    expect(kinds(trace(root, chat(1900, 10)))).toEqual(["mostly the model"])
    expect(kinds(trace(root, chat(100, 9000)))).toEqual(["many tokens"])
  })

  it("names plans that are made anew most of the time, and a caller who is denied again and again", () => {
    const find = (cached: boolean) => trace(span("EntityQueryService.find", 0, 1, { "max.plan.cached": cached }))
    const lookups = (misses: number) => Array.from({ length: 40 }, (_, index) => find(index >= misses))
    expect(kinds(...lookups(20))).toEqual(["plans made anew"])
    expect(kinds(...lookups(19))).toEqual([])
    const denied = () =>
      trace(span("EntityQueryService.find", 0, 1, { "max.denied": true, "max.organization.id": "7" }))
    expect(kinds(...Array.from({ length: 20 }, denied))).toEqual(["denied again and again"])
    expect(kinds(...Array.from({ length: 19 }, denied))).toEqual([])
    const by = (caller: string) => () =>
      trace(
        span("EntityQueryService.find", 0, 1, { "max.denied": true, "max.organization.id": "7", "max.caller": caller })
      )
    const [hammering, ...others] = findings([
      ...Array.from({ length: 23 }, by("aa")),
      ...Array.from({ length: 19 }, by("bb"))
    ])
    expect(others).toEqual([])
    expect(hammering).toMatchObject({ traces: 23, command: "max audit list --refused" })
  })
})
