/**
 * Max inside another program: as layers for a service of Effect, and as promises for everything else. Nothing is read
 * from the environment, recorded or started beside it unless it is asked for, and nobody is asked for by default.
 */
import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { turnError } from "./agents/turnError.ts"
import type { TurnEvent } from "./wire/TurnEvent.ts"
import { Database } from "./database/Database.ts"
import type { Connection } from "./database/DatabaseSource.ts"
import type { Organization } from "./domain/EntityType.ts"
import { ConfigurationError, InvalidInput, type LookupError, NotAdmitted, Unavailable } from "./domain/errors.ts"
import type { Named, ListedType, Page } from "./domain/Page.ts"
import { CurrentPrincipal, type Principal } from "./domain/Principal.ts"
import type { FindQuery } from "./domain/Query.ts"
import { Vouched, type Vouching } from "./domain/Vouched.ts"
import { Env, type Values } from "./env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "./layers.ts"
import { Admission, type AdmissionError } from "./services/access/Admission.ts"
import { CallLimits } from "./services/access/CallLimits.ts"
import type { Scope } from "./services/access/Credentials.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { IdentityResolver } from "./services/members/IdentityResolver.ts"
import { readIdentifier } from "./services/members/identifier.ts"
import { OrganizationState } from "./services/catalog/OrganizationState.ts"
import { callTool, type ToolOutcome } from "./tools/call.ts"
import { ToolHandlers } from "./tools/handlers.ts"

/** Where the data is: exactly one of the first three, or the environment's DATABASE_URL. */
export interface MaxOptions {
  /** A migrated Postgres, as a URL. */
  readonly databaseUrl?: string | Redacted.Redacted<string> | undefined
  /** A migrated Postgres, as `PgClient` is configured: certificates, sockets, types. */
  readonly connection?: Connection | undefined
  /** The folder of Max's own Postgres, which is started when it doesn't run. */
  readonly embedded?: string | undefined
  /** Reads what isn't given from the environment. */
  readonly environment?: boolean | undefined
  /** Records traces as `max trace` shows them, in place of the tracer that is there. */
  readonly traces?: boolean | undefined
  /** Settings by their names in `SETTINGS`: who thinks, budgets, timeouts. */
  readonly settings?: Partial<Omit<Values, "databaseUrl" | "dataDir">> | undefined
}

/** What lets somebody in: a verified identifier, a token, or the word of the program that Max is part of. */
export type Proof = { readonly email: string } | { readonly phone: string } | { readonly token: string } | Vouched

/** What `Max.layer` provides. */
export type MaxServices = Layer.Success<ReturnType<typeof everything>>

export interface Answer {
  readonly text: string
  /** The conversation that it belongs to, to go on with. */
  readonly session: string
  /** What the answer was about. */
  readonly references: Extract<TurnEvent, { _tag: "done" }>["references"]
  readonly usage: Extract<TurnEvent, { _tag: "done" }>["usage"]
  /** Opens the answer's trace. */
  readonly reference: string
}

export interface AskOptions {
  /** The conversation to go on with; somebody else's, an unknown one or none begins a new one. */
  readonly session?: string | undefined
  /** Everything that the turn says while it goes on. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined
  /** Ends the turn and its model's call. */
  readonly signal?: AbortSignal | undefined
}

/** Max for one person. Each call finds out anew whether the person may come in. */
export interface MaxFor {
  readonly listEntityTypes: () => Promise<{ readonly entityTypes: ReadonlyArray<ListedType> }>
  readonly listColumnsForType: (input: {
    readonly entityTypeId: string
    readonly filter?: { readonly nameContains?: ReadonlyArray<string>; readonly max?: number }
  }) => Promise<{ readonly columns: ReadonlyArray<Named> }>
  readonly findEntities: (input: FindQuery) => Promise<Page>
  /** A tool as a model calls it: what is wrong with the call is in the outcome, who may not come in is rejected. */
  readonly callTool: (name: string, input: unknown) => Promise<ToolOutcome>
  readonly ask: (text: string, options?: AskOptions) => Promise<Answer>
}

export class Max implements AsyncDisposable {
  readonly #runtime: ManagedRuntime.ManagedRuntime<MaxServices, ConfigurationError | Unavailable>
  readonly #organization: Organization

  private constructor(
    runtime: ManagedRuntime.ManagedRuntime<MaxServices, ConfigurationError | Unavailable>,
    organization: Organization
  ) {
    this.#runtime = runtime
    this.#organization = organization
  }

  /**
   * Every service, the three tools and the agent, for a service of Effect. Who asks is not among them: `CurrentPrincipal`
   * stays a requirement of every call.
   */
  static readonly layer = (options: MaxOptions): Layer.Layer<MaxServices, ConfigurationError | Unavailable> => {
    const layer = everything(options)
    // With a memory of its own, so that two of them in one program don't share a database.
    return Layer.effectContext(
      Effect.flatMap(Effect.scope, (scope) => Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), scope))
    )
  }

  /** Somebody whom the calling program has identified itself. Never make one of what was sent. Throws InvalidInput. */
  static readonly principal = (vouching: Vouching): Vouched => new Vouched(vouching)

  /** The principal of a proof, to be provided as `CurrentPrincipal` to one call. A token has to be good for `scope`. */
  static readonly admit = (
    organization: Organization,
    proof: Proof,
    scope: Scope = "tools"
  ): Effect.Effect<Principal, AdmissionError | InvalidInput, IdentityResolver | Admission> =>
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      if (Vouched.is(proof)) return (yield* identities.vouch(organization, proof)).principal
      const { kind, text } = yield* readProof(proof)
      if (kind === "token") {
        const admission = yield* Admission
        const { principal } = yield* admission.admit({ by: "bearer", secret: text }, { scope, calls: 0 })
        return principal.organizationId === organization.id ? principal : yield* NotAdmitted.error
      }
      const identifier = readIdentifier(text, organization)
      if (identifier?.kind !== kind) return yield* new InvalidInput({ message: `${kind} is none that can be read.` })
      return (yield* identities.admit(organization, identifier)).principal
    })

  /** Connects. The organization, by slug, may be left out where there is only one. */
  static readonly open = async (options: MaxOptions & { readonly organization?: string | undefined }): Promise<Max> => {
    const runtime = ManagedRuntime.make(Max.layer(options))
    try {
      const { organization } = options
      const found = Effect.gen(function* () {
        const env = yield* Env
        const states = yield* OrganizationState
        return yield* states.organization(organization ?? env.organization)
      })
      return new Max(runtime, await promised(runtime, found))
    } catch (error) {
      await runtime.dispose()
      throw error
    }
  }

  /** Max for whom a proof lets in. Nobody is let in here: every call of what is returned does that. */
  as(proof: Proof): MaxFor {
    const runtime = this.#runtime
    const organization = this.#organization
    const own = { organizationId: organization.id }
    const run = <A, E>(
      effect: Effect.Effect<A, E, MaxServices | CurrentPrincipal>,
      scope: Scope = "tools",
      signal?: AbortSignal
    ) =>
      promised(
        runtime,
        Effect.flatMap(Max.admit(organization, proof, scope), (principal) =>
          Effect.provideService(effect, CurrentPrincipal, principal)
        ),
        signal
      )
    const look = <A>(
      use: (queries: EntityQueryService["Service"]) => Effect.Effect<A, LookupError, CurrentPrincipal>
    ) => run(Effect.flatMap(EntityQueryService, use))
    return {
      listEntityTypes: () => look((queries) => queries.listEntityTypes(own)),
      listColumnsForType: (input) => look((queries) => queries.listColumnsForType({ ...input, ...own })),
      findEntities: (input) => look((queries) => queries.findEntities({ ...input, ...own })),
      callTool: (name, input) => run(callTool(name, input)),
      ask: (text, { onEvent, session, signal } = {}) =>
        run(answer(organization, text, session, onEvent), "chat", signal)
    }
  }

  /** Gives the connections back; Max's own Postgres ends with the last program that uses it. */
  close(): Promise<void> {
    return this.#runtime.dispose()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const everything = (options: MaxOptions) => {
  const traced = options.traces === true ? Observability : Layer.empty
  return Admission.layer.pipe(
    Layer.provideMerge(Limits),
    Layer.provideMerge(Agent),
    Layer.provideMerge(ToolHandlers),
    Layer.provideMerge(Services),
    Layer.provideMerge(traced),
    Layer.provideMerge(databaseOf(options)),
    Layer.provideMerge(environmentOf(options))
  )
}

const Limits = Layer.unwrap(
  Effect.map(Env, ({ callsPerOrganization, callsPerPerson }) =>
    CallLimits.layer({ perOrganization: callsPerOrganization, perPerson: callsPerPerson })
  )
)

const environmentOf = ({ databaseUrl, embedded, environment, settings }: MaxOptions) => {
  const values = {
    ...settings,
    ...(databaseUrl === undefined
      ? {}
      : { databaseUrl: typeof databaseUrl === "string" ? Redacted.make(databaseUrl) : databaseUrl }),
    ...(embedded === undefined ? {} : { databaseUrl: undefined, dataDir: embedded })
  }
  return environment === true ? Env.layerWith(values) : Env.layerOf(values)
}

/** A program that forgot to say where its data is must not find itself with an empty database of its own. */
const databaseOf = ({ connection, databaseUrl, embedded }: MaxOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const env = yield* Env
      const said = [connection, databaseUrl, embedded].filter((one) => one !== undefined).length
      if (said > 1 || (said === 0 && env.databaseUrl === undefined)) {
        return yield* new ConfigurationError({
          message: "Say where the data is by one of databaseUrl, connection and embedded."
        })
      }
      for (const url of [connection?.url, connection === undefined ? env.databaseUrl : undefined]) {
        if (url !== undefined && !/^postgres(ql)?:\/\/./.test(Redacted.value(url)))
          return yield* new ConfigurationError({
            message: "databaseUrl is postgres://user:password@host:5432/database."
          })
      }
      return connection === undefined ? ConfiguredDatabase : Database.layerFrom(connection)
    })
  )

const PROOFS = ["email", "phone", "token"] as const

/** A proof says one thing: of a body that was handed on as it came nothing else is believed, and not even that. */
const readProof = (
  proof: unknown
): Effect.Effect<{ readonly kind: (typeof PROOFS)[number]; readonly text: string }, InvalidInput> => {
  const [entry, second] = typeof proof === "object" && proof !== null ? Object.entries(proof) : []
  const kind = PROOFS.find((one) => one === entry?.[0])
  const text: unknown = entry?.[1]
  return kind === undefined || second !== undefined || typeof text !== "string" || text.length > 8192
    ? Effect.fail(
        new InvalidInput({ message: "A proof is { email }, { phone } or { token }, or what Max.principal returns." })
      )
    : Effect.succeed({ kind, text })
}

const answer = Effect.fnUntraced(function* (
  organization: Organization,
  text: string,
  session: string | undefined,
  onEvent: ((event: TurnEvent) => void) | undefined
) {
  if (typeof text !== "string") return yield* new InvalidInput({ message: "A question is a text." })
  const agent = yield* MaxAgent
  const who = yield* CurrentPrincipal
  const last = yield* agent.turn({ organization, who, session, say: { text } }).pipe(
    Stream.tap((event) => Effect.sync(() => onEvent?.(event))),
    Stream.runLast
  )
  const event = yield* Effect.orElseSucceed(Effect.fromOption(last), () => undefined)
  if (event?._tag === "error") return yield* turnError(event)
  if (event?._tag !== "done") return yield* Unavailable.error
  const { reference, references, usage } = event
  return { text: event.text, session: event.session, references, usage, reference } satisfies Answer
})

/** Rejects with the error as it is typed; with what Max didn't expect as `Unavailable`, which says nothing. */
const promised = async <A, E>(
  runtime: ManagedRuntime.ManagedRuntime<MaxServices, ConfigurationError | Unavailable>,
  effect: Effect.Effect<A, E, MaxServices>,
  signal?: AbortSignal
): Promise<A> => {
  const exit = await runtime.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) throw signal?.reason ?? new Error("Max was closed.")
  const error: unknown = Cause.squash(exit.cause)
  throw typeof error === "object" && error !== null && "_tag" in error ? error : Unavailable.error
}
