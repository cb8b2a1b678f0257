/**
 * The only reader of configuration. Every setting is one line of `SETTINGS`: the table in the documentation and in
 * `max --help` is made from it. A value that can't be read is one clear line, and exit code 3.
 */
import { Config, ConfigProvider, Context, Effect, Layer, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { ConfigurationError } from "./domain/errors.ts"

interface Setting<A> {
  readonly name: string
  readonly description: string
  readonly fallback: string
  /** Reads the text; a string thrown is what is wrong with it. */
  readonly read: (text: string) => A
}

const setting = <A>(name: string, description: string, fallback: string, read: (text: string) => A): Setting<A> => ({
  name,
  description,
  fallback,
  read
})

class Unreadable extends Error {}
const reject = (expected: string): never => {
  throw new Unreadable(expected)
}

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : reject(`a whole number from ${least} to ${most}`)
  }

const path = (text: string): string => resolve(text.replace(/^~(?=\/|$)/, homedir()))

/** A secret is written as it is, or where it is: `env:NAME` or `file:/path`. */
const secret = (text: string): string => {
  if (text.startsWith("env:")) {
    return process.env[text.slice(4)] ?? reject("env:NAME to name a variable that is set")
  }
  if (!text.startsWith("file:")) return text
  try {
    return readFileSync(text.slice(5), "utf8").trim()
  } catch {
    return reject("file:/path to name a file that can be read")
  }
}

const databaseUrl = (text: string): Redacted.Redacted<string> | undefined => {
  if (text === "") return undefined
  const url = secret(text)
  return /^postgres(ql)?:\/\/./.test(url) && URL.canParse(url)
    ? Redacted.make(url)
    : reject("postgres://user:password@host:5432/database, env:NAME or file:/path")
}

const parsedUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)
const list = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

const origin = (text: string): string =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text.replace(/\/$/, "")
    ? new URL(text).origin
    : reject("https://host, without a path")

const secretText = (text: string): Redacted.Redacted<string> | undefined =>
  text === "" ? undefined : Redacted.make(secret(text))

const baseUrl = (text: string): string | undefined => {
  if (text === "") return undefined
  return /^https?:\/\/./.test(text) && URL.canParse(text)
    ? text.replace(/\/+$/, "")
    : reject("an http or https address")
}

const PRICE = /^([^=\s]+)=(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/

/** Dollars per million tokens, in and out, by model. */
export type Prices = ReadonlyMap<string, { readonly input: number; readonly output: number }>

const prices = (text: string): Prices =>
  new Map(
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map((part) => {
        const [, model, input, output] = PRICE.exec(part) ?? reject("model=in/out, such as claude-haiku-5-5=1/5")
        return [model!, { input: Number(input), output: Number(output) }] as const
      })
  )

const LOG_LEVELS = ["error", "warn", "info", "debug"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const SETTINGS = {
  databaseUrl: setting(
    "DATABASE_URL",
    "The Postgres (15 to 18) to use, as a URL, env:NAME or file:/path. Without it Max runs its own.",
    "",
    databaseUrl
  ),
  dataDir: setting("MAX_DATA_DIR", "Where Max's own Postgres keeps its data.", ".max", path),
  stateDir: setting(
    "MAX_STATE_DIR",
    "Secrets and the register of Max's own databases, for this user only.",
    "~/.local/state/max",
    path
  ),
  organization: setting(
    "MAX_ORG",
    "The organization, by slug; optional when there is only one.",
    "",
    (text) => text || undefined
  ),
  as: setting(
    "MAX_AS",
    "The person for whom things are looked up: a verified e-mail address or phone number.",
    "",
    (text) => text || undefined
  ),
  searchConnections: setting(
    "MAX_SEARCH_CONNECTIONS",
    "Connections for searches, per process.",
    "8",
    wholeNumber(1, 100)
  ),
  lookupTimeout: setting(
    "MAX_LOOKUP_TIMEOUT",
    "Milliseconds that a lookup by key may take in the database.",
    "250",
    wholeNumber(10, 60_000)
  ),
  searchTimeout: setting(
    "MAX_SEARCH_TIMEOUT",
    "Milliseconds that any other statement may take in the database.",
    "5000",
    wholeNumber(100, 600_000)
  ),
  traceShare: setting(
    "MAX_TRACE_SHARE",
    "The share of traces that is kept, 0 to 1; slow, failed and denied ones always are.",
    "0.1",
    (text) => (/^(0(\.\d{1,6})?|1(\.0+)?)$/.test(text) ? Number(text) : reject("a number from 0 to 1"))
  ),
  traceSlow: setting("MAX_TRACE_SLOW", "Milliseconds from which on a trace is slow.", "250", wholeNumber(1, 600_000)),
  traceLimit: setting(
    "MAX_TRACE_LIMIT",
    "How many traces are stored at most; 0 stores none.",
    "20000",
    wholeNumber(0, 1_000_000)
  ),
  traceMegabytes: setting(
    "MAX_TRACE_MEGABYTES",
    "How many megabytes stored traces take at most.",
    "256",
    wholeNumber(1, 100_000)
  ),
  traceDays: setting("MAX_TRACE_DAYS", "How many days a trace is stored.", "7", wholeNumber(1, 3650)),
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Where traces, metrics and logs are sent, as OTLP over HTTP, such as http://127.0.0.1:4318. Without it nowhere.",
    "",
    (text) =>
      text === ""
        ? undefined
        : /^https?:$/.test(parsedUrl(text)?.protocol ?? "")
          ? text.replace(/\/$/, "")
          : reject("http:// or https:// and a host")
  ),
  metricsToken: setting(
    "MAX_METRICS_TOKEN",
    "What a Prometheus sends as its bearer token to read GET /metrics, of at least 16 characters, as it is, env:NAME or file:/path. Without it nobody reads them.",
    "",
    (text) => {
      const found = secretText(text)
      return found === undefined || Redacted.value(found).length >= 16 ? found : reject("at least 16 characters")
    }
  ),
  provider: setting(
    "MAX_PROVIDER",
    "Who thinks: anthropic, basic (no model, no network) or a provider that Ax knows. By default anthropic with a key, else basic.",
    "",
    (text) => text.toLowerCase() || undefined
  ),
  model: setting(
    "MAX_MODEL",
    "The model, as its provider calls it; claude-haiku-5-5 by default at Anthropic.",
    "",
    (text) => text || undefined
  ),
  anthropicKey: setting(
    "ANTHROPIC_API_KEY",
    "The key for Anthropic, as it is, env:NAME or file:/path.",
    "",
    secretText
  ),
  anthropicUrl: setting("ANTHROPIC_BASE_URL", "Where Anthropic's interface is, if elsewhere.", "", baseUrl),
  axKey: setting("MAX_API_KEY", "The key for a provider of Ax, as it is, env:NAME or file:/path.", "", secretText),
  axUrl: setting("MAX_BASE_URL", "Where the interface of a provider of Ax is, if elsewhere.", "", baseUrl),
  turnTokens: setting(
    "MAX_TURN_TOKENS",
    "Tokens that one answer may cost, in and out.",
    "30000",
    wholeNumber(1000, 1_000_000)
  ),
  turnSeconds: setting("MAX_TURN_SECONDS", "Seconds that one answer may take.", "60", wholeNumber(1, 600)),
  dayTurns: setting(
    "MAX_DAY_TURNS",
    "Questions that an organization may ask a day.",
    "5000",
    wholeNumber(0, 100_000_000)
  ),
  dayTokens: setting(
    "MAX_DAY_TOKENS",
    "Tokens that an organization's answers may cost a day, in and out.",
    "10000000",
    wholeNumber(0, 900_000_000)
  ),
  sessionDays: setting(
    "MAX_SESSION_DAYS",
    "Days that a conversation is kept after it was last used.",
    "30",
    wholeNumber(1, 3650)
  ),
  prices: setting(
    "MAX_PRICES",
    "What models cost in dollars per million tokens, in/out: claude-haiku-5-5=1/5,… (an example, not a price list).",
    "",
    prices
  ),
  httpHost: setting("MAX_HTTP_HOST", "The address that max serve listens on.", "127.0.0.1", (text) => text),
  httpPort: setting(
    "MAX_HTTP_PORT",
    "The port that max serve listens on; 0 takes a free one.",
    "7700",
    wholeNumber(0, 65_535)
  ),
  publicUrl: setting(
    "MAX_PUBLIC_URL",
    "Under which address people reach max serve, such as https://max.example.com.",
    "",
    (text) => (text === "" ? undefined : origin(text))
  ),
  allowedHosts: setting(
    "MAX_ALLOWED_HOSTS",
    "Further names that requests may be addressed to, comma-separated, with the port if it isn't the usual one.",
    "",
    list
  ),
  allowedOrigins: setting(
    "MAX_ALLOWED_ORIGINS",
    "Further origins of pages that may send requests, comma-separated.",
    "",
    (text): ReadonlyArray<string> => list(text).map(origin)
  ),
  callsPerPerson: setting(
    "MAX_CALLS_PER_PERSON",
    "Tool calls a minute of one person over HTTP.",
    "30",
    wholeNumber(1, 1_000_000)
  ),
  callsPerOrganization: setting(
    "MAX_CALLS_PER_ORGANIZATION",
    "Tool calls a minute of one organization over HTTP.",
    "1000",
    wholeNumber(1, 100_000_000)
  ),
  twilioUrl: setting("MAX_TWILIO_URL", "Where Twilio's interface is, if elsewhere.", "https://api.twilio.com", (text) =>
    baseUrl(text)!
  ),
  smsPerNumber: setting(
    "MAX_SMS_PER_NUMBER",
    "Questions that one number may text in an hour.",
    "30",
    wholeNumber(1, 1_000_000)
  ),
  smsSegments: setting(
    "MAX_SMS_SEGMENTS",
    "Segments that an organization may text in a day; strangers get at most half of them.",
    "2000",
    wholeNumber(0, 100_000_000)
  ),
  sessionHours: setting("MAX_SESSION_HOURS", "Hours that a sign-in lasts.", "12", wholeNumber(1, 720)),
  logLevel: setting(
    "MAX_LOG_LEVEL",
    "What is logged to standard error: error, warn, info or debug.",
    "warn",
    (text): LogLevel => LOG_LEVELS.find((level) => level === text.toLowerCase()) ?? reject("error, warn, info or debug")
  )
} as const

export type Values = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]["read"]> }

const readSetting = Effect.fnUntraced(
  function* <A>(one: Setting<A>) {
    const text = yield* Config.String(one.name).pipe(Config.option)
    const given = Option.getOrElse(text, () => one.fallback)
    return yield* Effect.try({
      try: () => one.read(given.trim() === "" ? one.fallback : given.trim()),
      catch: (error) =>
        new ConfigurationError({
          message: `${one.name}: expected ${error instanceof Unreadable ? error.message : "something else"}.`
        })
    })
  },
  Effect.catchTag("ConfigError", (error) => Effect.fail(new ConfigurationError({ message: error.message })))
)

/** Where programs keep what is the person's own on this machine. */
export const thisMachine = { platform: process.platform, home: homedir(), appData: process.env["APPDATA"] }

const given = (one: Setting<unknown>) =>
  Effect.map(
    Effect.orElseSucceed(Config.String(one.name).pipe(Config.option), () => Option.none<string>()),
    Option.match({ onNone: () => "", onSome: (text) => text.trim() })
  )

/**
 * What another program on this machine needs in its environment to reach the same database. A secret is handed on by
 * where it is, never by what it is.
 */
export const handedOn = Effect.gen(function* () {
  const env = yield* Env
  const url = yield* given(SETTINGS.databaseUrl)
  if (url.startsWith("file:")) return { [SETTINGS.databaseUrl.name]: `file:${path(url.slice(5))}` }
  if (url.startsWith("env:") || (url !== "" && new URL(url).password !== "")) {
    return yield* new ConfigurationError({
      message:
        "DATABASE_URL has to be handed on by reference: write the URL into a file that only you can read, and set DATABASE_URL=file:/path/to/it."
    })
  }
  if (url !== "") return { [SETTINGS.databaseUrl.name]: url }
  return {
    [SETTINGS.dataDir.name]: env.dataDir,
    ...((yield* given(SETTINGS.stateDir)) === "" ? {} : { [SETTINGS.stateDir.name]: env.stateDir })
  }
})

/** A secret that a command line names by where it is, and never by what it is, with the name as it can be handed on. */
export const readReference = (
  flag: string,
  text: string
): Effect.Effect<{ readonly reference: string; readonly secret: Redacted.Redacted<string> }, ConfigurationError> =>
  Effect.try({
    try: () => {
      if (!/^(env|file):./.test(text))
        return reject("env:NAME or file:/path, so that the secret stands in no list of processes")
      const reference = text.startsWith("file:") ? `file:${path(text.slice(5))}` : text
      const value = secret(reference)
      return { reference, secret: Redacted.make(value === "" ? reject("a secret that isn't empty") : value) }
    },
    catch: (error) =>
      new ConfigurationError({
        message: `${flag}: expected ${error instanceof Unreadable ? error.message : "something else"}.`
      })
  })

/** Where a command's other database is: a Postgres server's URL, env:NAME or file:/path, or a folder for Max's own. */
export const readPlace = (text: string): Effect.Effect<Pick<Values, "databaseUrl" | "dataDir">, ConfigurationError> =>
  Effect.try({
    try: () => {
      const server = /^(postgres(ql)?:\/\/|env:|file:)/.test(text)
      if (text.trim() === "" || (!server && text.includes("://"))) return reject("")
      return { databaseUrl: server ? databaseUrl(text) : undefined, dataDir: server ? "" : path(text) }
    },
    catch: (error) =>
      new ConfigurationError({
        message: `Expected postgres://user:password@host:5432/database, env:NAME, file:/path, or a folder for Max's own Postgres${error instanceof Unreadable && error.message.includes(" to name ") ? `; ${error.message}` : ""}.`
      })
  })

const readAll = Effect.gen(function* () {
  const values: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(SETTINGS)) values[name] = yield* readSetting(one as Setting<unknown>)
  return values as Values
})

/** The configuration, read once when the layer is built. */
export class Env extends Context.Service<Env, Values>()("max/Env") {
  static readonly layer = Layer.effect(Env, readAll)

  /** The configuration with some values of the caller's own in place of those of the environment. */
  static readonly layerWith = (overrides: Partial<Values>) =>
    Layer.effect(
      Env,
      Effect.map(Env, (env) => Env.of({ ...env, ...overrides }))
    ).pipe(Layer.provide(Env.layer))

  /** The defaults with some values of the caller's own, and nothing of the environment. */
  static readonly layerOf = (values: Partial<Values>) =>
    Layer.effect(
      Env,
      readAll.pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})),
        Effect.map((env) => Env.of({ ...env, ...values }))
      )
    )
}
