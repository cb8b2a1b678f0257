/**
 * Secrets of an organization that administrators set: pasted ones are sealed, others are names of files that the operator
 * keeps for the organization. None is returned to a page, and none is in the audit log.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError, type Unavailable } from "../../domain/errors.ts"
import { nextId } from "../../domain/ids.ts"
import { quoted } from "../../domain/text.ts"
import { seal, unseal } from "./seal.ts"

/** A pasted secret, or the name of a file of the operator's. */
export type Given = { readonly secret: Redacted.Redacted<string> } | { readonly file: string }

/** What is shown of a secret. */
export interface Shown {
  /** The last characters of a sealed one; undefined if it doesn't open with this server's key, or is short. */
  readonly ending?: string
  /** Whether it opens, or the file can be read. */
  readonly opens: boolean
  readonly file?: string
  /** The person's id, or `operator`. */
  readonly by: string
  readonly at: string
}

export interface SecretSettings {
  /** Read when a secret is first sealed or opened. */
  readonly sealingKey: Effect.Effect<Uint8Array, OperatorError>
  /** The folder with a folder for each organization, by slug. */
  readonly directory: string | undefined
}

interface Row {
  readonly version: bigint
  readonly sealed: Uint8Array | null
  readonly reference: string | null
  readonly set_by: string
  readonly set_at: Date
}

/** Names of files: no path, and none that begins with a dot. */
const FILE = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/
const MAX_LENGTH = 500
/** Secrets from this length on are recognized by their last characters. */
const LONG = 24

const SEALED_ELSEWHERE = "The secret was sealed with another key: paste it again."

export class Secrets extends Context.Service<
  Secrets,
  {
    /** The files that the operator keeps for the organization, by name. */
    readonly files: (organization: Organization) => Effect.Effect<ReadonlyArray<string>>
    /** The secret itself, before it is stored: pasted, or read from the file. */
    readonly take: (organization: Organization, given: Given) => Effect.Effect<Redacted.Redacted<string>, OperatorError>
    /** Stores a secret within the caller's transaction, which also records the act. */
    readonly put: (
      organization: Organization,
      name: string,
      given: Given,
      by: string
    ) => Effect.Effect<void, OperatorError | SqlError.SqlError>
    /** Removes a secret within the caller's transaction; false if there is none. */
    readonly remove: (organization: Organization, name: string) => Effect.Effect<boolean, SqlError.SqlError>
    readonly shown: (organization: Organization, name: string) => Effect.Effect<Shown | undefined, Unavailable>
    /** The secret with its version, which every `put` renews; undefined if there is none. */
    readonly read: (
      organization: Organization,
      name: string
    ) => Effect.Effect<
      { readonly version: bigint; readonly secret: Redacted.Redacted<string> } | undefined,
      OperatorError | Unavailable
    >
  }
>()("max/services/Secrets") {
  static readonly layer = ({ directory, sealingKey }: SecretSettings) =>
    Layer.effect(
      Secrets,
      Effect.gen(function* () {
        const { app } = yield* Database

        const filesOf = ({ slug }: Organization): ReadonlyArray<string> => {
          if (directory === undefined) return []
          try {
            return readdirSync(join(directory, slug))
              .filter((name) => FILE.test(name))
              .sort()
          } catch {
            return []
          }
        }

        const readFile = (organization: Organization, file: string) =>
          Effect.suspend(() => {
            const refused = OperatorError.of(`The operator keeps no secret ${quoted(file)} for this organization.`)
            if (directory === undefined || !FILE.test(file)) return Effect.fail(refused)
            return Effect.try({
              try: () => readFileSync(join(directory, organization.slug, file), "utf8").trim(),
              catch: () => refused
            }).pipe(Effect.flatMap(checked))
          })

        const rowOf = ({ id }: Organization, name: string) =>
          Effect.map(
            orUnavailable(app<Row>`SELECT version, sealed, reference, set_by, set_at FROM max.secrets
              WHERE organization_id = ${id} AND name = ${name}`),
            ([row]) => row
          )

        const opened = (organization: Organization, name: string, { reference, sealed }: Row) =>
          reference !== null
            ? readFile(organization, reference)
            : Effect.flatMap(sealingKey, (key) => {
                const secret = unseal(key, { organizationId: organization.id, name }, sealed!)
                return secret === undefined
                  ? Effect.fail(OperatorError.of(SEALED_ELSEWHERE))
                  : Effect.succeed(Redacted.make(secret))
              })

        return Secrets.of({
          files: (organization) => Effect.sync(() => filesOf(organization)),

          take: (organization, given) =>
            "file" in given ? readFile(organization, given.file) : checked(Redacted.value(given.secret).trim()),

          put: Effect.fnUntraced(function* (organization, name, given, by) {
            const { id } = organization
            const sealed =
              "file" in given
                ? null
                : seal(
                    yield* sealingKey,
                    { organizationId: id, name },
                    Redacted.value(yield* checked(Redacted.value(given.secret).trim()))
                  )
            const reference = "file" in given ? given.file : null
            yield* app`INSERT INTO max.secrets (organization_id, name, version, sealed, reference, set_by)
              VALUES (${id}, ${name}, ${nextId()}::bigint, ${sealed}::bytea, ${reference}::text, ${by})
              ON CONFLICT (organization_id, name) DO UPDATE SET version = excluded.version, sealed = excluded.sealed,
                reference = excluded.reference, set_by = excluded.set_by, set_at = now()`
          }),

          remove: ({ id }, name) =>
            Effect.map(
              app`DELETE FROM max.secrets WHERE organization_id = ${id} AND name = ${name} RETURNING 1 AS one`,
              (rows) => rows.length > 0
            ),

          shown: Effect.fn("Secrets.shown")(function* (organization, name) {
            const row = yield* rowOf(organization, name)
            if (row === undefined) return undefined
            const secret = yield* Effect.option(opened(organization, name, row))
            const text = secret._tag === "None" ? "" : Redacted.value(secret.value)
            return {
              opens: secret._tag === "Some",
              ...(row.reference === null ? {} : { file: row.reference }),
              ...(row.reference !== null || text.length < LONG ? {} : { ending: text.slice(-4) }),
              by: row.set_by,
              at: row.set_at.toISOString()
            }
          }),

          read: Effect.fn("Secrets.read")(function* (organization, name) {
            const row = yield* rowOf(organization, name)
            if (row === undefined) return undefined
            return { version: row.version, secret: yield* opened(organization, name, row) }
          })
        })
      })
    )
}

/** A secret that a header can carry. */
const checked = (secret: string): Effect.Effect<Redacted.Redacted<string>, OperatorError> =>
  /^[\x21-\x7e]+$/.test(secret) && secret.length <= MAX_LENGTH
    ? Effect.succeed(Redacted.make(secret))
    : Effect.fail(OperatorError.of("This isn't a key: a key is one word of letters, digits and signs."))
