/** `max eval`: runs lookup cases with expected results, each as the person that it names. */
import { Context, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { MaxAgent } from "../../../agents/MaxAgent.ts"
import type { TurnUsage } from "../../../wire/TurnEvent.ts"
import { PEOPLE } from "../../../domain/EntityType.ts"
import { type ConfigurationError, type LookupError, NotAdmitted, OperatorError } from "../../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../../domain/Principal.ts"
import { MAX_LIMIT } from "../../../domain/Query.ts"
import { Env } from "../../../env.ts"
import { Agent } from "../../../layers.ts"
import { EntityQueryService } from "../../../services/EntityQueryService.ts"
import { ExternalIds } from "../../../services/operations/ExternalIds.ts"
import { IdentityResolver } from "../../../services/members/IdentityResolver.ts"
import { readIdentifier } from "../../../services/members/identifier.ts"
import { currentOrganization, max, UsageError } from "../context.ts"
import { result } from "../output.ts"
import { readTextFile } from "../readTextFile.ts"

const Case = Schema.Struct({
  as: Schema.optionalKey(Schema.String),
  find: Schema.optionalKey(Schema.Struct({ type: Schema.String, where: Schema.Record(Schema.String, Schema.String) })),
  anchor: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  ask: Schema.optionalKey(Schema.String),
  expect: Schema.Array(Schema.String)
})
type Case = typeof Case.Type
const decodeCase = Schema.decodeUnknownEffect(Schema.fromJsonString(Case))

type Kind = "find" | "anchor" | "ask"
const KINDS: ReadonlyArray<Kind> = ["find", "anchor", "ask"]

interface Outcome {
  readonly kind: Kind
  readonly passed: boolean
  readonly millis: number
  readonly place: string
  readonly expected: ReadonlyArray<string>
  readonly found: ReadonlyArray<string> | string
  /** The cost of an `ask` case. */
  readonly usage?: TurnUsage
}

/** The result of a case, with the cost of an `ask` case. */
interface Found {
  readonly ids: ReadonlyArray<string>
  readonly usage?: TurnUsage
}

const MAX_CASES_LENGTH = 50_000_000
/** The most ids to fetch: a case with more has failed. */
const MAX_FOUND = 1000

export const evaluate = Command.make(
  "eval",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("JSONL, one case per line"),
      Argument.variadic({ min: 1 })
    ),
    min: Flag.Finite("min").pipe(
      Flag.withDescription("The minimum share of passing cases, 0 to 1"),
      Flag.withDefault(1)
    )
  },
  Effect.fnUntraced(function* (input) {
    const runCase = yield* caseRunner
    const outcomes: Array<Outcome> = []
    for (const file of input.files) {
      const lines = (yield* readTextFile(file, MAX_CASES_LENGTH)).split("\n")
      for (const [index, line] of lines.entries()) {
        if (line.trim() === "") continue
        const place = `${file}:${index + 1}`
        const one = yield* Effect.mapError(decodeCase(line), () => OperatorError.of(`${place}: this is not a case.`))
        const kind = KINDS.find((candidate) => one[candidate] !== undefined)
        if (kind === undefined) return yield* OperatorError.of(`${place}: a case has find, anchor or ask.`)
        const started = performance.now()
        const outcome = yield* runCase(one, kind).pipe(
          // A configuration error fails every case, so it ends the command.
          Effect.catch((error) =>
            error._tag === "ConfigurationError" ? Effect.fail(error) : Effect.succeed(error.message)
          )
        )
        const found = typeof outcome === "string" ? outcome : outcome.ids
        const expected = [...one.expect].sort()
        outcomes.push({
          kind,
          place,
          expected,
          found,
          passed: typeof found !== "string" && JSON.stringify([...found].sort()) === JSON.stringify(expected),
          millis: performance.now() - started,
          ...(typeof outcome === "string" || outcome.usage === undefined ? {} : { usage: outcome.usage })
        })
      }
    }
    if (outcomes.length === 0) return yield* OperatorError.of("These files contain no case.")
    const passed = outcomes.filter((outcome) => outcome.passed).length
    yield* result(summary(outcomes), lines(outcomes))
    if (passed / outcomes.length < input.min) {
      return yield* OperatorError.of(`${passed} of ${outcomes.length} passed; ${input.min * 100} % was required.`)
    }
  }, Effect.scoped)
).pipe(Command.withDescription("Run lookup cases with expected results"))

const caseRunner = Effect.gen(function* () {
  const organization = yield* currentOrganization
  const identities = yield* IdentityResolver
  const queries = yield* EntityQueryService
  const externalIds = yield* ExternalIds
  const env = yield* Env
  const fallback = Option.getOrElse((yield* max).as, () => env.as)
  const principals = new Map<string, Principal>()
  // Only `ask` cases need a model, so only they report its configuration errors.
  const services = yield* Effect.context<Layer.Services<typeof Agent> | Scope.Scope>()
  const agent = yield* Effect.cached(
    Layer.build(Agent).pipe(
      Effect.map((built) => Context.get(built, MaxAgent)),
      Effect.provideContext(services)
    )
  )

  const principal = Effect.fnUntraced(function* (who: string | undefined) {
    if (who === undefined) return yield* UsageError.of('Name the person: --as, or "as" in the case.')
    const cached = principals.get(who)
    if (cached !== undefined) return cached
    const identifier = readIdentifier(who, organization)
    if (identifier === undefined) return yield* NotAdmitted.error
    const admitted = yield* identities.admit(organization, identifier)
    principals.set(who, admitted.principal)
    return admitted.principal
  })

  const translated = Effect.fnUntraced(function* (type: string, ids: ReadonlyArray<string>) {
    const externalIdOf = yield* externalIds.of(organization, type, ids)
    return ids.map((id) => externalIdOf.get(id) ?? id)
  })

  const find = Effect.fnUntraced(function* (query: NonNullable<Case["find"]>, who: string | undefined) {
    const as = Effect.provideService(CurrentPrincipal, yield* principal(who))
    const filters = Object.entries(query.where).map(([columnId, value]) => ({ columnId, op: "eq" as const, value }))
    const ids: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* as(
        queries.findEntities({
          organizationId: organization.id,
          entityTypeId: query.type,
          filters,
          limit: MAX_LIMIT,
          cursorEntityId: cursor
        })
      )
      ids.push(...page.entities.map((entity) => entity.entityId))
      cursor = page.nextCursorEntityId
    } while (cursor !== undefined && ids.length < MAX_FOUND)
    return { ids: yield* translated(query.type, ids) }
  })

  const anchor = Effect.fnUntraced(function* (identifiers: Readonly<Record<string, string>>) {
    const identifier = readIdentifier(Object.values(identifiers)[0] ?? "", organization)
    const ids = identifier === undefined ? [] : yield* identities.identify(organization, identifier)
    return { ids: ids.length === 1 ? yield* translated(PEOPLE, ids) : [] }
  })

  /** The entities that the answer presents. */
  const ask = Effect.fnUntraced(function* (text: string, who: string | undefined) {
    const max = yield* agent
    const events = yield* Stream.runCollect(max.turn({ organization, who: yield* principal(who), say: { text } }))
    const last = [...events].at(-1)
    if (last?._tag !== "done") return yield* OperatorError.of(last?._tag === "error" ? last.message : "")
    const { references, usage } = last
    const types = [...new Set(references.map(({ type }) => type))]
    const ids = yield* Effect.forEach(types, (type) =>
      translated(
        type,
        references.filter((one) => one.type === type).map(({ id }) => id)
      )
    )
    return { ids: ids.flat(), usage }
  })

  return (one: Case, kind: Kind): Effect.Effect<Found, LookupError | OperatorError | ConfigurationError> => {
    switch (kind) {
      case "find":
        return find(one.find!, one.as ?? fallback)
      case "anchor":
        return anchor(one.anchor!)
      case "ask":
        return ask(one.ask!, one.as ?? fallback)
    }
  }
})

const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100

/** The mean input and output tokens of an answer. */
const tokensPerAsk = (outcomes: ReadonlyArray<Outcome>) => {
  const usages = outcomes.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  const mean = (of: (usage: TurnUsage) => number) =>
    usages.length === 0 ? 0 : Math.round(usages.reduce((sum, usage) => sum + of(usage), 0) / usages.length)
  return { input: mean(({ inputTokens }) => inputTokens), output: mean(({ outputTokens }) => outputTokens) }
}

const summary = (outcomes: ReadonlyArray<Outcome>) => ({
  passed: outcomes.filter((outcome) => outcome.passed).length,
  failed: outcomes.filter((outcome) => !outcome.passed).length,
  kinds: Object.fromEntries(
    KINDS.flatMap((kind) => {
      const own = outcomes.filter((outcome) => outcome.kind === kind)
      if (own.length === 0) return []
      const times = own.map((outcome) => outcome.millis).sort((a, b) => a - b)
      return [
        [
          kind,
          {
            passed: own.filter((outcome) => outcome.passed).length,
            of: own.length,
            p50: quantile(times, 0.5),
            p95: quantile(times, 0.95),
            ...(kind === "ask" ? { tokens: tokensPerAsk(own) } : {})
          }
        ]
      ]
    })
  ),
  failures: outcomes
    .filter((outcome) => !outcome.passed)
    .map(({ expected, found, place }) => ({ place, expected, found }))
})

const lines = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> => {
  const { failed, failures, kinds, passed } = summary(outcomes)
  return [
    ...Object.entries(kinds).map(
      ([kind, own]) =>
        `${kind.padEnd(7)} ${own.passed} of ${own.of} passed  p50 ${own.p50} ms  p95 ${own.p95} ms` +
        ("tokens" in own ? `  tokens per ask ${own.tokens?.input} in, ${own.tokens?.output} out` : "")
    ),
    ...failures
      .slice(0, 20)
      .map(
        ({ expected, found, place }) =>
          `  ${place}: expected ${list(expected)}, found ${typeof found === "string" ? found : list(found)}`
      ),
    ...(failures.length > 20 ? [`  … and ${failures.length - 20} more`] : []),
    `${passed} passed, ${failed} failed`
  ]
}

const list = (ids: ReadonlyArray<string>): string => (ids.length === 0 ? "nothing" : ids.slice(0, 5).join(", "))
