/**
 * Max as a library: layers for Effect services, and promises for other programs. Reading the environment, tracing and
 * the embedded server are opt-in, and every call names its principal.
 */
import { Cause, Effect, Exit, Layer, ManagedRuntime, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { turnError } from "./agents/turnError.ts"
import type { Organization } from "./domain/EntityType.ts"
import { ConfigurationError, InvalidInput, type LookupError, Unavailable } from "./domain/errors.ts"
import { isJsonObject } from "./domain/json.ts"
import type { ListedColumn, ListedType, Named, Page } from "./domain/Page.ts"
import { CurrentPrincipal, type Principal } from "./domain/Principal.ts"
import type { FindQuery } from "./domain/Query.ts"
import { shortReference } from "./domain/reference.ts"
import { quoted } from "./domain/text.ts"
import { Vouched, type Vouching } from "./domain/Vouched.ts"
import { Env } from "./env.ts"
import { changesFor, type ChangesFor } from "./MaxChanges.ts"
import { isShortText, requireValid } from "./MaxInput.ts"
import { everything, type MaxOptions, type MaxServices } from "./MaxLayer.ts"
import { admitted, type Proof } from "./MaxProof.ts"
import { placeOf } from "./observability/failures.ts"
import * as Telemetry from "./observability/Telemetry.ts"
import type { Admission, AdmissionError } from "./services/access/Admission.ts"
import type { Scope } from "./services/access/Credentials.ts"
import { OrganizationState } from "./services/catalog/OrganizationState.ts"
import { Changes } from "./services/changes/Changes.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import type { IdentityResolver } from "./services/members/IdentityResolver.ts"
import type { ActionDefinition } from "./services/actions/defineAction.ts"
import { runActions } from "./services/changes/calls/runActions.ts"
import { callTool, inputFault, type ToolName, type ToolOutcome } from "./tools/call.ts"
import type { TurnEvent } from "./wire/TurnEvent.ts"

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

/** Options of `Max.open`. */
export type OpenOptions = MaxOptions & {
  readonly organization?: string | undefined
  /** Actions of this program, by `defineAction`; it runs what people confirm of them while it is open. */
  readonly actions?: ReadonlyArray<ActionDefinition> | undefined
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

  /**
   * Declares actions of this program, and runs what people confirm of them until the scope closes. They permit nothing: a
   * policy does.
   */
  static readonly runActions = runActions

  /** Connects. `organization` is a slug, optional when there is only one. */
  static readonly open = async (options: OpenOptions): Promise<Max> => {
    const organization = options?.organization
    const readOrganization = Effect.gen(function* () {
      const env = yield* Env
      const states = yield* OrganizationState
      return yield* states.organization(organization ?? env.organization)
    })
    // It runs after the layer below has checked the options.
    const declared = Layer.effectDiscard(
      Effect.suspend(() => {
        const { actions = [] } = options
        return actions.length === 0
          ? Effect.void
          : Effect.flatMap(readOrganization, (found) => runActions(found, actions))
      }).pipe(Effect.catchTag(["OperatorError", "NotAdmitted"], ({ message }) => ConfigurationError.of(message)))
    )
    const runtime = ManagedRuntime.make(Layer.provideMerge(declared, Max.layer(options)))
    try {
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
    ) =>
      run(
        Effect.andThen(
          requireValid(input, (given) => inputFault(tool, given)),
          Effect.flatMap(EntityQueryService, use)
        )
      )
    return {
      listEntityTypes: (input = {}) =>
        lookUp("listEntityTypes", input, (queries) => queries.listEntityTypes({ ...input, ...scoped })),
      listColumnsForType: (input) =>
        lookUp("listColumnsForType", input, (queries) => queries.listColumnsForType({ ...input, ...scoped })),
      findEntities: (input) =>
        lookUp("findEntities", input, (queries) => queries.findEntities({ ...input, ...scoped })),
      callTool: (name, input) =>
        run(
          Effect.andThen(
            requireValid(input, () => (typeof name === "string" ? undefined : "The tool's name must be a text.")),
            Effect.suspend(() => callTool(name, input))
          )
        ),
      ask: async (text, options = {}) => {
        const fault = askFault(text, options)
        const { onEvent, session, signal } = fault === undefined ? options : {}
        const asking = fault === undefined ? answer(organization, text, session, onEvent) : InvalidInput.of(fault)
        return run(asking, "chat", signal)
      },
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

const answer = Effect.fnUntraced(function* (
  organization: Organization,
  text: string,
  session: string | undefined,
  onEvent: ((event: TurnEvent) => void) | undefined
) {
  const agent = yield* MaxAgent
  const who = yield* CurrentPrincipal
  const last = yield* agent.turn({ organization, who, session, say: { text } }).pipe(
    Stream.tap((event) =>
      Effect.sync(() => {
        try {
          onEvent?.(event)
        } catch (thrown) {
          throw new HostFault(thrown)
        }
      })
    ),
    Stream.runLast
  )
  const event = yield* Effect.orElseSucceed(Effect.fromOption(last), () => undefined)
  if (event?._tag === "error") return yield* turnError(event)
  if (event?._tag !== "done") return yield* Unavailable.because("no answer")
  const { reference, references, usage } = event
  return { text: event.text, session: event.session, references, usage, reference } satisfies Answer
})

/** What is wrong with a question and its options; undefined if they are valid. */
const askFault = (text: unknown, options: unknown): string | undefined => {
  if (typeof text !== "string") return "The question must be a string."
  if (!isJsonObject(options)) return "The options must be an object: { session, onEvent, signal }."
  const unknown = Object.keys(options).find((key) => !["session", "onEvent", "signal"].includes(key))
  if (unknown !== undefined) return `There is no option ${quoted(unknown)}: use session, onEvent and signal.`
  const { onEvent, session, signal } = options
  if (session !== undefined && !isShortText(session)) return "session must be the id of a conversation."
  if (onEvent !== undefined && typeof onEvent !== "function") return "onEvent must be a function."
  return signal === undefined || signal instanceof AbortSignal ? undefined : "signal must be an AbortSignal."
}

/** An exception of the host's own `onEvent`, which the host gets as it was thrown. */
class HostFault {
  readonly thrown: unknown
  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

/**
 * Rejects with the typed error. `Unavailable` gets its reference here, and its stack, which names the call; a defect
 * becomes `Unavailable`, which has the place of the defect and not its message, because that may quote a value.
 */
const promised = async <A, E>(
  runtime: ManagedRuntime.ManagedRuntime<MaxServices, ConfigurationError | Unavailable>,
  effect: Effect.Effect<A, E, MaxServices>,
  signal?: AbortSignal
): Promise<A> => {
  let traceId = ""
  const traced = Telemetry.span("Max", { attributes: { "max.channel": "library" } }, (span) => {
    traceId = span?.traceId ?? ""
    return Telemetry.childOf(span, effect)
  })
  const exit = await runtime.runPromiseExit(traced, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) throw signal?.reason ?? new Error("Max was closed.")
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined && !(failure.error instanceof Unavailable)) throw failure.error
  const defect: unknown = Cause.squash(exit.cause)
  if (defect instanceof HostFault) throw defect.thrown
  const { cause, message, reference } = failure?.error instanceof Unavailable ? failure.error : unforeseen(defect)
  throw Unavailable.because(
    cause,
    reference ?? shortReference(traceId === "" ? randomBytes(16).toString("hex") : traceId),
    message
  )
}

const unforeseen = (defect: unknown): Unavailable => Unavailable.because(placeOf(defect))
