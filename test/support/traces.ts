/** Records effects, and generates the traces of a busy server from a seed. */
import { Effect } from "effect"
import { Recorder, type Sampling } from "../../src/observability/Recorder.ts"
import type { AttributeValue, Trace, TraceSpan } from "../../src/observability/Trace.ts"
import { TraceStore } from "../../src/services/traces/TraceStore.ts"

export const EVERYTHING: Sampling = { share: 1, slow: 1_000_000 }
export const NOTHING: Sampling = { share: 0, slow: 1_000_000 }

/** The traces that a recorder keeps of an effect, however it exits. */
export const recorded = <A, E>(effect: Effect.Effect<A, E>, sampling = EVERYTHING) => {
  const recorder = Recorder.make(sampling)
  return Effect.map(Effect.exit(Effect.withTracer(effect, recorder.tracer)), () => recorder.take())
}

const generator = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const hex = (random: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("")

type Attributes = Readonly<Record<string, AttributeValue>>

/** Builds a trace; times are milliseconds since it began. */
const makeTrace = (random: () => number, organizationId: bigint, startedAt: number) => {
  const spans: Array<TraceSpan> = []
  const own = { "max.organization.id": String(organizationId) }
  const add = (
    name: string,
    from: number,
    to: number,
    attributes: Attributes = {},
    parentId?: string,
    more: Partial<TraceSpan> = {}
  ): string => {
    const spanId = hex(random, 16)
    spans.push({
      spanId,
      ...(parentId === undefined ? {} : { parentId }),
      name,
      kind: name === "postgres" ? "client" : parentId === undefined ? "server" : "internal",
      start: Math.round(from * 1e6),
      duration: Math.round((to - from) * 1e6),
      attributes: spans.length === 0 ? { ...own, ...attributes } : attributes,
      ...more
    })
    return spanId
  }
  /** A lookup: query service, store, statement. */
  const lookup = (parentId: string | undefined, from: number, to: number, shape: string, more: Attributes = {}) => {
    const [type = ""] = shape.split(" ")
    const find = add(
      "EntityQueryService.find",
      from,
      to,
      {
        ...own,
        "max.type": type,
        "max.shape": shape,
        "max.plan.cached": true,
        "max.total": 1,
        "max.entities": 1,
        ...more
      },
      parentId
    )
    const store = add("OrgEntityStore.find", from + 0.06, to - 0.04, { "max.rows": 1 }, find)
    const pool = shape.endsWith(":eq") && !shape.includes("status") ? "lookup" : "search"
    add(
      "postgres",
      from + 0.1,
      to - 0.08,
      {
        "db.system.name": "postgresql",
        "max.pool": pool,
        "db.query.summary": `max ${shape}`,
        "max.statement": statementHash(shape),
        ...(pool === "search" ? { "db.client.connection.wait_time_ms": 0.05 } : {})
      },
      store
    )
    return find
  }
  const finish = (statements: Readonly<Record<string, string>> = {}): Trace => ({
    traceId: hex(random, 32),
    startedAt: BigInt(startedAt) * 1_000_000n,
    spans,
    dropped: 0,
    statements
  })
  return { add, lookup, finish }
}

const statementHash = (shape: string): string => Buffer.from(shape).toString("hex").padEnd(12, "0").slice(-12)

const SHAPES = ["people email:eq", "people phone:eq", "people name:ilike", "companies name:ilike", "meetings start:gte"]

/** A tool call over HTTP. */
const call = (random: () => number, organizationId: bigint, startedAt: number): Trace => {
  const { add, finish, lookup } = makeTrace(random, organizationId, startedAt)
  const statement = Math.exp(random() * 3.6 - 1.2)
  const shape = SHAPES[Math.floor(random() * SHAPES.length)]!
  const outcome = random()
  const root = add("POST /v1/tools/findEntities", 0, statement + 1.1, {
    "max.channel": "http",
    "http.request.method": "POST",
    "http.route": "/v1/tools/findEntities",
    "http.response.status_code": outcome < 0.01 ? 503 : outcome < 0.04 ? 404 : 200,
    "max.bytes": 312
  })
  if (outcome < 0.04 && outcome >= 0.01)
    add(
      "EntityQueryService.find",
      0.5,
      0.9,
      { "max.organization.id": String(organizationId), "max.denied": true, "max.caller": "5c1e0f2a" },
      root,
      { failure: "UnknownName" }
    )
  else lookup(root, 0.5, statement + 0.9, shape)
  return finish()
}

/** A turn of a conversation: the model, two tool calls, and the model again. */
const turn = (random: () => number, organizationId: bigint, startedAt: number): Trace => {
  const { add, finish, lookup } = makeTrace(random, organizationId, startedAt)
  const first = 500 + random() * 900
  const second = 600 + random() * 1400
  const whole = first + second + 40
  const model = { "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-haiku-5-5" }
  const root = add("invoke_agent max", 0, whole, {
    ...model,
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": hex(random, 8),
    "gen_ai.usage.input_tokens": 3200,
    "gen_ai.usage.output_tokens": 190,
    "max.steps": 2
  })
  const admit = add("IdentityResolver.readmit", 0.3, 2.1, {}, root)
  const state = add("OrganizationState.read", 0.4, 2, {}, admit)
  add("postgres", 0.6, 1.7, { "db.query.summary": "max state", "max.pool": "search" }, state)
  add("Sessions.open", 2.2, 5.4, {}, root)
  const chat = (from: number, to: number, input: number) =>
    add(
      "chat claude-haiku-5-5",
      from,
      to,
      {
        ...model,
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.output_tokens": 95
      },
      root
    )
  chat(6, first, 1500)
  for (const [shape, length] of [
    ["people name:ilike", 6 + random() * 9],
    ["meetings start:gte", 4 + random() * 6]
  ] as const) {
    const tool = add(
      "execute_tool findEntities",
      first + 0.4,
      first + 0.8 + length,
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "findEntities", "max.bytes": 421 },
      root
    )
    lookup(tool, first + 0.6, first + 0.6 + length, shape)
  }
  chat(first + 18, first + 18 + second, 1700)
  return finish()
}

/** Traces spread over the last minutes. */
export const busyTraces = (count: number, organizationId: bigint, minutes = 600, seed = 7): ReadonlyArray<Trace> => {
  const random = generator(seed)
  const now = Date.now()
  return Array.from({ length: count }, (_, index) => {
    const startedAt = now - Math.round(((index + 1) / count) * minutes * 60_000)
    return (random() < 0.25 ? turn : call)(random, organizationId, startedAt)
  })
}

/** A slow lookup that reads a whole large table. */
export const slowTrace = (organizationId: bigint, milliseconds: number, seed = 11): Trace => {
  const random = generator(seed)
  const { add, finish, lookup } = makeTrace(random, organizationId, Date.now() - 42_000)
  const shape = "contacts email:eq"
  const root = add("POST /v1/tools/findEntities", 0, milliseconds + 2, {
    "max.channel": "http",
    "http.request.method": "POST",
    "http.route": "/v1/tools/findEntities",
    "http.response.status_code": 200,
    "max.bytes": 188
  })
  lookup(root, 0.7, milliseconds + 1.6, shape)
  return finish({
    [statementHash(shape)]:
      '/* max contacts email:eq */ WITH m AS MATERIALIZED (SELECT p.id FROM "crm"."contacts" p WHERE max.fold_email(p."email") = $3::text ORDER BY p.id LIMIT 1001) SELECT …'
  })
}

/** A turn that runs one statement for each of twelve people (N+1). */
export const repeatingTrace = (organizationId: bigint): Trace => {
  const random = generator(13)
  const { add, finish, lookup } = makeTrace(random, organizationId, Date.now() - 21_000)
  const root = add("invoke_agent max", 0, 940, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-haiku-5-5"
  })
  add("chat claude-haiku-5-5", 4, 420, { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 1480 }, root)
  for (let index = 0; index < 12; index++) {
    const from = 424 + index * 9
    const tool = add(
      "execute_tool findEntities",
      from,
      from + 8,
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "findEntities" },
      root
    )
    lookup(tool, from + 0.3, from + 7.6, "people owner:eq")
  }
  add("chat claude-haiku-5-5", 538, 932, { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 2210 }, root)
  return finish()
}

/** The stored traces that a query lists, once there are `count` of them: traces are written in batches. */
export const storedTraces = (query: Parameters<TraceStore["Service"]["list"]>[0], count = 1) =>
  Effect.gen(function* () {
    const store = yield* TraceStore
    for (;;) {
      const lines = yield* store.list(query)
      if (lines.length >= count) return lines
      yield* Effect.sleep("50 millis")
    }
  }).pipe(Effect.timeout("60 seconds"))
