/** `max eval`: runs cases with expected results, each as the person that it names. */
import { Context, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changingOf } from "../../../agents/changing.ts"
import { MaxAgent } from "../../../agents/MaxAgent.ts"
import type { TurnUsage } from "../../../wire/TurnEvent.ts"
import { PEOPLE } from "../../../domain/EntityType.ts"
import { type ConfigurationError, type LookupError, NotAdmitted, OperatorError } from "../../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../../domain/Principal.ts"
import { MAX_LIMIT } from "../../../domain/Query.ts"
import { pinToday } from "../../../domain/today.ts"
import { isoDate } from "../../../domain/values.ts"
import { Env } from "../../../env.ts"
import { Agent, UnlimitedChanges } from "../../../layers.ts"
import { Changes } from "../../../services/changes/Changes.ts"
import { EntityQueryService } from "../../../services/EntityQueryService.ts"
import { ExternalIds } from "../../../services/operations/ExternalIds.ts"
import { Snapshots } from "../../../services/operations/Snapshots.ts"
import { admitNamed } from "../../../services/members/admitNamed.ts"
import { IdentityResolver } from "../../../services/members/IdentityResolver.ts"
import { readIdentifier } from "../../../services/members/identifier.ts"
import { currentOrganization, max, UsageError } from "../context.ts"
import { TERMINAL } from "../deciding.ts"
import { result } from "../output.ts"
import { readTextFile } from "../readTextFile.ts"
import { type Kind, KINDS, lines, type Outcome, summary } from "../evalSummary.ts"
import { Expected, type Tried, tryDeed, type TryError } from "../tryDeed.ts"

const Case = Schema.Struct({
  as: Schema.optionalKey(Schema.String),
  find: Schema.optionalKey(Schema.Struct({ type: Schema.String, where: Schema.Record(Schema.String, Schema.String) })),
  anchor: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  ask: Schema.optionalKey(Schema.String),
  do: Schema.optionalKey(Schema.String),
  /** External ids; of a `do` case, the writes. */
  expect: Schema.Union([Schema.Array(Schema.String), Schema.Array(Expected)])
})
type Case = typeof Case.Type
const decodeCase = Schema.decodeUnknownEffect(Schema.fromJsonString(Case))

/** The result of a case, with the cost of an `ask` case and the verdict of a `do` case. */
interface Found {
  readonly ids: ReadonlyArray<string>
  readonly usage?: TurnUsage
  readonly tried?: Tried
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
    ),
    today: Flag.String("today").pipe(
      Flag.withDescription("The date that is today for the cases, at midnight, YYYY-MM-DD"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    if (Option.isSome(input.today)) {
      if (isoDate(input.today.value) === undefined)
        return yield* UsageError.of("--today is a date, such as 2026-03-31.")
      pinToday(input.today.value)
    }
    const runCase = yield* caseRunner
    const outcomes: Array<Outcome> = []
    for (const file of input.files) {
      const lines = (yield* readTextFile(file, MAX_CASES_LENGTH)).split("\n")
      for (const [index, line] of lines.entries()) {
        if (line.trim() === "") continue
        const place = `${file}:${index + 1}`
        const one = yield* Effect.mapError(decodeCase(line), () => OperatorError.of(`${place}: this is not a case.`))
        const kind = KINDS.find((candidate) => one[candidate] !== undefined)
        if (kind === undefined) return yield* OperatorError.of(`${place}: a case has find, anchor, ask or do.`)
        const started = performance.now()
        const outcome = yield* runCase(one, kind).pipe(
          // A configuration error fails every case, so it ends the command.
          Effect.catch((error) =>
            error._tag === "ConfigurationError" ? Effect.fail(error) : Effect.succeed(error.message)
          )
        )
        const tried = typeof outcome === "string" ? undefined : outcome.tried
        const found = typeof outcome === "string" ? outcome : (tried?.found ?? outcome.ids)
        const expected = one.expect.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).sort()
        outcomes.push({
          kind,
          place,
          expected,
          found,
          passed:
            tried === undefined
              ? typeof found !== "string" && JSON.stringify([...found].sort()) === JSON.stringify(expected)
              : tried.verdict === "exact",
          ...(kind === "do" ? { verdict: tried?.verdict ?? "nothing" } : {}),
          millis: performance.now() - started,
          ...(typeof outcome === "string" || outcome.usage === undefined ? {} : { usage: outcome.usage })
        })
        if (tried?.spoiled === true)
          return yield* OperatorError.of(`${place}: the change couldn't be undone. Import the rows again.`)
      }
    }
    if (outcomes.length === 0) return yield* OperatorError.of("These files contain no case.")
    const passed = outcomes.filter((outcome) => outcome.passed).length
    yield* result(summary(outcomes), lines(outcomes))
    if (passed / outcomes.length < input.min) {
      return yield* OperatorError.of(`${passed} of ${outcomes.length} passed; ${input.min * 100} % was required.`)
    }
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Run cases with expected results: lookups (find, anchor), questions (ask) and requests to change (do). Each change is applied and undone, so use a copy"
  )
)

const caseRunner = Effect.gen(function* () {
  const organization = yield* currentOrganization
  const identities = yield* IdentityResolver
  const queries = yield* EntityQueryService
  const externalIds = yield* ExternalIds
  const env = yield* Env
  const fallback = Option.getOrElse((yield* max).as, () => env.as)
  const principals = new Map<string, Principal>()
  // Only `ask` cases need a model, so only they report its configuration errors.
  const services = yield* Effect.context<
    Layer.Services<typeof Agent> | Layer.Services<typeof UnlimitedChanges> | Scope.Scope
  >()
  const build = <A, E>(
    layer: Layer.Layer<A, E, Layer.Services<typeof Agent> | Layer.Services<typeof UnlimitedChanges>>
  ) => Effect.cached(Layer.build(layer).pipe(Effect.provideContext(services)))
  const asking = yield* build(Agent)
  const agent = Effect.map(asking, (built) => Context.get(built, MaxAgent))
  // Limits are for people, who don't try out a hundred changes in a minute.
  const doing = yield* build(Layer.provideMerge(Agent, UnlimitedChanges))
  const snapshots = yield* Snapshots
  const start = yield* Effect.cached(snapshots.of(organization))

  const principal = Effect.fnUntraced(function* (who: string | undefined) {
    if (who === undefined) return yield* UsageError.of('Name the person: --as, or "as" in the case.')
    const cached = principals.get(who)
    if (cached !== undefined) return cached
    const admitted =
      (yield* Effect.provideService(admitNamed(organization, who), IdentityResolver, identities)) ??
      (yield* NotAdmitted.error)
    principals.set(who, admitted)
    return admitted
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
    // The turn of a person who may draft, as in `max ask`; nothing is confirmed.
    const changes = changingOf(TERMINAL, ["changes"])
    const turn = max.turn({ organization, who: yield* principal(who), say: { text }, changes })
    const events = yield* Stream.runCollect(turn)
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

  /** What the rows are after a request was said and its change confirmed. */
  const attempt = Effect.fnUntraced(function* (text: string, expected: Case["expect"], who: string | undefined) {
    const built = yield* doing
    const wanted = expected.filter((each) => typeof each !== "string")
    const tried = yield* tryDeed(text, wanted, yield* principal(who), {
      organization,
      agent: Context.get(built, MaxAgent),
      changes: Context.get(built, Changes),
      snapshots,
      start: yield* start
    })
    return { ids: [], tried }
  })

  return (one: Case, kind: Kind): Effect.Effect<Found, LookupError | TryError | ConfigurationError> => {
    switch (kind) {
      case "find":
        return find(one.find!, one.as ?? fallback)
      case "anchor":
        return anchor(one.anchor!)
      case "ask":
        return ask(one.ask!, one.as ?? fallback)
      case "do":
        return attempt(one.do!, one.expect, one.as ?? fallback)
    }
  }
})
