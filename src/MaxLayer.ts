/** The options of the library, checked, and the layer that they describe. */
import { Effect, Layer, Redacted } from "effect"
import { Database } from "./database/Database.ts"
import type { Connection } from "./database/DatabaseSource.ts"
import { ConfigurationError } from "./domain/errors.ts"
import { isJsonObject } from "./domain/json.ts"
import { closest, quoted } from "./domain/text.ts"
import { Env, settingFault, SETTINGS, type Values } from "./env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "./layers.ts"
import { Admission } from "./services/access/Admission.ts"
import { CallLimits } from "./services/access/CallLimits.ts"
import { isDefinitions } from "./services/changes/calls/runActions.ts"
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

/** What `Max.layer` provides. */
export type MaxServices = Layer.Success<ReturnType<typeof everything>>

export const everything = (options: MaxOptions) => {
  const traced = options?.traces === true ? Observability : Layer.empty
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
  "organization",
  "actions"
] satisfies ReadonlyArray<keyof MaxOptions | "organization" | "actions">

/** Says which key isn't known, so that a misspelled one isn't ignored. */
const unknownIn = (what: string, given: object | undefined, known: ReadonlyArray<string>): string | undefined => {
  const unknown = Object.keys(given ?? {}).find((key) => !known.includes(key))
  if (unknown === undefined) return undefined
  const meant = closest(unknown, known)
  return `There is no ${what} ${quoted(unknown)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`
}

/** What is wrong with the options of a program without types; undefined if they are valid. */
const optionsFault = (options: MaxOptions): string | undefined => {
  const given: unknown = options
  if (!isJsonObject(given)) return "The options must be an object: { databaseUrl, settings }."
  const { actions, connection, databaseUrl, embedded, environment, organization, settings, traces } = given
  const expected = (name: string, what: string, value: unknown, valid: boolean) =>
    value === undefined || valid ? undefined : `${name} must be ${what}.`
  return (
    unknownIn("option", given, OPTIONS) ??
    expected(
      "databaseUrl",
      "a URL",
      databaseUrl,
      typeof databaseUrl === "string" || Redacted.isRedacted(databaseUrl)
    ) ??
    expected("connection", "an object", connection, isJsonObject(connection)) ??
    expected("embedded", "a folder", embedded, typeof embedded === "string" && embedded !== "") ??
    expected("environment", "true or false", environment, typeof environment === "boolean") ??
    expected("traces", "true or false", traces, typeof traces === "boolean") ??
    expected("organization", "the slug of an organization", organization, typeof organization === "string") ??
    expected("settings", "an object", settings, isJsonObject(settings)) ??
    expected("actions", "a list of defineAction({ … })", actions, isDefinitions(actions)) ??
    unknownIn("setting", options.settings, Object.keys(SETTINGS)) ??
    Object.entries(options.settings ?? {}).flatMap(([key, value]) => settingFault(key as keyof Values, value) ?? [])[0]
  )
}

const environmentOf = (options: MaxOptions) => {
  const fault = optionsFault(options)
  if (fault !== undefined) return Layer.effect(Env, ConfigurationError.of(fault))
  const { databaseUrl, embedded, environment, settings } = options
  const values = {
    ...Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== undefined)),
    ...(databaseUrl === undefined
      ? {}
      : { databaseUrl: typeof databaseUrl === "string" ? Redacted.make(databaseUrl) : databaseUrl }),
    ...(embedded === undefined ? {} : { databaseUrl: undefined, dataDir: embedded })
  }
  return environment === true ? Env.layerWith(values) : Env.layerOf(values)
}

/** Requires an explicit location, so that a missing option doesn't create an empty embedded database. */
const databaseOf = (options: MaxOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const env = yield* Env
      const { connection, databaseUrl, embedded } = options
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
