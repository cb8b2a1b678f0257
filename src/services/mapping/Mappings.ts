/**
 * Existing tables and views as entity types: proposed from the live system catalog, checked against it, published in one
 * transaction, and checked for drift. Rows are written only by confirmed changes, where a mapping lets them (services/changes).
 */
import { Context, Effect, Layer, Queue } from "effect"
import { Database } from "../../database/Database.ts"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { orUnavailable, orUnavailableInTheEnd } from "../../database/execute.ts"
import { connected } from "../../domain/connected.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"
import { holdImports } from "../EntityTypeCatalog.ts"
import { hiddenFrom, showToAdmin } from "../policies/adminPolicy.ts"
import type { Applied } from "./Applied.ts"
import { moveAnchors } from "./anchors.ts"
import { checkAll, findRelation } from "./checkFile.ts"
import { checkEntry, isFaults } from "./checkMapping.ts"
import {
  changesOf,
  documentsOf,
  driftedRelations,
  keepEdits,
  replacedRelations,
  sourcesOf,
  suspectOrganizations
} from "./drift.ts"
import { foreignAdvice, foreignTables, readFacts, readSamples } from "./tableFacts.ts"
import type { MappingFile } from "./mappingFile.ts"
import { type Proposal, propose } from "./propose.ts"
import { grant, missingGrants } from "./grants.ts"
import { grantWrites } from "./writeGrants.ts"
import { tryReading, unreadableText } from "./tryReading.ts"
import { recheckTypes } from "./rechecking.ts"
import { type Removal, removalOf, removeType } from "./removal.ts"
import { historyOf, publish } from "./publish.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"

type Fault = OperatorError | NotAdmitted | Unavailable

/** Milliseconds between two rechecks of an organization that change nothing. */
const RECHECK_INTERVAL = 5000

export class Mappings extends Context.Service<
  Mappings,
  {
    /** Proposes a mapping of these tables and views, or of all of them. */
    readonly propose: (
      organization: Organization,
      tables: ReadonlyArray<string>,
      exclusive: boolean
    ) => Effect.Effect<Proposal, Fault>
    /** Checks a mapping and puts it in force atomically; the error lists its problems. Types that the database blocks stay as they are. */
    readonly apply: (organization: Organization, file: MappingFile) => Effect.Effect<Applied, Fault>
    /** The changes since the organization's tables were mapped, one text each. */
    readonly diff: (organization: Organization) => Effect.Effect<ReadonlyArray<string>, Fault>
    /** Statements for the indexes that the organization's large tables lack. */
    readonly advice: (organization: Organization) => Effect.Effect<ReadonlyArray<string>, Fault>
    /** Mapped relations of any organization that have changed since, as schema.table; two cheap statements. */
    readonly drifted: Effect.Effect<ReadonlyArray<string>, Unavailable>
    /**
     * Accepts what other programs did to mapped relations, as far as it is safe: relations that were dropped and made again as
     * they were mapped are read again, and columns whose source is gone are left out. Grants what the reading role lacks.
     * Returns whether anything changed.
     */
    readonly recheck: (organization: Organization) => Effect.Effect<boolean, Fault>
    /** The same at a start, for every organization if any needs it. */
    readonly recheckAll: Effect.Effect<void, Fault>
    /** What hangs on a mapped type. */
    readonly removal: (organization: Organization, type: string) => Effect.Effect<Removal, Fault>
    /** Takes a mapped type out of the organization; its table stays. */
    readonly remove: (organization: Organization, type: string) => Effect.Effect<Removal, Fault>
    /** Sets the organization's key in mapped tables. */
    readonly setKey: (organization: Organization, key: string) => Effect.Effect<void, Fault>
  }
>()("max/services/Mappings") {
  static readonly layer = Layer.effect(
    Mappings,
    Effect.gen(function* () {
      const { app, owner, search } = yield* Database
      const states = yield* OrganizationState

      const stateOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "none" }), ({ state }) => state)

      /** The organization's mapped types, and the state of the database to check them against. */
      const contextOf = Effect.fnUntraced(function* (organization: Organization) {
        const { catalog } = yield* stateOf(organization)
        const facts = yield* orUnavailableInTheEnd(readFacts(owner))
        const documents = yield* orUnavailableInTheEnd(documentsOf(owner, organization))
        const entries = documents.map(({ entry }) => entry)
        const history = yield* orUnavailableInTheEnd(historyOf(owner, entries, catalog))
        return { documents, context: { facts, entries, catalog, history } }
      })

      const apply = Effect.fn("Mappings.apply")(function* (organization: Organization, file: MappingFile) {
        return yield* orUnavailableInTheEnd(
          owner.withTransaction(
            Effect.gen(function* () {
              yield* holdImports(owner, organization.id)
              const { catalog, policy } = yield* stateOf(organization)
              const facts = yield* readFacts(owner)
              const inForce = yield* documentsOf(owner, organization)
              const { checked, kept } = yield* checkAll(owner, file.types, catalog, facts, inForce)
              for (const each of checked) yield* publish(owner, organization, catalog, each)
              yield* grant(
                owner,
                checked.map(({ type }) => type)
              )
              const writes = yield* grantWrites(owner)
              const now = connected([
                ...catalog.types.filter((type) => !checked.some((each) => each.type.key === type.key)),
                ...checked.map(({ type }) => type)
              ])
              const types = checked.map(({ type }) => now.find(({ key }) => key === type.key)!)
              const moved = yield* moveAnchors(owner, catalog, { ...catalog, types: now })
              if ((yield* holdEpoch(owner, organization.id)) !== catalog.epoch) {
                return yield* new OperatorError({
                  message: "Something else changed this organization at the same time. Apply it again."
                })
              }
              const extended = yield* showToAdmin(owner, organization.id, policy, types, now)
              const [first, ...others] = types.map((type, index): AuditEvent => ({
                actor: OPERATOR,
                action: "catalog.published",
                subject: type.slug,
                details: {
                  version: type.version,
                  table: checked[index]!.relation.name,
                  columns: type.columns.map(({ slug }) => slug)
                }
              }))
              yield* raiseEpoch(owner, organization.id, [first!, ...others, ...moved])
              const shown = extended ?? policy
              const applied: Applied = {
                admin: extended !== undefined,
                kept,
                grants: writes.all,
                excess: writes.excess,
                triggers: checked.flatMap(({ relation, type }) =>
                  type.mapping?.write === undefined
                    ? []
                    : relation.laterTriggers.map((name) => `${relation.name}: ${printable(name)}`)
                ),
                advice: checked.flatMap(({ advice }) => advice),
                types: types.map((type, index) => ({
                  slug: type.slug,
                  pluralName: type.pluralName,
                  table: checked[index]!.relation.name,
                  version: type.version,
                  columns: type.columns.map(({ slug }) => slug),
                  written: type.columns.flatMap(({ key, slug }) =>
                    type.mapping?.write?.columns.includes(key) === true ? [slug] : []
                  ),
                  hidden: hiddenFrom(shown, type)
                }))
              }
              return applied
            })
          )
        )
      })

      const recheck = Effect.fn("Mappings.recheck")(function* (organization: Organization) {
        return yield* orUnavailableInTheEnd(
          owner.withTransaction(
            Effect.gen(function* () {
              yield* owner`SET LOCAL lock_timeout = '2s'`
              yield* holdImports(owner, organization.id)
              const { context, documents } = yield* contextOf(organization)
              return yield* recheckTypes(owner, context, documents)
            })
          )
        )
      })

      const recheckById = (id: bigint) =>
        Effect.flatMap(states.read(id, { by: "none" }), ({ state }) => recheck(state.catalog.organization))

      /** Lookups report relations that aren't as they were mapped. While that stays so, they are rechecked now and then. */
      const lately = new Map<bigint, number>()
      const recheckLater = Effect.fnUntraced(function* (id: bigint) {
        if (Date.now() - (lately.get(id) ?? 0) < RECHECK_INTERVAL) return
        const changed = yield* Effect.orElseSucceed(recheckById(id), () => false)
        if (changed) return void lately.delete(id)
        lately.set(id, Date.now())
        const suspected = yield* Effect.orElseSucceed(suspectOrganizations(owner), (): ReadonlyArray<bigint> => [])
        if (suspected.includes(id))
          yield* Effect.logWarning("Mapped tables aren't as they were mapped, and lookups of them fail: max map diff")
      })
      // Every lookup that fails reports its organization, which is rechecked once for all of them.
      const watch = Effect.flatMap(Queue.takeAll(states.suspects), (ids) =>
        Effect.forEach(new Set(ids), recheckLater, { discard: true })
      )
      yield* Effect.forkScoped(Effect.forever(watch))

      return Mappings.of({
        apply,
        recheck,

        recheckAll: Effect.gen(function* () {
          const ids = yield* orUnavailableInTheEnd(suspectOrganizations(owner))
          yield* Effect.forEach(ids, recheckById, { discard: true })
        }),

        removal: Effect.fn("Mappings.removal")(function* (organization, type) {
          return yield* orUnavailableInTheEnd(
            Effect.flatMap(stateOf(organization), (state) => removalOf(owner, state, type))
          )
        }),

        remove: Effect.fn("Mappings.remove")(function* (organization, type) {
          return yield* orUnavailableInTheEnd(
            owner.withTransaction(
              Effect.gen(function* () {
                yield* holdImports(owner, organization.id)
                return yield* removeType(owner, yield* stateOf(organization), type)
              })
            )
          )
        }),

        propose: Effect.fn("Mappings.propose")(function* (organization, tables, exclusive) {
          const { catalog } = yield* stateOf(organization)
          const facts = yield* orUnavailableInTheEnd(readFacts(owner))
          const chosen =
            tables.length === 0
              ? facts.relations
              : yield* Effect.forEach(tables, (name) => findRelation(owner, facts, name))
          const documents = yield* orUnavailableInTheEnd(documentsOf(owner, organization))
          const { file, notes } = propose(facts, chosen, catalog, {
            exclusive,
            named: tables.length > 0,
            timeZone: organization.timeZone,
            samples: yield* orUnavailableInTheEnd(readSamples(owner)),
            shown: new Set(documents.flatMap(({ entry }) => sourcesOf(entry)))
          })
          const foreign = tables.length > 0 ? [] : yield* orUnavailableInTheEnd(foreignTables(owner))
          return {
            notes: [...notes, ...foreign.map(foreignAdvice)],
            file: { ...file, types: file.types.map((entry) => keepEdits(entry, documents)) }
          }
        }),

        diff: Effect.fn("Mappings.diff")(function* (organization) {
          const { context, documents } = yield* contextOf(organization)
          const replaced = yield* orUnavailableInTheEnd(replacedRelations(owner, organization))
          const { names } = yield* orUnavailableInTheEnd(
            missingGrants(
              owner,
              context.catalog.types.filter(({ mapping }) => mapping !== undefined)
            )
          )
          const present = context.catalog.types.filter(
            ({ mapping, relation }) =>
              mapping !== undefined && context.facts.relations.some((each) => qualified(each) === qualified(relation))
          )
          const unreadable = yield* tryReading(search, present)
          return [
            ...documents.flatMap((document) => changesOf(document, context, replaced)),
            ...names.map(
              (name) => `Max may not read ${name}, so lookups of it are unavailable. To grant it: max migrate`
            ),
            ...unreadable.flatMap((each) =>
              replaced.includes(each.name) || names.includes(each.name) ? [] : unreadableText(each)
            )
          ]
        }),

        advice: Effect.fn("Mappings.advice")(function* (organization) {
          const { context, documents } = yield* contextOf(organization)
          return documents.flatMap(({ entry }) => {
            const checked = checkEntry(entry, context)
            return isFaults(checked) ? [] : checked.advice
          })
        }),

        drifted: orUnavailable(
          Effect.zipWith(driftedRelations(search), replacedRelations(search), (drifted, replaced) =>
            [...new Set([...drifted, ...replaced])].sort()
          )
        ),

        setKey: Effect.fn("Mappings.setKey")(function* (organization, key) {
          if (key.trim() === "" || key.length > 200 || printable(key) !== key) {
            return yield* new OperatorError({
              message: "A key is the organization's id in your tables: 1 to 200 characters."
            })
          }
          yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* app`UPDATE max.organizations SET external_key = ${key} WHERE organization_id = ${organization.id}`
                yield* raiseEpoch(app, organization.id, [
                  { actor: OPERATOR, action: "organization.key", subject: organization.slug }
                ])
              })
            )
          )
        })
      })
    })
  )
}
