/** The command line: commands, the services behind them, and what every failure comes to as a line and an exit code. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Context, Effect, Layer, Logger, References } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { Database } from "../../database/Database.ts"
import type { OperatorError } from "../../domain/errors.ts"
import { Env, SETTINGS } from "../../env.ts"
import { Agent, Services } from "../../layers.ts"
import { Observability } from "../../observability.ts"
import { formatted } from "../../observability/logs.ts"
import { Mappings } from "../../services/mapping/Mappings.ts"
import { ToolHandlers } from "../../tools/handlers.ts"
import { idp, token } from "./commands/access.ts"
import { ask } from "./commands/ask.ts"
import { audit } from "./commands/audit.ts"
import { backup, move, restore } from "./commands/backup.ts"
import { chat } from "./commands/chat.ts"
import { migrate } from "./commands/database.ts"
import { doctor } from "./commands/doctor.ts"
import { demo } from "./commands/demo.ts"
import { evaluate } from "./commands/eval.ts"
import { exportType } from "./commands/export.ts"
import { importFile } from "./commands/import.ts"
import { columns, find, tool, tools, types } from "./commands/lookup.ts"
import { map } from "./commands/map.ts"
import { mcp } from "./commands/mcp.ts"
import { init, member, org } from "./commands/organization.ts"
import * as policies from "./commands/policy.ts"
import { explain, newPolicy, simulate } from "./commands/policyReview.ts"
import { sessions } from "./commands/sessions.ts"
import { serve } from "./commands/serve.ts"
import * as texts from "./commands/sms.ts"
import { simulate as simulateText } from "./commands/smsSimulate.ts"
import { trace } from "./commands/trace.ts"
import { usage } from "./commands/usage.ts"
import { max } from "./context.ts"
import { note } from "./output.ts"
import { version } from "../../version.ts"

/** What a process ends with. 5 isn't used. */
const CODES = {
  OperatorError: 1,
  InvalidInput: 2,
  ConfigurationError: 3,
  NotAdmitted: 4,
  UnknownName: 6,
  Unavailable: 7
} as const

const LEVELS = { error: "Error", warn: "Warn", info: "Info", debug: "Debug" } as const

const Configured = Layer.unwrap(
  Effect.map(Env, ({ logLevel }) =>
    Layer.mergeAll(
      Logger.layer([Logger.withConsoleError(formatted)]),
      Layer.succeed(References.MinimumLogLevel, LEVELS[logLevel])
    )
  )
).pipe(Layer.provideMerge(Env.layer))

const Noticed = Layer.effectDiscard(
  Effect.gen(function* () {
    const { notice } = yield* Database
    if (notice !== undefined) yield* note(notice)
    const mappings = yield* Mappings
    const drifted = yield* Effect.orElseSucceed(mappings.drifted, () => [])
    if (drifted.length > 0) yield* note(`${drifted.join(", ")} changed since it was mapped: max map diff`)
  })
)

/** The command that runs: what its trace is called. */
const CurrentCommand = Context.Reference<string>("max/cli/CurrentCommand", { defaultValue: () => "max" })

/** Everything that a command does is one trace. It ends before what stores traces does. */
const CommandSpan = Layer.unwrap(
  Effect.map(CurrentCommand, (name) =>
    Layer.span(name, { attributes: { "max.channel": "cli" }, captureStackTrace: false })
  )
)

/** Built when a command needs it, so that help and definitions cost no connection. */
const Connected = ToolHandlers.pipe(
  Layer.provideMerge(Noticed),
  Layer.provideMerge(Services),
  Layer.provideMerge(CommandSpan),
  Layer.provideMerge(Observability),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(Configured)
)

const connected = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, Connected)
const answering = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, Agent.pipe(Layer.provideMerge(Connected)))
const configured = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, Configured)

const policy = Command.make("policy").pipe(
  Command.withDescription("Who sees what"),
  Command.withSubcommands([
    connected(newPolicy),
    connected(policies.check),
    connected(policies.publish),
    connected(policies.grant),
    connected(policies.revoke),
    connected(explain),
    connected(simulate),
    connected(policies.test),
    connected(policies.show),
    connected(policies.list),
    connected(policies.diffVersions),
    policies.schema(Connected)
  ])
)

const sms = Command.make("sms").pipe(
  Command.withDescription("Text messages"),
  Command.withSubcommands([
    connected(texts.addNumber),
    connected(texts.numbers),
    connected(texts.removeNumber),
    connected(texts.contact),
    connected(texts.open),
    connected(texts.close),
    connected(texts.prove),
    answering(simulateText),
    connected(texts.log)
  ])
)

const settings = Object.values(SETTINGS).map(
  ({ description, fallback, name }) => `  ${name.padEnd(22)} ${description}${fallback === "" ? "" : ` [${fallback}]`}`
)

const root = max.pipe(
  Command.withDescription(
    `Ask about your organization and get what you may see, from its Postgres.\n\nSettings, from the environment:\n${settings.join("\n")}`
  ),
  Command.withSubcommands([
    { group: "Ask", commands: [answering(chat), answering(ask)] as const },
    { group: "Look up", commands: [connected(find), connected(types), connected(columns)] as const },
    { group: "Serve", commands: [answering(serve)] as const },
    {
      group: "Set up",
      commands: [
        connected(init),
        connected(org),
        connected(member),
        connected(token),
        connected(idp),
        sms,
        policy,
        connected(audit),
        connected(importFile),
        connected(map),
        connected(sessions),
        connected(usage),
        configured(migrate),
        demo
      ] as const
    },
    {
      group: "Operate",
      commands: [
        configured(doctor),
        configured(backup),
        configured(restore),
        configured(move),
        connected(exportType)
      ] as const
    },
    {
      group: "For models and engineers",
      commands: [configured(mcp(Connected)), tools, connected(tool), connected(evaluate), connected(trace)] as const
    }
  ])
)

/** Help goes to standard output when it is asked for; what is wrong with a command line goes to standard error. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.gen(function* () {
          for (const error of event.errors) yield* Console.error(error.message)
          yield* Console.error(`See: ${event.commandPath.join(" ")} --help`)
        })
      : CliOutput.defaultPresenter.present(event)
})

const withoutWizard = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/** Runs a command line and returns the exit code. */
export const run = (args: ReadonlyArray<string>): Effect.Effect<number> =>
  Command.runWith(root, { version })(args).pipe(
    Effect.as(0),
    Effect.catchCause(report),
    Effect.provideService(CurrentCommand, commandOf(args)),
    Effect.provide([NodeServices.layer, presenter, withoutWizard])
  )

/** `max` and the words before the first flag that name a command: no other word of the command line. */
const commandOf = (args: ReadonlyArray<string>): string => {
  const names = ["max"]
  let known = root.subcommands.flatMap(({ commands }) => [...commands])
  for (const word of args) {
    const next = known.find(({ name }) => name === word)
    if (next === undefined) break
    names.push(next.name)
    known = next.subcommands.flatMap(({ commands }) => [...commands])
  }
  return names.join(" ")
}

const report = (cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(130)
  const error = Cause.squash(cause)
  if (CliError.isCliError(error))
    return Effect.succeed(error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : CODES.InvalidInput)
  const code = isPublic(error) ? CODES[error._tag] : undefined
  if (code === undefined) {
    return Effect.logDebug(cause).pipe(
      Effect.provide(Configured),
      Effect.ignoreCause,
      Effect.andThen(note("Something went wrong inside Max. MAX_LOG_LEVEL=debug shows more.")),
      Effect.as(1)
    )
  }
  const { details, message } = error as OperatorError
  return Effect.gen(function* () {
    yield* note(message)
    for (const line of details ?? []) yield* note(`  ${line}`)
    return code
  })
}

const isPublic = (error: unknown): error is { readonly _tag: keyof typeof CODES } =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  typeof error._tag === "string" &&
  Object.hasOwn(CODES, error._tag)
