/**
 * Files of administrators: imports with the power `data`, over the same importer as the command, and lists of people to
 * invite with the power `members`. What tells whether a row exists
 * is only reported to administrators who see the whole type.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { typeBySlug } from "../../domain/EntityType.ts"
import { Database } from "../../database/Database.ts"
import type { NotAdmitted, NotAllowed, Unavailable } from "../../domain/errors.ts"
import { OperatorError } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Power } from "../../permissions/Policy.ts"
import { Invitations, MAX_INVITED } from "../access/Invitations.ts"
import { badRowTexts } from "../import/BadRows.ts"
import { type Imported, Importer, type ImportRequest } from "../import/Importer.ts"
import { type Proposal, propose } from "../import/propose.ts"
import { readPeopleList } from "../import/peopleList.ts"
import { ofPage, Remedies } from "../import/remedies.ts"
import type { FileOptions } from "../import/readers/ImportFile.ts"
import { addSample } from "../import/sample/loadSample.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import type { Synced } from "../members/memberList.ts"
import { type Confirmed, Memberships } from "../members/Memberships.ts"
import { requirePower } from "../members/powers.ts"
import type { ImportFile, Imported as Reported, ImportRun, Sample } from "../../wire/admin/import.ts"
import type { InviteList, InvitePreview, SyncPreview } from "../../wire/admin/people.ts"
import { AuditLog, type AuditQuery } from "../audit/AuditLog.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { IMPORTED, runOf } from "./importRuns.ts"
import { makePeople, visiblePeople } from "./people.ts"
import { seesWhole } from "./reach.ts"

/** Files that a process reads at a time for pages. */
const READERS = 2

/** Members in a list of a page. */
const MAX_LISTED = 2000

type Fault = NotAdmitted | NotAllowed | OperatorError | Unavailable

export class Imports extends Context.Service<
  Imports,
  {
    /** Fails unless the administrator may import; before their file is taken. */
    readonly mayImport: (administrator: Principal) => Effect.Effect<void, Exclude<Fault, OperatorError>>
    readonly propose: (administrator: Principal, path: string, options: FileOptions) => Effect.Effect<Proposal, Fault>
    /** Fails unless the administrator may invite; before their file is taken. */
    readonly mayInvite: (administrator: Principal) => Effect.Effect<void, Exclude<Fault, OperatorError>>
    /** Whom a list would invite, with all its problems; nothing is changed. */
    readonly invited: (
      administrator: Principal,
      path: string,
      options: InviteList
    ) => Effect.Effect<InvitePreview, Fault>
    /** Who would come, change and go if the members matched a list, with all its problems; nothing is changed. */
    readonly previewSync: (
      administrator: Principal,
      path: string,
      options: FileOptions
    ) => Effect.Effect<SyncPreview, Fault>
    /** Makes the members match a list, if it still makes the confirmed number of changes. */
    readonly sync: (
      administrator: Principal,
      path: string,
      options: FileOptions & { readonly confirmed: Confirmed }
    ) => Effect.Effect<void, Fault>
    /** Past imports, latest first. */
    readonly runs: (
      administrator: Principal,
      query: Pick<AuditQuery, "before" | "limit">
    ) => Effect.Effect<ReadonlyArray<ImportRun>, Exclude<Fault, OperatorError>>
    /** Adds the sample data to an organization without imported rows. */
    readonly addSample: (administrator: Principal) => Effect.Effect<Sample, Fault>
    readonly import: (
      administrator: Principal,
      path: string,
      wanted: ImportFile,
      onProgress: NonNullable<ImportRequest["onProgress"]>
    ) => Effect.Effect<Reported, Fault>
  }
>()("max/services/Imports") {
  static readonly layer = Layer.effect(
    Imports,
    Effect.gen(function* () {
      const database = yield* Database
      const identities = yield* IdentityResolver
      const importer = yield* Importer
      const invitations = yield* Invitations
      const memberships = yield* Memberships
      const log = yield* AuditLog
      const evaluator = makeRowEvaluator(database.search)
      const members = makePeople(database.app, evaluator)
      const readers = yield* Semaphore.make(READERS)

      /** Reads a file, and words what helps as the page does. */
      const reading = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.provideService(readers.withPermit(effect), Remedies, ofPage)

      const current = Effect.fnUntraced(function* (administrator: Principal, power: Power = "data") {
        const { principal, state } = yield* identities.readmit(administrator)
        yield* requirePower(state.policy, principal, power)
        return { principal, state }
      })

      /** The members that a list has, or what is wrong with it. */
      const listed = (path: string, options: FileOptions) =>
        Effect.map(
          reading(readPeopleList(path, { ...options, most: MAX_LISTED })),
          ({ hasRoles, people, problems, warnings }) => ({
            warnings,
            people: people.map(({ identifier, place, roles = [] }) => ({ place, identifier, roles })),
            problems: hasRoles ? problems : ["The list has no column with roles. Name one of its headers Role."]
          })
        )

      const ofMembers = (administrator: Principal) => current(administrator, "members")

      return Imports.of({
        mayImport: (administrator) => Effect.asVoid(current(administrator)),

        propose: Effect.fn("Imports.propose")(function* (administrator, path, options) {
          const { state } = yield* current(administrator)
          return yield* reading(propose(path, state.catalog, options))
        }),

        mayInvite: (administrator) => Effect.asVoid(current(administrator, "members")),

        invited: Effect.fn("Imports.invited")(function* (administrator, path, { roles = [], ...options }) {
          const { principal, state } = yield* current(administrator, "members")
          const list = yield* reading(readPeopleList(path, { ...options, most: MAX_INVITED }))
          if (list.people.length === 0) {
            const problems = list.problems.length > 0 ? list.problems : ["The list has no people."]
            return { warnings: list.warnings, people: [], problems }
          }
          const found = yield* invitations.preview(state.catalog.organization, list.people, roles, principal)
          return { warnings: list.warnings, people: found.people, problems: [...list.problems, ...found.problems] }
        }),

        previewSync: Effect.fn("Imports.previewSync")(function* (administrator, path, options) {
          const { principal, state } = yield* ofMembers(administrator)
          const { people, problems, warnings } = yield* listed(path, options)
          const none = { added: [], changed: [], suspended: [], uninvited: [], verified: [], unchanged: 0 }
          if (problems.length > 0) return { ...none, warnings, problems }
          const { organization } = state.catalog
          const outcome = yield* memberships
            .sync(organization, people, { administrator: principal, dryRun: true })
            .pipe(
              Effect.catchTag("OperatorError", ({ details, message }) =>
                Effect.succeed({ ...none, problems: details ?? [message] })
              )
            )
          const named = new Map((yield* members(state, principal)).map((one) => [one.id, one]))
          const shown = ({ id, roles }: Synced["suspended"][number]) => {
            const person = named.get(id)
            return { id, roles, name: person?.name || person?.identifiers[0]?.text || id }
          }
          return {
            problems: [],
            ...outcome,
            warnings,
            suspended: outcome.suspended.map(shown),
            uninvited: outcome.uninvited.map(shown)
          }
        }),

        sync: Effect.fn("Imports.sync")(function* (administrator, path, { confirmed, ...options }) {
          const { principal, state } = yield* ofMembers(administrator)
          const { people, problems } = yield* listed(path, options)
          if (problems.length > 0) return yield* OperatorError.of("Nothing was changed.", problems.slice(0, 20))
          yield* memberships.sync(state.catalog.organization, people, { administrator: principal, confirmed })
        }),

        runs: Effect.fn("Imports.runs")(function* (administrator, query) {
          const { principal, state } = yield* current(administrator)
          const { organization } = state.catalog
          const records = yield* log.list(organization, { ...query, chain: "changes", action: IMPORTED })
          const actors = [...new Set(records.map(({ actor }) => actor))]
          const people = yield* visiblePeople(evaluator, state, principal, actors)
          const named = (id: string) => people.get(id)?.name || undefined
          return records.map((record) => runOf(state, principal, named, record))
        }),

        addSample: Effect.fn("Imports.addSample")(function* (administrator) {
          const { principal, state } = yield* current(administrator)
          return yield* readers.withPermit(addSample(database, importer, state.catalog.organization, principal))
        }),

        import: Effect.fn("Imports.import")(function* (administrator, path, wanted, onProgress) {
          const { principal, state } = yield* current(administrator)
          const type = typeBySlug(state.catalog, wanted.type)
          const isWhole = type === undefined || seesWhole(state.policy, principal.roles, type)
          const imported = yield* reading(
            importer.import(state.catalog.organization, {
              ...wanted,
              files: [path],
              administrator: principal,
              onProgress
            })
          )
          return reported(imported, isWhole)
        })
      })
    })
  )
}

const reported = (
  {
    badRows,
    changedHere,
    createdColumns,
    dryRun,
    files,
    inserted,
    leftOut,
    preview,
    rows,
    type,
    unchanged,
    updated,
    visibility,
    warnings
  }: Imported,
  isWhole: boolean
): Reported => ({
  type,
  dryRun,
  rows,
  leftOut,
  badRows: badRowTexts(badRows, false),
  mapped: files.flatMap(({ mapped }) => mapped),
  createdColumns,
  shownTo: visibility.shownTo,
  hiddenFrom: visibility.hiddenFrom,
  warnings,
  ...(isWhole
    ? {
        outcome: {
          inserted,
          updated,
          unchanged,
          changedHere: changedHere.cells,
          columns: preview?.columns ?? [],
          new: preview?.examples.new ?? [],
          changed: preview?.examples.changed ?? []
        }
      }
    : {})
})
