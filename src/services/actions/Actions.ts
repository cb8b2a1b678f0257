/**
 * The declared actions of an organization: immutable versions, of which the latest is in force. Publishing and retiring raise
 * the epoch and are audited.
 */
import { Context, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type DeclaredAction, targetOf } from "../../domain/DeclaredAction.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { type Problem, problemText } from "../../permissions/Policy.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { type ActionDefinition, readDefinitions } from "./defineAction.ts"
import { isSameDefinition, readActions } from "./readActions.ts"

/** Reads a secret by its reference; the failure says what was expected, without the secret. */
type ReadSecret = (reference: string) => Effect.Effect<string, { readonly message: string }>

export interface ActionSettings {
  readonly secretOf: ReadSecret
  /** Private hosts that actions may reach. */
  readonly hosts: ReadonlyArray<string>
}

/** What publishing does with an action of the file. */
export interface PlannedAction {
  readonly action: DeclaredAction
  readonly change: "new" | "changed" | "unchanged"
}

export interface ActionVersion {
  readonly slug: string
  readonly name: string
  readonly version: number
  readonly category: string
  readonly confirm: string
  /** Method and host, or `program`. */
  readonly target: string
  readonly publishedAt: string
  readonly author: string
  readonly retired: boolean
}

type Fault = OperatorError | NotAdmitted | Unavailable

/** Who publishes the actions of a program, as the audit log has it. */
const PROGRAM = "program"
const CHANGED = "The organization changed during publication. Publish again."

export class Actions extends Context.Service<
  Actions,
  {
    /** Reads a file and compares it with what is in force. */
    readonly check: (organization: Organization, text: string) => Effect.Effect<ReadonlyArray<PlannedAction>, Fault>
    /** Publishes the file's new and changed actions, each as a new version; others stay as they are. */
    readonly publish: (
      organization: Organization,
      text: string,
      author: string
    ) => Effect.Effect<ReadonlyArray<PlannedAction>, Fault>
    /** Publishes the new and changed actions of a program, unless an operator has retired them. */
    readonly declare: (
      organization: Organization,
      definitions: ReadonlyArray<ActionDefinition>
    ) => Effect.Effect<ReadonlyArray<PlannedAction>, Fault>
    /** The latest version of each action. */
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<ActionVersion>, Unavailable>
    /** The definition of a version, by default of the latest with one. */
    readonly show: (organization: Organization, slug: string, version?: number) => Effect.Effect<DeclaredAction, Fault>
    /** Takes an action out of force. Its versions stay. */
    readonly retire: (organization: Organization, slug: string, author: string) => Effect.Effect<number, Fault>
  }
>()("max/services/Actions") {
  static readonly layer = ({ hosts, secretOf }: ActionSettings) =>
    Layer.effect(
      Actions,
      Effect.gen(function* () {
        const { app, search } = yield* Database
        const states = yield* OrganizationState
        const stateOf = (organization: Organization) =>
          Effect.map(states.read(organization.id, { by: "none" }), ({ state }) => state)

        const check = Effect.fnUntraced(function* (organization: Organization, text: string) {
          const { actions: known = [], catalog, newerActions = [] } = yield* stateOf(organization)
          const reading = readActions(text, { catalog, hosts })
          if ("problems" in reading) return yield* refused(reading.problems)
          const missing: Array<Problem> = []
          for (const [at, { executor, slug }] of reading.actions.entries()) {
            if (newerActions.includes(slug)) missing.push({ path: `actions[${at}].slug`, message: newer(slug) })
            if (known.some((one) => one.slug === slug && one.executor._tag === "Code"))
              missing.push({ path: `actions[${at}].slug`, message: `A program declares ${quoted(slug)}.` })
            for (const [name, reference] of Object.entries(executor._tag === "Http" ? executor.secrets : {})) {
              const found = yield* Effect.result(secretOf(reference))
              if (found._tag === "Failure")
                missing.push({ path: `actions[${at}].http.secrets.${name}`, message: found.failure.message })
            }
          }
          if (missing.length > 0) return yield* refused(missing)
          return { epoch: catalog.epoch, planned: compared(reading.actions, known) }
        })

        /** Inserts the next version of each action, if the epoch is still that of the check. */
        const insert = Effect.fnUntraced(function* (
          organization: Organization,
          epoch: bigint,
          changes: ReadonlyArray<{ readonly slug: string; readonly definition: DeclaredAction | undefined }>,
          author: string,
          event: "action.published" | "action.retired"
        ) {
          return yield* Effect.gen(function* () {
            if ((yield* holdEpoch(app, organization.id)) !== epoch) return undefined
            const versions: Array<number> = []
            const events: Array<{ actor: string; action: string; subject: string; details: Record<string, unknown> }> =
              []
            for (const { definition, slug } of changes) {
              const text = definition === undefined ? "" : JSON.stringify(definition)
              const sha256 = createHash("sha256").update(text).digest("hex")
              const [row] = yield* app.unsafe<{ version: number }>(
                `INSERT INTO max.actions (organization_id, slug, version, definition, sha256, author)
                 SELECT $1::bigint, $2::text, n.version, CASE WHEN $3::text = '' THEN NULL ELSE $3::jsonb || jsonb_build_object('version', n.version) END, $4::text, $5::text
                 FROM (SELECT coalesce(max(version), 0) + 1 AS version FROM max.actions WHERE organization_id = $1::bigint AND slug = $2::text) n
                 RETURNING version`,
                [organization.id, slug, text, sha256, author]
              )
              versions.push(row!.version)
              events.push({ actor: author, action: event, subject: slug, details: { version: row!.version, sha256 } })
            }
            const [first, ...rest] = events
            if (first !== undefined) yield* raiseEpoch(app, organization.id, [first, ...rest])
            return versions
          }).pipe(app.withTransaction, orUnavailable)
        })

        const publishAll = Effect.fnUntraced(function* (
          organization: Organization,
          { epoch, planned }: { readonly epoch: bigint; readonly planned: ReadonlyArray<PlannedAction> },
          author: string
        ) {
          const changes = planned
            .filter(({ change }) => change !== "unchanged")
            .map(({ action }) => ({ slug: action.slug, definition: action }))
          const versions = yield* insert(organization, epoch, changes, author, "action.published")
          if (versions === undefined) return yield* OperatorError.of(CHANGED)
          return planned.map((one) => {
            const at = changes.findIndex(({ slug }) => slug === one.action.slug)
            return at < 0 ? one : { ...one, action: { ...one.action, version: versions[at]! } }
          })
        })

        return Actions.of({
          check: Effect.fn("Actions.check")(function* (organization, text) {
            return (yield* check(organization, text)).planned
          }),

          publish: Effect.fn("Actions.publish")(function* (organization, text, author) {
            return yield* publishAll(organization, yield* check(organization, text), author)
          }),

          declare: Effect.fn("Actions.declare")(function* (organization, definitions) {
            const { actions: known = [], catalog, newerActions = [] } = yield* stateOf(organization)
            const reading = readDefinitions(definitions, catalog)
            if ("problems" in reading) return yield* refused(reading.problems)
            const ahead = reading.actions.find(({ slug }) => newerActions.includes(slug))
            if (ahead !== undefined) return yield* OperatorError.of(newer(ahead.slug))
            const taken = reading.actions.find(({ slug }) =>
              known.some((one) => one.slug === slug && one.executor._tag === "Http")
            )
            if (taken !== undefined)
              return yield* OperatorError.of(`A file declares ${quoted(taken.slug)}. Choose another name.`)
            // What an operator has retired, a program doesn't put in force again.
            const retired = yield* orUnavailable(
              search.unsafe<{ slug: string }>(
                `SELECT slug FROM (SELECT DISTINCT ON (slug) slug, definition FROM max.actions WHERE organization_id = $1::bigint
                   ORDER BY slug, version DESC) a WHERE definition IS NULL`,
                [organization.id]
              )
            )
            const wanted = reading.actions.filter((action) => !retired.some(({ slug }) => slug === action.slug))
            const { epoch } = catalog
            return yield* publishAll(organization, { epoch, planned: compared(wanted, known) }, PROGRAM)
          }),

          list: Effect.fn("Actions.list")(function* (organization) {
            const rows = yield* orUnavailable(
              search.unsafe<{
                version: number
                definition: DeclaredAction
                author: string
                retired: boolean
                published_at: string
              }>(
                `SELECT DISTINCT ON (a.slug) a.version, d.definition, a.author, a.definition IS NULL AS retired,
                   to_char(a.published_at AT TIME ZONE o.time_zone, 'YYYY-MM-DD HH24:MI') AS published_at
                 FROM max.actions a JOIN max.organizations o USING (organization_id)
                 JOIN LATERAL (SELECT b.definition FROM max.actions b WHERE b.organization_id = a.organization_id AND b.slug = a.slug AND b.definition IS NOT NULL
                   ORDER BY b.version DESC LIMIT 1) d ON true
                 WHERE a.organization_id = $1::bigint ORDER BY a.slug, a.version DESC`,
                [organization.id]
              )
            )
            return rows.map(({ definition, published_at, ...row }) => {
              const { category, confirm, executor, name, slug } = definition
              return { slug, name, category, confirm, target: targetOf(executor), publishedAt: published_at, ...row }
            })
          }),

          show: Effect.fn("Actions.show")(function* (organization, slug, version) {
            const [row] = yield* orUnavailable(
              search.unsafe<{ definition: DeclaredAction }>(
                `SELECT definition FROM max.actions WHERE organization_id = $1::bigint AND slug = $2::text AND definition IS NOT NULL
                   AND ($3::int IS NULL OR version = $3::int) ORDER BY version DESC LIMIT 1`,
                [organization.id, slug, version ?? null]
              )
            )
            return row === undefined ? yield* unknownAction(slug) : row.definition
          }),

          retire: Effect.fn("Actions.retire")(function* (organization, slug, author) {
            const { actions = [], catalog, newerActions = [] } = yield* stateOf(organization)
            if (![...actions.map((action) => action.slug), ...newerActions].includes(slug))
              return yield* unknownAction(slug)
            const versions = yield* insert(
              organization,
              catalog.epoch,
              [{ slug, definition: undefined }],
              author,
              "action.retired"
            )
            return versions?.[0] ?? (yield* OperatorError.of(CHANGED))
          })
        })
      })
    )
}

const compared = (
  actions: ReadonlyArray<DeclaredAction>,
  known: ReadonlyArray<DeclaredAction>
): ReadonlyArray<PlannedAction> =>
  actions.map((action) => {
    const before = known.find(({ slug }) => slug === action.slug)
    const change = before === undefined ? "new" : isSameDefinition(before, action) ? "unchanged" : "changed"
    return { action: change === "unchanged" ? before! : action, change }
  })

const newer = (slug: string) => `A newer version of Max has published ${quoted(slug)}: publish it with that version.`

const unknownAction = (slug: string) =>
  OperatorError.of(`There is no action ${quoted(slug)}. max action list shows them.`)

const refused = (problems: ReadonlyArray<Problem>) =>
  OperatorError.of(
    `The file can't be published: ${problems.length} problem${problems.length === 1 ? "" : "s"}.`,
    problems.map(problemText)
  )
