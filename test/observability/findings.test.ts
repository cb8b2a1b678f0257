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
  it("reports nothing for traces below every threshold", () => {
    const root = span("invoke_agent max", 0, 900)
    expect(kinds(trace(root, statement(0, 5), statement(5, 9)), trace())).toEqual([])
  })

  it("reports a slow statement once, with its slowest trace", () => {
    const worst = trace(statement(0, 900))
    const [found, ...others] = findings([trace(statement(0, 150)), worst, trace(statement(0, 200))])
    expect(others).toEqual([])
    expect(found).toMatchObject({ kind: "slow statement", traces: 3, message: expect.stringContaining("900 ms") })
    expect(found!.command).toBe(`max trace explain ${found!.reference}`)
  })

  it("says who held the event loop, and for how long", () => {
    const turn = (cpu: number) => [
      span("POST /v1/chat", 0, 900, { "max.channel": "http" }),
      span("invoke_agent max", 1, 899, { "max.cpu_ms": cpu }),
      span("chat basic", 10, 890, { "max.blocked_ms": 800 })
    ]
    const waited = [span("POST /v1/tools/findEntities", 0, 700), span("postgres", 1, 690, { "max.blocked_ms": 640 })]
    const found = findings([trace(...turn(790)), trace(...turn(5)), trace(...waited)])
    expect(found.map(({ kind, message, traces }) => `${traces} ${kind}: ${message}`)).toEqual([
      "1 blocked event loop: a turn held the event loop for 800 ms in chat basic, and every other request waited; its own work took 790 ms of processor time, which MAX_TURN_CPU limits",
      "2 blocked event loop: POST /v1/chat waited 800 ms in chat basic for the blocked event loop: for the work of another request, garbage collection, or a busy machine"
    ])
    expect(kinds(trace(span("max find", 0, 900, { "max.channel": "cli", "max.blocked_ms": 800 })))).toEqual([])
    expect(kinds(trace(span("invoke_agent max", 0, 9000, { "max.cpu_ms": 1200 })))).toEqual(["processor time"])
  })

  it("excludes the wait for a connection from the time of a statement", () => {
    const waited = statement(0, 150, { "db.client.connection.wait_time_ms": 140 })
    expect(kinds(trace(span("POST /v1/tools/findEntities", 0, 160, { "max.channel": "http" }), waited))).toEqual([
      "connection wait"
    ])
    // A command always waits, because it opens its own connections.
    expect(kinds(trace(span("max find", 0, 160, { "max.channel": "cli" }), waited))).toEqual([])
  })

  it("orders findings by how actionable they are, each with the command to run next", () => {
    const root = span("invoke_agent max", 0, 2000)
    const found = findings([
      trace(
        root,
        span("chat claude", 0, 1900, { "gen_ai.usage.input_tokens": 9000 }),
        ...Array.from({ length: 5 }, (_, index) => ({
          ...statement(index * 200, index * 200 + 150),
          parentId: root.spanId
        }))
      )
    ])
    expect(found.map(({ kind }) => kind)).toEqual(["slow statement", "repeated statement", "many tokens", "model time"])
    for (const { command } of found)
      expect(command).toMatch(/^max (trace (show|explain) [0-9A-Z]{4}|usage --by person)$/)
  })

  /** A turn that runs one statement so many times, each below a span of its own. */
  const turn = (times: number) => {
    const root = span("invoke_agent max", 0, times)
    const lookups = Array.from({ length: times }, (_, index) => {
      const lookup = span("OrgEntityStore.find", index, index + 1, {}, root.spanId)
      return [lookup, { ...statement(index, index + 1), parentId: lookup.spanId }]
    })
    return [root, ...lookups.flat()]
  }

  it("reports a statement that one trace executes five times", () => {
    expect(kinds(trace(...turn(5)))).toEqual(["repeated statement"])
    expect(kinds(trace(...turn(4)))).toEqual([])
  })

  it("reports no repeated statement for turns that each run it once, or requests that continue one trace", () => {
    expect(kinds(...Array.from({ length: 9 }, () => trace(...turn(1))))).toEqual([])
    expect(kinds(trace(...Array.from({ length: 9 }, () => turn(1)).flat()))).toEqual([])
    expect(kinds(trace(...turn(1), ...turn(5), ...turn(1)))).toEqual(["repeated statement"])
  })

  it("reports sequential tool calls of one step, but not concurrent calls or calls of different steps", () => {
    const root = span("invoke_agent max", 0, 500)
    const tool = (from: number, to: number) => span("execute_tool findEntities", from, to, {}, root.spanId)
    const chat = (from: number, to: number) => span("chat claude", from, to, {}, root.spanId)
    expect(kinds(trace(root, chat(0, 10), tool(10, 20), tool(20, 30)))).toEqual(["sequential tool calls"])
    expect(kinds(trace(root, chat(0, 10), tool(10, 20), tool(11, 30)))).toEqual([])
    expect(kinds(trace(root, tool(10, 20), chat(20, 30), tool(30, 40)))).toEqual([])
  })

  it("reports waits for a connection, turns dominated by the model, and turns with many tokens", () => {
    expect(kinds(trace(statement(0, 50, { "db.client.connection.wait_time_ms": 40 })))).toEqual(["connection wait"])
    const root = span("invoke_agent max", 0, 2000)
    const chat = (to: number, tokens: number) =>
      span("chat claude", 0, to, { "gen_ai.request.model": "claude", "gen_ai.usage.input_tokens": tokens }, root.spanId)
    expect(kinds(trace(root, chat(1900, 10)))).toEqual(["model time"])
    expect(kinds(trace(root, chat(100, 9000)))).toEqual(["many tokens"])
  })

  it("reports frequent plan cache misses, and a caller who is denied in 20 traces", () => {
    const find = (cached: boolean) => trace(span("EntityQueryService.find", 0, 1, { "max.plan.cached": cached }))
    const lookups = (misses: number) => Array.from({ length: 40 }, (_, index) => find(index >= misses))
    expect(kinds(...lookups(20))).toEqual(["plan cache misses"])
    expect(kinds(...lookups(19))).toEqual([])
    const denied = () =>
      trace(span("EntityQueryService.find", 0, 1, { "max.denied": true, "max.organization.id": "7" }))
    expect(kinds(...Array.from({ length: 20 }, denied))).toEqual(["repeated denials"])
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
