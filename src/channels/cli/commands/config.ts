/** Checks a configuration file, and prints the JSON Schema of such files. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { configSchema, configVariable, loadConfig } from "../../../env.ts"
import { max, UsageError } from "../context.ts"
import { argument } from "../flags.ts"
import { json, result } from "../output.ts"

const check = Command.make(
  "check",
  { file: argument("file", "The file; by default that of --config or MAX_CONFIG").pipe(Argument.optional) },
  Effect.fnUntraced(function* ({ file }) {
    const { config: flag } = yield* max
    const path = Option.getOrUndefined(Option.orElse(file, () => flag)) ?? configVariable()
    if (path === undefined) return yield* UsageError.of("Name a file: max config check FILE")
    const names = Object.keys(yield* loadConfig(path))
    const count = names.length === 1 ? "1 setting" : `${names.length} settings`
    yield* result({ settings: names }, [`${count}, no problem.`])
  })
).pipe(Command.withDescription("Check a configuration file: names, values and secrets, each problem with its line"))

const schema = Command.make("schema", {}, () => json(configSchema())).pipe(
  Command.withDescription("Print the JSON Schema of configuration files")
)

export const config = Command.make("config").pipe(
  Command.withDescription("Check the file of --config, which has settings by their names in the environment"),
  Command.withSubcommands([check, schema])
)
