/** Every setting: its name in the environment, its kind, its default and its meaning. */
import {
  databaseUrls,
  type Kind,
  list,
  oneOf,
  optionalOneOf,
  optionalDatabaseUrl,
  optionalLongSecret,
  optionalLowerCase,
  optionalOrigin,
  optionalPath,
  optionalSecret,
  optionalText,
  optionalUrl,
  origins,
  path,
  prices,
  share,
  text,
  url,
  wholeNumber
} from "./kinds.ts"

export interface Setting<A> {
  readonly name: string
  readonly kind: Kind<A>
  /** The default as text; empty for an unset setting. */
  readonly fallback: string
  readonly description: string
}

const setting = <A>(name: string, kind: Kind<A>, fallback: string, description: string): Setting<A> => ({
  name,
  kind,
  fallback,
  description
})

export const SETTINGS = {
  databaseUrl: setting(
    "DATABASE_URL",
    optionalDatabaseUrl,
    "",
    "The Postgres server (15 to 18) to use. Without it Max runs an embedded Postgres."
  ),
  poolUrl: setting(
    "MAX_POOL_URL",
    optionalDatabaseUrl,
    "",
    "PgBouncer's address for the connections of the reading and writing roles, such as postgres://host:6432/database. DATABASE_URL stays the server's own address."
  ),
  replicaUrls: setting(
    "MAX_REPLICA_URLS",
    databaseUrls,
    "",
    "Standbys that also answer lookups, comma-separated, such as postgres://host:5432. Rows count only if the primary confirms that they are current."
  ),
  dataDir: setting("MAX_DATA_DIR", path, ".max", "The data folder of the embedded Postgres."),
  stateDir: setting(
    "MAX_STATE_DIR",
    path,
    "~/.local/state/max",
    "Secrets and the registry of embedded databases, readable by this user only."
  ),
  sealKey: setting(
    "MAX_SEAL_KEY",
    optionalLongSecret,
    "",
    "The key that seals secrets pasted on the page, or env:NAME or file:/path; by default the file seal.key in MAX_STATE_DIR, made when it is needed."
  ),
  secretsDir: setting(
    "MAX_SECRETS_DIR",
    optionalPath,
    "",
    "A folder of secrets that administrators may choose by name, in a folder for each organization (by slug)."
  ),
  backupDir: setting(
    "MAX_BACKUP_DIR",
    optionalPath,
    "",
    "A folder into which an administrator's page writes backups, where there is one organization. Without it the page makes none."
  ),
  organization: setting("MAX_ORG", optionalText, "", "The organization, by slug; optional when there is only one."),
  as: setting(
    "MAX_AS",
    optionalText,
    "",
    "The person to look things up for: a verified e-mail address or phone number."
  ),
  searchConnections: setting("MAX_SEARCH_CONNECTIONS", wholeNumber(1, 100), "8", "Search connections per process."),
  figures: setting("MAX_FIGURES", oneOf("on", "off"), "on", "Whether lookups answer groups, sums and averages."),
  figureConnections: setting(
    "MAX_FIGURE_CONNECTIONS",
    wholeNumber(0, 20),
    "2",
    "Connections for groups, sums and averages per process; 0 turns them off."
  ),
  lookupTimeout: setting(
    "MAX_LOOKUP_TIMEOUT",
    wholeNumber(10, 60_000),
    "250",
    "The statement timeout of lookups by key, in milliseconds."
  ),
  searchTimeout: setting(
    "MAX_SEARCH_TIMEOUT",
    wholeNumber(100, 600_000),
    "5000",
    "The statement timeout of other reads, in milliseconds."
  ),
  traceShare: setting(
    "MAX_TRACE_SHARE",
    share,
    "0.1",
    "The share of traces to store. Slow, failed and denied ones are always stored."
  ),
  traceSlow: setting(
    "MAX_TRACE_SLOW",
    wholeNumber(1, 600_000),
    "250",
    "The duration in milliseconds from which a trace counts as slow."
  ),
  traceLimit: setting(
    "MAX_TRACE_LIMIT",
    wholeNumber(0, 1_000_000),
    "20000",
    "The maximum number of stored traces; 0 stores none."
  ),
  traceMegabytes: setting(
    "MAX_TRACE_MEGABYTES",
    wholeNumber(1, 100_000),
    "256",
    "The maximum size of stored traces, in megabytes."
  ),
  traceDays: setting("MAX_TRACE_DAYS", wholeNumber(1, 3650), "7", "Days to store a trace."),
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    optionalUrl,
    "",
    "Where to send traces, metrics and logs, as OTLP over HTTP, such as http://127.0.0.1:4318. Without it, nothing is exported."
  ),
  metricsToken: setting(
    "MAX_METRICS_TOKEN",
    optionalLongSecret,
    "",
    "The bearer token with which Prometheus reads GET /metrics. Without it the metrics are off."
  ),
  provider: setting(
    "MAX_PROVIDER",
    optionalLowerCase,
    "",
    "The model's provider: anthropic, basic (no model, no network) or one that Ax supports. By default anthropic with a key, otherwise basic."
  ),
  model: setting(
    "MAX_MODEL",
    optionalText,
    "",
    "The provider's name of the model; claude-haiku-5-5 by default for Anthropic."
  ),
  anthropicKey: setting("ANTHROPIC_API_KEY", optionalSecret, "", "The API key for Anthropic."),
  anthropicUrl: setting("ANTHROPIC_BASE_URL", optionalUrl, "", "The base URL of Anthropic's API, where it differs."),
  axKey: setting("MAX_API_KEY", optionalSecret, "", "The API key for a provider of Ax."),
  axUrl: setting("MAX_BASE_URL", optionalUrl, "", "The base URL of an Ax provider's API, where it differs."),
  turnTokens: setting(
    "MAX_TURN_TOKENS",
    wholeNumber(1000, 1_000_000),
    "30000",
    "The maximum tokens per answer, in and out."
  ),
  turnSeconds: setting("MAX_TURN_SECONDS", wholeNumber(1, 600), "60", "The maximum seconds per answer."),
  turnCpu: setting(
    "MAX_TURN_CPU",
    wholeNumber(50, 60_000),
    "2000",
    "The maximum processor time of Max's own work per answer, in milliseconds."
  ),
  dayTurns: setting(
    "MAX_DAY_TURNS",
    wholeNumber(0, 100_000_000),
    "5000",
    "The maximum questions per day and organization."
  ),
  dayTokens: setting(
    "MAX_DAY_TOKENS",
    wholeNumber(0, 900_000_000),
    "10000000",
    "The maximum tokens per day and organization, in and out."
  ),
  sessionDays: setting(
    "MAX_SESSION_DAYS",
    wholeNumber(1, 3650),
    "30",
    "Days to keep a conversation after its last use."
  ),
  prices: setting(
    "MAX_PRICES",
    prices,
    "",
    "Model prices in dollars per million tokens, such as claude-haiku-5-5=1/5 (an example, not a price list)."
  ),
  httpHost: setting("MAX_HTTP_HOST", text, "127.0.0.1", "The address that max serve listens on."),
  httpPort: setting(
    "MAX_HTTP_PORT",
    wholeNumber(0, 65_535),
    "7700",
    "The port that max serve listens on; 0 takes a free one."
  ),
  publicUrl: setting(
    "MAX_PUBLIC_URL",
    optionalOrigin,
    "",
    "The address at which people reach max serve, such as https://max.example.com."
  ),
  allowedHosts: setting(
    "MAX_ALLOWED_HOSTS",
    list,
    "",
    "Further values of the Host header to accept, with the port if it isn't the default."
  ),
  allowedOrigins: setting("MAX_ALLOWED_ORIGINS", origins, "", "Further origins whose pages may send requests."),
  callsPerPerson: setting(
    "MAX_CALLS_PER_PERSON",
    wholeNumber(1, 1_000_000),
    "30",
    "The maximum tool calls per minute and person over HTTP."
  ),
  callsPerOrganization: setting(
    "MAX_CALLS_PER_ORGANIZATION",
    wholeNumber(1, 100_000_000),
    "1000",
    "The maximum tool calls per minute and organization over HTTP."
  ),
  changes: setting("MAX_CHANGES", oneOf("on", "off"), "on", "Whether people can propose and confirm changes."),
  writesPerMinute: setting(
    "MAX_WRITES_PER_MINUTE",
    wholeNumber(1, 1_000_000),
    "10",
    "The maximum changes per minute and person."
  ),
  destructivePerHour: setting(
    "MAX_DESTRUCTIVE_PER_HOUR",
    wholeNumber(0, 1_000_000),
    "5",
    "The maximum deletions per hour and person."
  ),
  exportsPerHour: setting(
    "MAX_EXPORTS_PER_HOUR",
    wholeNumber(0, 1_000_000),
    "10",
    "The maximum files per hour and person that hold what the person may see; 0 refuses them."
  ),
  changedRowsPerDay: setting(
    "MAX_CHANGED_ROWS_PER_DAY",
    wholeNumber(1, 100_000_000),
    "500",
    "The maximum rows per day that a person changes."
  ),
  approvalHours: setting(
    "MAX_APPROVAL_HOURS",
    wholeNumber(1, 8760),
    "72",
    "Hours that a change waits for another person's approval."
  ),
  changeDays: setting(
    "MAX_CHANGE_DAYS",
    wholeNumber(1, 3650),
    "90",
    "Days to keep the values of a decided change; its digest stays."
  ),
  privateHosts: setting(
    "MAX_PRIVATE_HOSTS",
    list,
    "",
    "Hosts (or host:port) in private networks that published actions may call, also by http, and where administrators may add identity providers."
  ),
  intakeAs: setting(
    "MAX_INTAKE_AS",
    optionalText,
    "",
    "The member that messages of webhooks and of the mailbox folder are handed in as: an e-mail address, a phone number or id:ID."
  ),
  intakeZendeskSecret: setting(
    "MAX_INTAKE_ZENDESK_SECRET",
    optionalLongSecret,
    "",
    "The signing secret of Zendesk's webhook, or env:NAME or file:/path."
  ),
  intakeSecret: setting(
    "MAX_INTAKE_SECRET",
    optionalLongSecret,
    "",
    "The secret of webhooks that are signed as Standard Webhooks, or env:NAME or file:/path."
  ),
  intakeMaildir: setting(
    "MAX_INTAKE_MAILDIR",
    optionalPath,
    "",
    "A mailbox folder (maildir) whose new e-mails max serve hands in."
  ),
  twilioUrl: setting("MAX_TWILIO_URL", url, "https://api.twilio.com", "The base URL of Twilio's API."),
  smsPerNumber: setting(
    "MAX_SMS_PER_NUMBER",
    wholeNumber(1, 1_000_000),
    "30",
    "The maximum questions per hour from one phone number."
  ),
  smsSegments: setting(
    "MAX_SMS_SEGMENTS",
    wholeNumber(0, 100_000_000),
    "2000",
    "The maximum text message segments per day and organization; unknown senders get at most half of them."
  ),
  smtpUrl: setting(
    "MAX_SMTP_URL",
    optionalSecret,
    "",
    "The mail server for invitations and sign-in links, such as smtps://user:password@mail.example.com, or env:NAME or file:/path. It needs MAX_MAIL_FROM and MAX_PUBLIC_URL."
  ),
  mailFrom: setting("MAX_MAIL_FROM", optionalText, "", "The sender's address of mails."),
  sessionHours: setting("MAX_SESSION_HOURS", wholeNumber(1, 720), "12", "Hours until a sign-in expires."),
  logLevel: setting(
    "MAX_LOG_LEVEL",
    oneOf("error", "warn", "info", "debug"),
    "warn",
    "The lowest level logged to standard error."
  ),
  logFormat: setting(
    "MAX_LOG_FORMAT",
    optionalOneOf("pretty", "logfmt", "json"),
    "",
    "The format of log lines; by default pretty on a terminal, otherwise logfmt."
  ),
  accessLog: setting(
    "MAX_ACCESS_LOG",
    oneOf("0", "1"),
    "0",
    "1 logs a line for each HTTP request, whatever MAX_LOG_LEVEL is."
  )
} as const

export type Values = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]["kind"]["read"]> }
