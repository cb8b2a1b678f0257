/** The command line: its commands, the layers they run on, and the error line and exit code of each failure. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Console, Context, Effect, Layer, References } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { Database } from "../../database/Database.ts"
import { serverFault } from "../../database/fault.ts"
import { type OperatorError, Unavailable, Unclear } from "../../domain/errors.ts"
import { configProvider, earlyLogFormat, Env, SETTINGS } from "../../env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "../../layers.ts"
import { logging } from "../../observability/logs.ts"
import { Mappings } from "../../services/mapping/Mappings.ts"
import { ToolHandlers } from "../../tools/handlers.ts"
import { idp, passkey, token } from "./commands/access.ts"
import { actionCommands } from "./commands/action.ts"
import { ask } from "./commands/ask.ts"
import { intake } from "./commands/intake.ts"
import { audit } from "./commands/audit.ts"
import { backup, restore } from "./commands/backup.ts"
import { change, inbox } from "./commands/change.ts"
import { derive } from "./commands/catalog.ts"
import { chat } from "./commands/chat.ts"
import { migrate } from "./commands/database.ts"
import { config } from "./commands/config.ts"
import { doctor } from "./commands/doctor.ts"
import { demo } from "./commands/demo.ts"
import { evaluate } from "./commands/eval.ts"
import { exportType } from "./commands/export.ts"
import { importFile } from "./commands/import.ts"
import { columns, find, tool, tools, types } from "./commands/lookup.ts"
import * as models from "./commands/model.ts"
import { map } from "./commands/map.ts"
import { mcp } from "./commands/mcp.ts"
import { init, member, org } from "./commands/organization.ts"
import { move } from "./commands/move.ts"
import * as policies from "./commands/policy.ts"
import { explain, newPolicy, simulate } from "./commands/policyReview.ts"
import { sessions } from "./commands/sessions.ts"
import { serve } from "./commands/serve.ts"
import { setup } from "./commands/setup.ts"
import * as texts from "./commands/sms.ts"
import { simulate as simulateText } from "./commands/smsSimulate.ts"
import { trace } from "./commands/trace.ts"
import { usage } from "./commands/usage.ts"
import { max } from "./context.ts"
import { EXIT_CODES } from "./exitCodes.ts"
import { columns as inColumns, note, NotesAreLogged } from "./output.ts"
import { version } from "../../version.ts"

const LOG_LEVELS = { error: "Error", warn: "Warn", info: "Info", debug: "Debug" } as const

const Configured = Layer.unwrap(
  Effect.map(Env, ({ logFormat = process.stderr.isTTY ? "pretty" : "logfmt", logLevel }) =>
    Layer.mergeAll(
      logging(logFormat, process.stderr.isTTY),
      Layer.succeed(References.MinimumLogLevel, LOG_LEVELS[logLevel])
    )
  )
).pipe(Layer.provideMerge(Env.layer))

const Notices = Layer.effectDiscard(
  Effect.gen(function* () {
    const { notice } = yield* Database
    if (notice !== undefined) yield* note(notice)
    const mappings = yield* Mappings
    // A restored database has other relations of the same names; what was made again as it was is read again.
    yield* Effect.ignore(mappings.recheckAll)
    const drifted = yield* Effect.orElseSucceed(mappings.drifted, () => [])
    if (drifted.length > 0) yield* note(`${drifted.join(", ")} changed since it was mapped: max map diff`)
  })
)

/** The name of the running command, which names its trace. */
const CurrentCommand = Context.Reference<string>("max/cli/CurrentCommand", { defaultValue: () => "max" })

/** One root span per command. It closes before the trace writer, which therefore stores it. */
const CommandSpan = Layer.unwrap(
  Effect.map(CurrentCommand, (name) =>
    Layer.span(name, { attributes: { "max.channel": "cli" }, captureStackTrace: false })
  )
)

/** The services outside of the command's span: a server's work isn't a part of the command that started it. */
const Everything = ToolHandlers.pipe(
  Layer.provideMerge(Services),
  Layer.provideMerge(Observability),
  Layer.provideMerge(ConfiguredDatabase),
  Layer.provideMerge(Configured)
)

const inCommandSpan = <A, E, R>(services: Layer.Layer<A, E, R>) =>
  Notices.pipe(Layer.provideMerge(CommandSpan), Layer.provideMerge(services))

/** Built only for commands that need it: `--help` and `max tools` open no connection. */
const Connected = inCommandSpan(Everything)
const EverythingWithAgent = Agent.pipe(Layer.provideMerge(Everything))
const ConnectedAgent = inCommandSpan(EverythingWithAgent)
/** Without a span of the command, which would be stored at the end as a slow, interrupted trace. */
const Serving = Notices.pipe(Layer.provideMerge(EverythingWithAgent))

const withServices = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, Connected)
const withAgent = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, ConnectedAgent)
const withSettings = <Name extends string, Input, Shared, E, R>(command: Command.Command<Name, Input, Shared, E, R>) =>
  Command.provide(command, Configured)

const policy = Command.make("policy").pipe(
  Command.withDescription("Write, test and publish the policy that decides who sees what"),
  Command.withSubcommands([
    withServices(newPolicy),
    withServices(policies.check),
    withServices(policies.publish),
    withServices(policies.grant),
    withServices(policies.revoke),
    withServices(explain),
    withServices(simulate),
    withServices(policies.test),
    withServices(policies.show),
    withServices(policies.list),
    withServices(policies.diffVersions),
    policies.schema(Connected)
  ])
)

const [checkActions, publishActions, listActions, showAction, retireAction] = actionCommands.connected
const action = Command.make("action").pipe(
  Command.withDescription("Declare what members can have done in other systems"),
  Command.withSubcommands([
    withServices(checkActions),
    withServices(publishActions),
    withServices(listActions),
    withServices(showAction),
    withServices(retireAction),
    actionCommands.schema
  ])
)

const catalog = Command.make("catalog").pipe(
  Command.withDescription("Add columns that are computed from others"),
  Command.withSubcommands([withServices(derive)])
)

const sms = Command.make("sms").pipe(
  Command.withDescription("Answer text messages"),
  Command.withSubcommands([
    withServices(texts.addNumber),
    withServices(texts.numbers),
    withServices(texts.removeNumber),
    withServices(texts.contact),
    withServices(texts.open),
    withServices(texts.close),
    withServices(texts.prove),
    withServices(texts.set),
    withServices(texts.test),
    withAgent(simulateText),
    withServices(texts.log)
  ])
)

const model = Command.make("model").pipe(
  Command.withDescription("The organization's own model: its key, its name and a day's budget"),
  Command.withSubcommands([
    withServices(models.show),
    withServices(models.key),
    withServices(models.removeKey),
    withServices(models.set)
  ])
)

const settings = Object.values(SETTINGS).map(
  ({ description, fallback, name }) => `  ${name.padEnd(22)} ${description}${fallback === "" ? "" : ` [${fallback}]`}`
)

const root = max.pipe(
  Command.withDescription(
    `Ask about your organization and get what you may see, from its Postgres.\n\nSettings, from the environment or from the file of --config:\n${settings.join("\n")}`
  ),
  Command.withSubcommands([
    { group: "Ask", commands: [withAgent(chat), withAgent(ask)] as const },
    { group: "Look up", commands: [withServices(find), withServices(types), withServices(columns)] as const },
    { group: "Change", commands: [withServices(change), withServices(inbox), withAgent(intake)] as const },
    { group: "Serve", commands: [Command.provide(serve, Serving)] as const },
    {
      group: "Set up",
      commands: [
        withServices(setup),
        withServices(init),
        withServices(org),
        withServices(member),
        withServices(passkey),
        withServices(token),
        withServices(idp),
        sms,
        model,
        policy,
        action,
        withServices(audit),
        withServices(importFile),
        withServices(map),
        catalog,
        withServices(sessions),
        withServices(usage),
        withSettings(migrate),
        demo
      ] as const
    },
    {
      group: "Operate",
      commands: [
        config,
        withSettings(doctor),
        withSettings(backup),
        withSettings(restore),
        withSettings(move),
        withServices(exportType)
      ] as const
    },
    {
      group: "For models and engineers",
      commands: [
        withSettings(mcp(Connected)),
        tools,
        withServices(tool),
        withServices(evaluate),
        withServices(trace)
      ] as const
    }
  ])
)

/** Prints requested help to standard output and usage errors to standard error. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.gen(function* () {
          for (const error of event.errors) yield* Console.error(error.message)
          yield* Console.error(`Try: ${event.commandPath.join(" ")} --help`)
        })
      : CliOutput.defaultPresenter.present(event)
})

const builtInFlags = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/** Runs a command line and returns its exit code. */
export const run = (args: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.flatMap(configProvider(configFlag(args)), (provider) =>
    Command.runWith(root, { version })(args).pipe(
      Effect.as(0),
      Effect.catchCause(reportFailure),
      Effect.provideServiceEffect(NotesAreLogged, notesAreLogged),
      Effect.provideService(ConfigProvider.ConfigProvider, provider)
    )
  ).pipe(
    Effect.catchCause(reportFailure),
    Effect.provideService(CurrentCommand, commandOf(args)),
    Effect.provide([NodeServices.layer, presenter, builtInFlags])
  )

const notesAreLogged = Effect.gen(function* () {
  return (yield* CurrentCommand) === "max serve" && (yield* earlyLogFormat) === "json"
})

/** The file of `--config`, read before the command line, because the commands' services are built from it. */
const configFlag = (args: ReadonlyArray<string>): string | undefined => {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
  const at = own.findIndex((arg) => arg === "--config" || arg.startsWith("--config="))
  return own[at]?.startsWith("--config=") === true
    ? own[at].slice("--config=".length)
    : at < 0
      ? undefined
      : own[at + 1]
}

/** The flags of `max` that take a value. */
const VALUED: ReadonlyArray<string> = ["--org", "--as", "--config"]

/** The command path, such as `max member add`. Arguments are left out because they may contain personal data. */
const commandOf = (args: ReadonlyArray<string>): string => {
  // Flags may come before the command.
  const words = args.filter((arg, index) => !arg.startsWith("-") && !VALUED.includes(args[index - 1] ?? ""))
  const names = ["max"]
  let candidates = root.subcommands.flatMap(({ commands }) => [...commands])
  for (const word of words) {
    const next = candidates.find(({ name }) => name === word)
    if (next === undefined) break
    names.push(next.name)
    candidates = next.subcommands.flatMap(({ commands }) => [...commands])
  }
  return names.join(" ")
}

const reportFailure = (cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(130)
  const error = Cause.squash(cause)
  if (CliError.isCliError(error))
    return Effect.succeed(error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : EXIT_CODES.InvalidInput)
  const code = isPublic(error) ? EXIT_CODES[error._tag] : undefined
  if (code === undefined) {
    return Effect.logDebug(cause).pipe(
      Effect.provide(Configured),
      Effect.ignoreCause,
      Effect.andThen(note("Something went wrong inside Max. MAX_LOG_LEVEL=debug shows more.", "Error")),
      Effect.as(1)
    )
  }
  const { command, details, message } = worded(error) as OperatorError
  return Effect.gen(function* () {
    yield* note(command === undefined ? message : `${message} ${command}`, "Error")
    for (const line of details ?? []) yield* note(`  ${line}`, "Error")
    if (error instanceof Unclear)
      for (const line of inColumns(error.choices.map(({ id, name }) => [id, name]))) yield* note(`  ${line}`)
    return code
  })
}

/** Commands also write, and their caller operates the server, so a fault of the server is named. */
const worded = (error: unknown): unknown => {
  const reason = error instanceof Unavailable ? serverFault(error.cause) : undefined
  return reason === undefined
    ? error
    : { message: `The database can't do this now: ${reason}. max doctor shows the remedy.` }
}

const isPublic = (error: unknown): error is { readonly _tag: keyof typeof EXIT_CODES } =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  typeof error._tag === "string" &&
  Object.hasOwn(EXIT_CODES, error._tag)
