/**
 * Max as a library: layers for Effect services, and promises for other programs. Reading the environment, tracing and
 * the embedded server are opt-in, and every call names its principal.
 */
import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { turnError } from "./agents/turnError.ts"
import type { TurnEvent } from "./wire/TurnEvent.ts"
import { Database } from "./database/Database.ts"
import type { Connection } from "./database/DatabaseSource.ts"
import type { Organization } from "./domain/EntityType.ts"
import { isJsonObject } from "./domain/json.ts"
import { closest, quoted } from "./domain/text.ts"
import {
  ConfigurationError,
  InvalidInput,
  type LookupError,
  NotAdmitted,
  NotInScope,
  Unavailable
} from "./domain/errors.ts"
import type { ListedColumn, ListedType, Named, Page } from "./domain/Page.ts"
import { CurrentPrincipal, type Principal } from "./domain/Principal.ts"
import type { FindQuery } from "./domain/Query.ts"
import { Vouched, type Vouching } from "./domain/Vouched.ts"
import { Env, SETTINGS, type Values } from "./env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "./layers.ts"
import { changesFor, type ChangesFor } from "./MaxChanges.ts"
import * as Telemetry from "./observability/Telemetry.ts"
import { Admission, type AdmissionError } from "./services/access/Admission.ts"
import { CallLimits } from "./services/access/CallLimits.ts"
import { Changes } from "./services/changes/Changes.ts"
import type { Scope } from "./services/access/Credentials.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { IdentityResolver } from "./services/members/IdentityResolver.ts"
import { readIdentifier } from "./services/members/identifier.ts"
import { OrganizationState } from "./services/catalog/OrganizationState.ts"
import { callTool, inputFault, type ToolName, type ToolOutcome } from "./tools/call.ts"
import { ToolHandlers } from "./tools/handlers.ts"

/** Exactly one of `databaseUrl`, `connection` and `embedded`, or the environment's DATABASE_URL. */
export interface MaxOptions {
  /** A migrated Postgres, as a URL. */
  readonly databaseUrl?: string | Redacted.Redacted<string> | undefined
  /** A migrated Postgres, as options of `PgClient`: certificates, sockets, types. */
  readonly connection?: Connection | undefined
  /** The data folder of the embedded Postgres, which starts if it isn't running. */
  readonly embedded?: string | undefined
  /** Reads unspecified settings from the environment. */
  readonly environment?: boolean | undefined
  /** Records traces for `max trace`, replacing the current tracer. */
  readonly traces?: boolean | undefined
  /** Settings by their keys in `SETTINGS`, such as the model, budgets and timeouts. */
  readonly settings?: Partial<Omit<Values, "databaseUrl" | "dataDir">> | undefined
}

/** Proof of identity: a verified identifier, a token, or the assertion of the host program. */
export type Proof = { readonly email: string } | { readonly phone: string } | { readonly token: string } | Vouched

/** What `Max.layer` provides. */
export type MaxServices = Layer.Success<ReturnType<typeof everything>>

export interface Answer {
  readonly text: string
  /** The id of the conversation, for the next question. */
  readonly session: string
  /** The entities of the answer. */
  readonly references: Extract<TurnEvent, { _tag: "done" }>["references"]
  readonly usage: Extract<TurnEvent, { _tag: "done" }>["usage"]
  /** Identifies the answer's trace. */
  readonly reference: string
}

export interface AskOptions {
  /** The conversation to continue. An unknown id, or one of another person, starts a new conversation. */
  readonly session?: string | undefined
  /** Receives the turn's events as they occur. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined
  /** Aborts the turn and its model request. */
  readonly signal?: AbortSignal | undefined
}

/** Max for one person. Each call admits the person again. */
export interface MaxFor extends ChangesFor {
  readonly listEntityTypes: (input?: {
    readonly nameContains?: string
  }) => Promise<{ readonly entityTypes: ReadonlyArray<ListedType> }>
  readonly listColumnsForType: (input: {
    readonly entityTypeId: string
    readonly filter?: { readonly nameContains?: ReadonlyArray<string>; readonly max?: number }
  }) => Promise<{ readonly columns: ReadonlyArray<ListedColumn>; readonly leadHere?: ReadonlyArray<Named> }>
  readonly findEntities: (input: FindQuery) => Promise<Page>
  /** Calls a tool as a model does: an invalid call is an outcome, a refused admission rejects. */
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
   * Every service, the three tools and the agent. `CurrentPrincipal` is not included: it stays a requirement of every
   * call.
   */
  static readonly layer = (options: MaxOptions): Layer.Layer<MaxServices, ConfigurationError | Unavailable> => {
    const layer = everything(options)
    // A separate memo map, so that two instances in one program don't share a database.
    return Layer.effectContext(
      Effect.flatMap(Effect.scope, (scope) =>
        Telemetry.outside(Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), scope))
      )
    )
  }

  /** A person that the host program has identified itself. Never build one from request data. Throws InvalidInput. */
  static readonly principal = (vouching: Vouching): Vouched => new Vouched(vouching)

  /** The principal of a proof, to provide as `CurrentPrincipal` to one call. A token must have `scope`. */
  static readonly admit = (
    organization: Organization,
    proof: Proof,
    scope: Scope = "tools"
  ): Effect.Effect<Principal, AdmissionError | InvalidInput, IdentityResolver | Admission> =>
    Effect.map(admitted(organization, proof, scope), ({ principal }) => principal)

  /** Connects. `organization` is a slug, optional when there is only one. */
  static readonly open = async (options: MaxOptions & { readonly organization?: string | undefined }): Promise<Max> => {
    const runtime = ManagedRuntime.make(Max.layer(options))
    try {
      const { organization } = options
      const readOrganization = Effect.gen(function* () {
        const env = yield* Env
        const states = yield* OrganizationState
        return yield* states.organization(organization ?? env.organization)
      })
      return new Max(runtime, await promised(runtime, readOrganization))
    } catch (error) {
      await runtime.dispose()
      throw error
    }
  }

  /** Max for the person of a proof. Admission happens in each call, not here. */
  as(proof: Proof): MaxFor {
    const runtime = this.#runtime
    const organization = this.#organization
    const scoped = { organizationId: organization.id }
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
    const change = changesFor((scope, use) =>
      promised(
        runtime,
        Effect.gen(function* () {
          const { credentialId, principal } = yield* admitted(organization, proof, scope)
          const changes = yield* Changes
          return yield* Effect.provideService(
            use(changes, { channel: "library", credentialId }),
            CurrentPrincipal,
            principal
          )
        })
      )
    )
    const lookUp = <A>(
      tool: ToolName,
      input: unknown,
      use: (queries: EntityQueryService["Service"]) => Effect.Effect<A, LookupError, CurrentPrincipal>
    ) => run(Effect.andThen(requireInput(tool, input), Effect.flatMap(EntityQueryService, use)))
    return {
      listEntityTypes: (input = {}) =>
        lookUp("listEntityTypes", input, (queries) => queries.listEntityTypes({ ...input, ...scoped })),
      listColumnsForType: (input) =>
        lookUp("listColumnsForType", input, (queries) => queries.listColumnsForType({ ...input, ...scoped })),
      findEntities: (input) =>
        lookUp("findEntities", input, (queries) => queries.findEntities({ ...input, ...scoped })),
      callTool: (name, input) => run(callTool(name, input)),
      ask: (text, { onEvent, session, signal } = {}) =>
        run(answer(organization, text, session, onEvent), "chat", signal),
      ...change
    }
  }

  /** Closes the connections. The embedded Postgres stops with the last program that uses it. */
  close(): Promise<void> {
    return this.#runtime.dispose()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Programs without types get the tools' errors, too. Absent and undefined are equal. */
const requireInput = (tool: ToolName, input: unknown): Effect.Effect<void, InvalidInput> => {
  const fault = inputFault(tool, withoutUndefined(input))
  return fault === undefined ? Effect.void : Effect.fail(InvalidInput.of(fault))
}

const withoutUndefined = (value: unknown): unknown =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, part]) => (part === undefined ? [] : [[key, withoutUndefined(part)]]))
      )
    : value

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

const OPTIONS: ReadonlyArray<string> = [
  "databaseUrl",
  "connection",
  "embedded",
  "environment",
  "traces",
  "settings",
  "organization"
] satisfies ReadonlyArray<keyof MaxOptions | "organization">

/** Says which key isn't known, so that a misspelled one isn't ignored. */
const unknownIn = (what: string, given: object | undefined, known: ReadonlyArray<string>): string | undefined => {
  const unknown = Object.keys(given ?? {}).find((key) => !known.includes(key))
  if (unknown === undefined) return undefined
  const meant = closest(unknown, known)
  return `There is no ${what} ${quoted(unknown)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`
}

const environmentOf = (options: MaxOptions) => {
  const { databaseUrl, embedded, environment, settings } = options
  const values = {
    ...settings,
    ...(databaseUrl === undefined
      ? {}
      : { databaseUrl: typeof databaseUrl === "string" ? Redacted.make(databaseUrl) : databaseUrl }),
    ...(embedded === undefined ? {} : { databaseUrl: undefined, dataDir: embedded })
  }
  const unknown = unknownIn("option", options, OPTIONS) ?? unknownIn("setting", settings, Object.keys(SETTINGS))
  if (unknown !== undefined) return Layer.effect(Env, ConfigurationError.of(unknown))
  return environment === true ? Env.layerWith(values) : Env.layerOf(values)
}

/** Requires an explicit location, so that a missing option doesn't create an empty embedded database. */
const databaseOf = ({ connection, databaseUrl, embedded }: MaxOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const env = yield* Env
      const specified = [connection, databaseUrl, embedded].filter((option) => option !== undefined).length
      if (specified > 1 || (specified === 0 && env.databaseUrl === undefined)) {
        return yield* ConfigurationError.of("Specify exactly one of databaseUrl, connection and embedded.")
      }
      for (const url of [connection?.url, connection === undefined ? env.databaseUrl : undefined]) {
        if (url !== undefined && !/^postgres(ql)?:\/\/./.test(Redacted.value(url)))
          return yield* ConfigurationError.of("databaseUrl must be postgres://user:password@host:5432/database.")
      }
      return connection === undefined ? ConfiguredDatabase : Database.layerFrom(connection)
    })
  )

const PROOFS = ["email", "phone", "token"] as const

/** Accepts exactly one known field, so that a request body passed as a proof fails when it has other fields. */
const readProof = (
  proof: unknown
): Effect.Effect<{ readonly kind: (typeof PROOFS)[number]; readonly text: string }, InvalidInput> => {
  const [entry, second] = typeof proof === "object" && proof !== null ? Object.entries(proof) : []
  const kind = PROOFS.find((one) => one === entry?.[0])
  const text: unknown = entry?.[1]
  return kind === undefined || second !== undefined || typeof text !== "string" || text.length > 8192
    ? Effect.fail(InvalidInput.of("A proof must be { email }, { phone } or { token }, or the result of Max.principal."))
    : Effect.succeed({ kind, text })
}

/** The principal of a proof and, of a token, its id. The host says of a vouched person whether it decides on changes. */
const admitted = Effect.fnUntraced(function* (
  organization: Organization,
  proof: Proof,
  scope: Scope
): Effect.fn.Return<
  { readonly principal: Principal; readonly credentialId?: string | undefined },
  AdmissionError | InvalidInput,
  IdentityResolver | Admission
> {
  const identities = yield* IdentityResolver
  if (Vouched.is(proof)) {
    if (scope === "confirm" && !proof.confirms) return yield* new NotInScope({ message: NOT_CONFIRMING })
    return yield* identities.vouch(organization, proof)
  }
  const { kind, text } = yield* readProof(proof)
  if (kind === "token") {
    const admission = yield* Admission
    const caller = yield* admission.admit({ by: "bearer", secret: text }, { scope, calls: 0 })
    return caller.principal.organizationId === organization.id ? caller : yield* NotAdmitted.error
  }
  const identifier = readIdentifier(text, organization)
  if (identifier?.kind !== kind) return yield* InvalidInput.of(`The ${kind} is invalid.`)
  return yield* identities.admit(organization, identifier)
})

const NOT_CONFIRMING = "This person decides on changes only if the host says so: Max.principal({ …, confirms: true })."

const answer = Effect.fnUntraced(function* (
  organization: Organization,
  text: string,
  session: string | undefined,
  onEvent: ((event: TurnEvent) => void) | undefined
) {
  if (typeof text !== "string") return yield* InvalidInput.of("The question must be a string.")
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

/** Rejects with the typed error; converts defects to `Unavailable`, which reveals nothing. */
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
