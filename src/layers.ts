/** The layer graph; each line provides the lines above it. */
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { MaxAgent } from "./agents/MaxAgent.ts"
import { configuredModel, DEFAULT_MODEL } from "./agents/configuredModel.ts"
import { ownModels } from "./agents/configuredOwnModels.ts"
import { connectionFailure, connectOwner, Database } from "./database/Database.ts"
import { DatabaseSource, type Location, type Source, sourceOf } from "./database/DatabaseSource.ts"
import { ConfigurationError, type OperatorError } from "./domain/errors.ts"
import { Env, readReference } from "./env.ts"
import { exportMetricsAndLogs, exportTraces } from "./observability/exporters.ts"
import { EventLoop } from "./observability/EventLoop.ts"
import { Measures } from "./observability/Measures.ts"
import { Recorder } from "./observability/Recorder.ts"
import { Actions, type ActionSettings } from "./services/actions/Actions.ts"
import { Imports } from "./services/administration/Imports.ts"
import { OrganizationSettings } from "./services/administration/OrganizationSettings.ts"
import { Connections } from "./services/administration/Connections.ts"
import { TWILIO_PATH } from "./domain/Sms.ts"
import { Checklist } from "./services/administration/Checklist.ts"
import { UnclearQuestions } from "./services/administration/UnclearQuestions.ts"
import { Providers } from "./services/administration/Providers.ts"
import { PolicyEditor } from "./services/administration/PolicyEditor.ts"
import { Administration } from "./services/administration/Administration.ts"
import { PersonAccess } from "./services/administration/PersonAccess.ts"
import { WaysIn } from "./services/access/WaysIn.ts"
import { AuditLog } from "./services/audit/AuditLog.ts"
import { ApproverWebhook } from "./services/changes/calls/ApproverWebhook.ts"
import { ChangeOutbox } from "./services/changes/calls/ChangeOutbox.ts"
import { Changes } from "./services/changes/Changes.ts"
import { Passkeys } from "./services/access/Passkeys.ts"
import { Credentials } from "./services/access/Credentials.ts"
import { DerivedColumns } from "./services/catalog/DerivedColumns.ts"
import { EntityTypeCatalog } from "./services/EntityTypeCatalog.ts"
import { EntityQueryService } from "./services/EntityQueryService.ts"
import { Exports } from "./services/exports/Exports.ts"
import { Exporter } from "./services/operations/Exporter.ts"
import { ExternalIds } from "./services/operations/ExternalIds.ts"
import { Invitations } from "./services/access/Invitations.ts"
import { IdentityProviders } from "./services/access/IdentityProviders.ts"
import { CALLBACK_PATH } from "./services/access/openIdClient.ts"
import { Mailer } from "./services/mail/Mailer.ts"
import { IdentityResolver } from "./services/members/IdentityResolver.ts"
import { Backups } from "./services/operations/Backups.ts"
import { Health } from "./services/operations/Health.ts"
import type { Installation } from "./services/operations/Doctor.ts"
import { Importer } from "./services/import/Importer.ts"
import { ModelSettings } from "./services/models/ModelSettings.ts"
import { Secrets } from "./services/secrets/Secrets.ts"
import { existingSealingKeyIn, sealingKeyIn } from "./services/secrets/sealingKey.ts"
import { Mappings } from "./services/mapping/Mappings.ts"
import { Memberships } from "./services/members/Memberships.ts"
import { Setup } from "./services/onboarding/Setup.ts"
import { Organizations } from "./services/organizations/Organizations.ts"
import { OrganizationState } from "./services/catalog/OrganizationState.ts"
import { OrgEntityStore } from "./services/OrgEntityStore.ts"
import { Policies } from "./services/policies/Policies.ts"
import { PolicyReview } from "./services/policies/PolicyReview.ts"
import { Refusals } from "./services/audit/Refusals.ts"
import { Conversations } from "./services/conversations/Conversations.ts"
import { Sessions } from "./services/conversations/Sessions.ts"
import { Sources } from "./services/conversations/Sources.ts"
import { TurnNames } from "./services/conversations/TurnNames.ts"
import { SmsAdmission } from "./services/texting/SmsAdmission.ts"
import { SenderLeases } from "./services/texting/SenderLeases.ts"
import { ApproverTexts } from "./services/texting/ApproverTexts.ts"
import { SmsCodes } from "./services/texting/SmsCodes.ts"
import { SmsInbox } from "./services/texting/SmsInbox.ts"
import { SmsLog } from "./services/texting/SmsLog.ts"
import { SmsOutbox } from "./services/texting/SmsOutbox.ts"
import { TestTexts } from "./services/texting/TestTexts.ts"
import { SmsSettings } from "./services/texting/SmsSettings.ts"
import { Spending } from "./services/conversations/Spending.ts"
import { storeTraces } from "./services/traces/storeTraces.ts"
import { TraceStore } from "./services/traces/TraceStore.ts"
import { ToolHandlers } from "./tools/handlers.ts"
import { Snapshots } from "./services/operations/Snapshots.ts"
import { version } from "./version.ts"

const changes = (limits?: Parameters<typeof Changes.layer>[0]["limits"]) =>
  Layer.unwrap(
    Effect.map(Env, (env) =>
      Changes.layer({
        enabled: env.changes === "on",
        limits: limits ?? {
          calls: env.callsPerPerson,
          changes: env.writesPerMinute,
          destructive: env.destructivePerHour,
          rows: env.changedRowsPerDay
        },
        approvalHours: env.approvalHours,
        days: env.changeDays,
        reading: actionSettings(env.privateHosts)
      })
    )
  )

/** The secrets of actions are references, read when a request is sent. */
const actionSettings = (hosts: ReadonlyArray<string>): ActionSettings => ({
  hosts,
  secretOf: (reference) => Effect.map(readReference("secret", reference), ({ secret }) => Redacted.value(secret))
})
const ConfiguredActions = Layer.unwrap(
  Effect.map(Env, ({ privateHosts }) =>
    Layer.mergeAll(
      Actions.layer(actionSettings(privateHosts)),
      ChangeOutbox.layer(actionSettings(privateHosts)),
      ApproverWebhook.layer(actionSettings(privateHosts))
    )
  )
)

/** Changes, as they are configured. */
const ConfiguredChanges = changes()

/** Mail needs all three settings: a link leads to the public address. */
const ConfiguredMailer = Layer.unwrap(
  Effect.gen(function* () {
    const { mailFrom: from, publicUrl, smtpUrl } = yield* Env
    if (smtpUrl === undefined) return Mailer.layer(undefined)
    if (from === undefined || publicUrl === undefined) {
      return yield* ConfigurationError.of("MAX_SMTP_URL needs MAX_MAIL_FROM and MAX_PUBLIC_URL.")
    }
    return Mailer.layer({ smtpUrl, from, publicUrl })
  })
)

/** Examines the configured database, on connections of its own. */
const ConfiguredHealth = Layer.unwrap(Effect.map(Env, (env) => Health.layer(installationOf(env))))

const ConfiguredBackups = Layer.unwrap(Effect.map(Env, ({ backupDir }) => Backups.layer(backupDir)))

const ConfiguredExports = Layer.unwrap(Effect.map(Env, ({ exportsPerHour }) => Exports.layer(exportsPerHour)))

/** Changes without limits, for commands that try out many of them on their own organization. */
export const UnlimitedChanges = changes({ calls: 1e9, changes: 1e9, destructive: 1e9, rows: 1e9 })

/** Secrets are sealed with the operator's key, or with the one in the state folder. */
const ConfiguredSecrets = Layer.unwrap(
  Effect.map(Env, (env) => Secrets.layer({ sealingKey: sealingKeyOf(env, sealingKeyIn), directory: env.secretsDir }))
)

/** The operator's sealing key, or the one that the function finds in the state folder. */
const sealingKeyOf = <A>(
  { sealKey, stateDir }: Pick<Env["Service"], "sealKey" | "stateDir">,
  keyIn: (path: string) => Effect.Effect<A, OperatorError>
): Effect.Effect<A | Uint8Array, OperatorError> =>
  sealKey === undefined
    ? keyIn(join(stateDir, "seal.key"))
    : Effect.succeed(new TextEncoder().encode(Redacted.value(sealKey)))

/** Keys of organizations count where neither a provider nor a key is configured. */
const ConfiguredModelSettings = Layer.unwrap(
  Effect.map(Env, ({ anthropicKey, anthropicUrl, dayTokens, dayTurns, model, provider }) =>
    ModelSettings.layer({
      tryKey: (key, of) =>
        Effect.flatMap(
          Effect.promise(() => import("./agents/providers/tryAnthropicKey.ts")),
          ({ tryAnthropicKey }) => tryAnthropicKey(anthropicUrl, key, of)
        ),
      configured:
        provider === undefined && anthropicKey === undefined ? undefined : { provider: provider ?? "anthropic", model },
      defaultModel: model ?? DEFAULT_MODEL,
      dayTurns,
      dayTokens
    })
  )
)

/** An organization keeps conversations no longer than the operator. */
const ConfiguredOrganizations = Layer.unwrap(
  Effect.map(Env, ({ sessionDays }) => Organizations.layer({ conversationDays: sessionDays }))
)

/** Providers that administrators add may be at the private hosts that the operator lists. */
const ConfiguredProviders = Layer.unwrap(
  Effect.map(Env, ({ privateHosts, publicUrl }) =>
    IdentityProviders.layer({
      hosts: privateHosts,
      redirectUri: publicUrl === undefined ? undefined : `${publicUrl}${CALLBACK_PATH}`
    })
  )
)

const ConfiguredTestTexts = Layer.unwrap(
  Effect.map(Env, ({ smsPerNumber, smsSegments }) =>
    TestTexts.layer({ perHour: smsPerNumber, segmentsPerDay: smsSegments })
  )
)

const ConfiguredConnections = Layer.unwrap(
  Effect.map(Env, ({ publicUrl, twilioUrl }) =>
    Connections.layer({
      tryAccount: (account, token) =>
        Effect.flatMap(
          Effect.promise(() => import("./channels/sms/twilio.ts")),
          ({ tryTwilioAccount }) => tryTwilioAccount(twilioUrl, account, token)
        ),
      webhook: publicUrl === undefined ? undefined : `${publicUrl}${TWILIO_PATH}`
    })
  )
)

/** Every service, over a `Database` and the configuration to be provided. */
export const Services = ConfiguredChanges.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Administration.layer,
      Checklist.layer,
      DerivedColumns.layer,
      ConfiguredConnections.pipe(Layer.provideMerge(ConfiguredTestTexts)),
      ConfiguredActions,
      ConfiguredExports.pipe(Layer.provideMerge(EntityQueryService.layer)),
      Exporter.layer,
      ExternalIds.layer,
      Providers.layer.pipe(Layer.provideMerge(ConfiguredProviders)),
      Imports.layer.pipe(Layer.provideMerge(Importer.layer)),
      OrganizationSettings.layer.pipe(Layer.provideMerge(Layer.mergeAll(Mappings.layer, ConfiguredOrganizations))),
      Passkeys.layer,
      PersonAccess.layer.pipe(Layer.provideMerge(WaysIn.layer), Layer.provide(ConfiguredProviders)),
      PolicyEditor.layer,
      UnclearQuestions.layer,
      Conversations.layer,
      Sessions.layer,
      Sources.layer,
      Setup.layer,
      Snapshots.layer,
      TurnNames.layer,
      SmsAdmission.layer,
      SenderLeases.layer,
      ApproverTexts.layer,
      SmsCodes.layer,
      SmsInbox.layer,
      SmsOutbox.layer
    )
  ),
  Layer.provideMerge(
    Layer.mergeAll(
      AuditLog.layer,
      Credentials.layer,
      Invitations.layer,
      Memberships.layer,
      PolicyReview.layer,
      SmsLog.layer,
      SmsSettings.layer.pipe(Layer.provideMerge(ConfiguredSecrets)),
      Spending.layer,
      ConfiguredBackups,
      ConfiguredHealth,
      ConfiguredMailer,
      ConfiguredModelSettings.pipe(Layer.provideMerge(ConfiguredSecrets))
    )
  ),
  Layer.provideMerge(Policies.layer),
  Layer.provideMerge(Layer.mergeAll(EntityTypeCatalog.layer, IdentityResolver.layer, OrgEntityStore.layer)),
  Layer.provideMerge(Layer.mergeAll(OrganizationState.layer, Refusals.layer))
)

/**
 * The database at a location: the URL or, without one, the embedded server, which this starts or joins. The embedded
 * server's modules load here and only when they are needed.
 */
export const openSource = Effect.fnUntraced(
  function* ({ databaseUrl, ...folders }: Location) {
    if (databaseUrl !== undefined) return sourceOf({ url: databaseUrl })
    const { start } = yield* embedded
    const source: Source = yield* start(folders)
    return source
  },
  Effect.mapError(({ message }) => ConfigurationError.of(message))
)

/** The database at a location; undefined where opening it would create a new embedded one. */
const openExistingSource = Effect.fnUntraced(
  function* (location: Location) {
    const exists = location.databaseUrl !== undefined || (yield* (yield* embedded).isCreated(location))
    return exists ? yield* openSource(location) : undefined
  },
  Effect.mapError(({ message }) => ConfigurationError.of(message))
)

/** What doctor examines. */
export const installationOf = (env: Env["Service"]): Installation => ({
  location: env,
  source: openExistingSource(env),
  sealingKey: sealingKeyOf(env, existingSealingKeyIn),
  searchConnections: env.searchConnections,
  poolUrl: env.poolUrl,
  replicaUrls: env.replicaUrls
})

const embedded = Effect.promise(() => import("./database/embedded/EmbeddedServer.ts"))

/** The owner's connection to the configured database, migrated or not. */
export const configuredOwner = Env.pipe(
  Effect.flatMap(openSource),
  Effect.flatMap(connectOwner),
  Effect.mapError(connectionFailure)
)

/** The pools of the configured database. */
export const ConfiguredDatabase = Database.layer.pipe(
  Layer.provide(Layer.effect(DatabaseSource, Effect.flatMap(Env, openSource)))
)

/** Every service over the configured database. */
export const Live = Services.pipe(Layer.provideMerge(ConfiguredDatabase))

/** The agent with the configured model, over services to be provided. */
export const Agent = MaxAgent.layer.pipe(Layer.provideMerge(configuredModel), Layer.provide(ownModels))

/** The agent over every service and the configured database. */
export const LiveAgent = Agent.pipe(Layer.provideMerge(ToolHandlers), Layer.provideMerge(Live))

/**
 * Traces everything above it into the trace store and, if a collector is configured, exports traces, metrics and logs.
 * Its failures cost telemetry and nothing else.
 */
export const Observability = Layer.unwrap(
  Effect.map(Env, ({ otlpEndpoint, traceDays, traceLimit, traceMegabytes, traceShare, traceSlow }) => {
    const collector = otlpEndpoint === undefined ? undefined : { url: otlpEndpoint, version }
    return Layer.mergeAll(
      Recorder.tracerLayer,
      storeTraces(
        { days: traceDays, traces: traceLimit, megabytes: traceMegabytes },
        collector === undefined ? Effect.succeed(() => {}) : exportTraces(collector)
      ),
      collector === undefined ? Layer.empty : exportMetricsAndLogs(collector)
    ).pipe(
      Layer.provideMerge(Recorder.layer({ share: traceShare, slow: traceSlow })),
      Layer.provideMerge(EventLoop.layer),
      Layer.provideMerge(Measures.layer),
      Layer.provideMerge(TraceStore.layer)
    )
  })
)
