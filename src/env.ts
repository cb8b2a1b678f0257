/**
 * The only reader of configuration. `env/settings.ts` defines the settings; `max --help` and docs/operate.md list them
 * from there. An invalid value is one line on standard error and exit code 3.
 */
import { Config, ConfigProvider, Context, Effect, Layer, Option, Redacted } from "effect"
import { readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { ConfigurationError } from "./domain/errors.ts"
import { quoted } from "./domain/text.ts"
import { readConfig, unknownVariables } from "./env/configFile.ts"
import {
  dereference,
  optionalDatabaseUrl,
  optionalLongSecret,
  optionalSecret,
  reject,
  Rejected,
  resolvePath
} from "./env/kinds.ts"
import { type Setting, SETTINGS, type Values } from "./env/settings.ts"

export { isUtf8 } from "./env/locale.ts"

export { configSchema } from "./env/configFile.ts"
export { SETTINGS, type Values } from "./env/settings.ts"

/** Runs `read`; a rejected value becomes a ConfigurationError that `message` words. */
const accepting = <A>(read: () => A, message: (expected: string) => string): Effect.Effect<A, ConfigurationError> =>
  Effect.try({
    try: read,
    catch: (error) => ConfigurationError.of(message(error instanceof Rejected ? error.message : "something else"))
  })

/** A setting's trimmed text; empty when it is unset. */
const textOf = ({ name }: Setting<unknown>) =>
  Effect.map(Config.String(name).pipe(Config.option), (text) => Option.getOrElse(text, () => "").trim())

const readSetting = Effect.fnUntraced(
  function* <A>(setting: Setting<A>) {
    const text = yield* textOf(setting)
    return yield* accepting(
      () => setting.kind.read(text === "" ? setting.fallback : text),
      (expected) => `${setting.name}: expected ${expected}.`
    )
  },
  Effect.catchTag("ConfigError", (error) => Effect.fail(ConfigurationError.of(error.message)))
)

/** The format of log lines before anything else is read, for a server's first and last lines; undefined if it is invalid. */
export const earlyLogFormat = Effect.orElseSucceed(readSetting(SETTINGS.logFormat), () => undefined)

/** The machine's facts that locate other programs' configuration files. */
export const thisMachine = { platform: process.platform, home: homedir(), appData: process.env["APPDATA"] }

/**
 * The environment variables with which another program on this machine reaches the same database. A secret is passed by
 * reference only.
 */
export const databaseVariables = Effect.gen(function* () {
  const env = yield* Env
  const written = (setting: Setting<unknown>) => Effect.orElseSucceed(textOf(setting), () => "")
  const url = yield* written(SETTINGS.databaseUrl)
  if (url.startsWith("file:")) return { [SETTINGS.databaseUrl.name]: `file:${resolvePath(url.slice(5))}` }
  if (url.startsWith("env:") || (url !== "" && new URL(url).password !== "")) {
    return yield* ConfigurationError.of(
      "DATABASE_URL must be passed by reference: write the URL into a file that only you can read, and set DATABASE_URL=file:/path/to/it."
    )
  }
  if (url !== "") return { [SETTINGS.databaseUrl.name]: url }
  return {
    [SETTINGS.dataDir.name]: env.dataDir,
    ...((yield* written(SETTINGS.stateDir)) === "" ? {} : { [SETTINGS.stateDir.name]: env.stateDir })
  }
})

/** Reads a secret that a flag names by reference. Returns the reference, with an absolute path, and the secret. */
export const readReference = (
  flag: string,
  text: string
): Effect.Effect<{ readonly reference: string; readonly secret: Redacted.Redacted<string> }, ConfigurationError> =>
  accepting(
    () => {
      if (!/^(env|file):./.test(text))
        return reject("env:NAME or file:/path, so that the secret appears in no process list")
      const reference = text.startsWith("file:") ? `file:${resolvePath(text.slice(5))}` : text
      const value = dereference(reference)
      return { reference, secret: Redacted.make(value === "" ? reject("a secret that isn't empty") : value) }
    },
    (expected) => `${flag}: expected ${expected}.`
  )

/** Where a command's other database is: a Postgres server's URL, env:NAME or file:/path, or a folder for the embedded Postgres. */
export const readLocation = (
  text: string
): Effect.Effect<Pick<Values, "databaseUrl" | "dataDir">, ConfigurationError> =>
  accepting(
    () => {
      const server = /^(postgres(ql)?:\/\/|env:|file:)/.test(text)
      if (text.trim() === "" || (!server && text.includes("://"))) return reject("")
      return {
        databaseUrl: server ? optionalDatabaseUrl.read(text) : undefined,
        dataDir: server ? "" : resolvePath(text)
      }
    },
    (expected) =>
      `Expected postgres://user:password@host:5432/database, env:NAME, file:/path, or a folder for the embedded Postgres${expected.includes(" to name ") ? `; ${expected}` : ""}.`
  )

/** What is wrong with the value of a setting that a program gives; undefined if its kind accepts the value. */
export const settingFault = (key: keyof Values, value: unknown): string | undefined => {
  const { kind, name }: Setting<unknown> = SETTINGS[key]
  const fault = `settings.${key} (${name}): expected ${kind.accepts}.`
  if (value === undefined) return undefined
  if (Redacted.isRedacted(value)) return SECRET_KINDS.includes(kind) ? undefined : fault
  if (Array.isArray(value) && kind === SETTINGS.replicaUrls.kind)
    return value.every(Redacted.isRedacted) ? undefined : fault
  if (value instanceof Map) return kind === SETTINGS.prices.kind ? undefined : fault
  if (!["string", "number"].includes(typeof value) && !Array.isArray(value)) return fault
  try {
    const read = kind.read(String(value))
    return typeof read === typeof value && !Redacted.isRedacted(read) ? undefined : fault
  } catch {
    return fault
  }
}

const SECRET_KINDS: ReadonlyArray<unknown> = [optionalSecret, optionalLongSecret, optionalDatabaseUrl]

/** The most that a configuration file has, in bytes. */
const MAX_CONFIG_BYTES = 1_048_576

/** Reads a configuration file; fails with every problem, each with its line. */
export const loadConfig = Effect.fnUntraced(function* (path: string) {
  const { isShared, text } = yield* Effect.try({
    try: () => {
      const { mode, size } = statSync(path)
      if (size > MAX_CONFIG_BYTES) throw new RangeError("too large")
      return { text: readFileSync(path, "utf8"), isShared: process.platform !== "win32" && (mode & 0o077) !== 0 }
    },
    catch: () => ConfigurationError.of(`The configuration file ${quoted(path)} can't be read.`)
  })
  const { problems, values } = readConfig(text, isShared)
  if (problems.length === 0) return values
  return yield* new ConfigurationError({
    message: `The configuration file ${quoted(path)} has ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}:`,
    details: problems
  })
})

/** The environment's settings over those of a file. Refuses a misspelled name in the environment, too. */
export const configProvider = Effect.fnUntraced(function* (flag: string | undefined) {
  const [unknown] = unknownVariables(process.env)
  if (unknown !== undefined) return yield* ConfigurationError.of(unknown)
  const path = flag ?? configVariable()
  const environment = ConfigProvider.fromEnv()
  if (path === undefined) return environment
  const values = yield* loadConfig(path)
  return ConfigProvider.orElse(environment, ConfigProvider.fromUnknown(values))
})

/** The configuration file that the environment names. */
export const configVariable = (): string | undefined => process.env["MAX_CONFIG"] || undefined

const readAll = Effect.gen(function* () {
  const values: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries(SETTINGS)) values[key] = yield* readSetting(setting as Setting<unknown>)
  return values as Values
})

/** The configuration, read when the layer is built. */
export class Env extends Context.Service<Env, Values>()("max/Env") {
  static readonly layer = Layer.effect(Env, readAll)

  /** The configuration from the environment, with some values overridden. */
  static readonly layerWith = (overrides: Partial<Values>) =>
    Layer.effect(
      Env,
      Effect.map(Env, (env) => Env.of({ ...env, ...overrides }))
    ).pipe(Layer.provide(Env.layer))

  /** The defaults with some values overridden; ignores the environment. */
  static readonly layerOf = (values: Partial<Values>) =>
    Layer.effect(
      Env,
      readAll.pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})),
        Effect.map((env) => Env.of({ ...env, ...values }))
      )
    )
}
