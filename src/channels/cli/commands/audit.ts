/** The audit log on the command line: changes, refused reads, and verification of the hash chains. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { AuditLog, type AuditRecord, type Head, type Verification } from "../../../services/audit/AuditLog.ts"
import { currentOrganization, memberNames, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { listing, note, result } from "../output.ts"

const MAX_LISTED = 1000

const details = ({ details }: AuditRecord): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ")

const list = Command.make(
  "list",
  {
    refused: toggle("refused", "List refused reads instead of changes"),
    action: optional("action", "Only actions that start with this, such as membership or policy.published"),
    before: Flag.Int("before").pipe(Flag.withDescription("Only records before this number"), Flag.optional),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`The maximum number of records, 1 to ${MAX_LISTED}`),
      Flag.withDefault(50)
    )
  },
  Effect.fnUntraced(function* (input) {
    if (input.limit < 1 || input.limit > MAX_LISTED)
      return yield* UsageError.of(`--limit must be between 1 and ${MAX_LISTED}.`)
    const organization = yield* currentOrganization
    const audit = yield* AuditLog
    const records = yield* audit.list(organization, {
      chain: input.refused ? "reads" : "changes",
      action: Option.getOrUndefined(input.action),
      before: Option.getOrUndefined(Option.map(input.before, BigInt)),
      limit: input.limit
    })
    const names = yield* memberNames
    const named = (id: string) => names.get(id) || id
    yield* listing(
      records,
      "Nothing yet.",
      (record) => [
        String(record.sequence),
        record.at,
        named(record.actor),
        record.action,
        named(record.subject),
        details(record)
      ],
      ["number", "at", "who", "did", "to", "details"]
    )
  })
).pipe(Command.withDescription("List changes with their author and time, newest first"))

const readHead = (text: string): Head | undefined => {
  const match = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text)
  return match === null ? undefined : { sequence: BigInt(match[1]!), hash: match[2]! }
}

const describe = ({ broken, chain, head }: Verification): string => {
  const name = chain === "changes" ? "Changes" : "Refused reads"
  if (broken !== undefined) return `${name}: record ${broken} was altered or is missing.`
  return head === undefined
    ? `${name}: no record yet.`
    : `${name}: ${head.sequence} records, all unaltered. Head ${head.sequence}:${head.hash}`
}

const verify = Command.make(
  "verify",
  {
    contains: optional(
      "contains",
      "Check that the log still contains this head, as an earlier verify printed it: NUMBER:HASH"
    )
  },
  Effect.fnUntraced(function* (input) {
    const earlier = Option.map(input.contains, readHead)
    if (Option.isSome(earlier) && earlier.value === undefined)
      return yield* UsageError.of(
        `--contains takes NUMBER:HASH as max audit verify printed it, not ${quoted(Option.getOrElse(input.contains, () => ""))}.`
      )
    const organization = yield* currentOrganization
    const audit = yield* AuditLog
    const chains = yield* audit.verify(organization)
    const isContained =
      Option.isSome(earlier) && earlier.value !== undefined
        ? yield* audit.contains(organization, "changes", earlier.value)
        : true
    yield* result({ chains, ...(Option.isSome(earlier) ? { contains: isContained } : {}) }, chains.map(describe))
    if (chains.some(({ broken }) => broken !== undefined))
      return yield* OperatorError.of("The audit log was altered by a client with the owner's credentials.")
    if (!isContained)
      return yield* OperatorError.of("The audit log no longer contains that head: it was truncated or rewritten.")
    if (Option.isNone(earlier))
      yield* note("Store the head of the changes elsewhere; --contains checks later that the log still contains it.")
  })
).pipe(Command.withDescription("Recompute every hash and report altered or missing records"))

export const audit = Command.make("audit").pipe(
  Command.withDescription("Changes and refused reads"),
  Command.withSubcommands([list, verify])
)
