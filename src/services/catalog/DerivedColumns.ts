/**
 * Derived columns: declared, listed and removed by an operator. A declaration is a row of the catalog and no column of a
 * table. It is added to the version in force, because it changes nothing that is stored.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailableInTheEnd } from "../../database/execute.ts"
import { type Declared, FORMS, formOf, misfit, readDeclared } from "../../domain/derived.ts"
import { type Catalog, type Column, columnBySlug, type EntityType, type Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { labelFrom, slugProblem } from "../../domain/names.ts"
import { closest, quoted } from "../../domain/text.ts"
import { CHANGED, holdImports, MAX_TYPE_COLUMNS } from "../EntityTypeCatalog.ts"
import { OrganizationState } from "./OrganizationState.ts"
import { derivedColumn, insertColumn, insertVersion } from "./storedTypes.ts"

/** A derived column as an operator sees it. */
export interface DerivedColumn {
  /** TYPE.COLUMN */
  readonly column: string
  readonly name: string
  /** The form with the names of its columns. */
  readonly is: string
  /** Whether lookups can't read it, because a column that it is computed from is gone. */
  readonly broken: boolean
}

type Fault = OperatorError | NotAdmitted | Unavailable

export class DerivedColumns extends Context.Service<
  DerivedColumns,
  {
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<DerivedColumn>, Fault>
    /** Declares TYPE.COLUMN by one of the forms. */
    readonly declare: (organization: Organization, name: string, form: string) => Effect.Effect<DerivedColumn, Fault>
    readonly remove: (organization: Organization, name: string) => Effect.Effect<DerivedColumn, Fault>
  }
>()("max/services/DerivedColumns") {
  static readonly layer = Layer.effect(
    DerivedColumns,
    Effect.gen(function* () {
      const { owner } = yield* Database
      const states = yield* OrganizationState

      const catalogOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "none" }), ({ state }) => state.catalog)

      /** Runs a change of the catalog, which takes effect with the next epoch. */
      const changing = <A>(
        organization: Organization,
        change: (
          catalog: Catalog
        ) => Effect.Effect<{ readonly is: A; readonly event: Event }, Fault | SqlError.SqlError>
      ) =>
        orUnavailableInTheEnd(
          owner.withTransaction(
            Effect.gen(function* () {
              yield* holdImports(owner, organization.id)
              const catalog = yield* catalogOf(organization)
              const { event, is } = yield* change(catalog)
              if ((yield* holdEpoch(owner, organization.id)) !== catalog.epoch) return yield* OperatorError.of(CHANGED)
              yield* raiseEpoch(owner, organization.id, [{ actor: OPERATOR, ...event }])
              return is
            })
          )
        )

      return DerivedColumns.of({
        list: Effect.fn("DerivedColumns.list")(function* (organization) {
          const { types } = yield* catalogOf(organization)
          return types.flatMap((type) => (type.derived ?? []).map((column) => shown(type, column)))
        }),

        declare: Effect.fn("DerivedColumns.declare")(function* (organization, name, form) {
          return yield* changing(organization, (catalog) =>
            Effect.gen(function* () {
              const { slug, type } = yield* typeIn(catalog, name)
              const declared = readDeclared(form)
              if (declared === undefined) {
                return yield* OperatorError.of(
                  `${quoted(form)} is none of the forms that a column can be derived by:`,
                  [...FORMS]
                )
              }
              yield* checkName(owner, catalog, type, slug)
              const sources = yield* sourcesOf(type, declared)
              const of = sources.map(({ key }) => key)
              // The key is of its name: a rule that denies it still does after it is removed and declared again.
              const column = derivedColumn({ key: `d_${slug}`, slug, name: labelFrom(slug) }, { as: declared.as, of })
              yield* insert(owner, catalog, type, column)
              const is = formOf(
                declared.as,
                sources.map((each) => each.slug)
              )
              return {
                is: { column: name, name: column.name, is, broken: false },
                event: { action: "catalog.derived", subject: name, details: { is } }
              }
            })
          )
        }),

        remove: Effect.fn("DerivedColumns.remove")(function* (organization, name) {
          return yield* changing(organization, (catalog) =>
            Effect.gen(function* () {
              const { slug, type } = yield* typeIn(catalog, name)
              const column = type.derived?.find((each) => each.slug === slug)
              if (column === undefined) {
                return yield* OperatorError.of(
                  `${type.pluralName} have no derived column ${quoted(slug)}. max catalog derive lists all derived columns.`
                )
              }
              yield* owner`DELETE FROM builder.columns WHERE organization_id = ${organization.id} AND type_key = ${type.key}
                AND version = ${type.version} AND column_key = ${column.key} AND storage->>'_tag' = 'Derived'`
              return { is: shown(type, column), event: { action: "catalog.underived", subject: name } }
            })
          )
        })
      })
    })
  )
}

interface Event {
  readonly action: string
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
}

const shown = (type: EntityType, { derived, name, slug }: Column): DerivedColumn => ({
  column: `${type.slug}.${slug}`,
  name,
  is: formOf(
    derived!.as,
    derived!.of.map((key) => [...type.columns, ...(type.missing ?? [])].find((each) => each.key === key)?.slug ?? "?")
  ),
  broken: derived!.sources === undefined
})

const typeIn = Effect.fnUntraced(function* ({ types }: Catalog, name: string) {
  const [, typeSlug = "", slug = ""] = /^([^.]*)\.([^.]*)$/.exec(name) ?? []
  const type = types.find((each) => each.slug === typeSlug)
  if (typeSlug === "" || slug === "")
    return yield* OperatorError.of(`${quoted(name)} isn't TYPE.COLUMN, such as cases.handle_time.`)
  if (type === undefined) {
    const slugs = types.map((each) => each.slug)
    return yield* OperatorError.of(`There is no type ${quoted(typeSlug)}. The types are: ${slugs.join(", ")}.`)
  }
  return { type, slug }
})

/** A name means one thing forever; only a derived column that was removed can be declared in another way. */
const checkName = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  catalog: Catalog,
  type: EntityType,
  slug: string
) {
  const derived = type.derived?.find((column) => column.slug === slug)
  if (derived !== undefined) {
    const { column, is } = shown(type, derived)
    return yield* OperatorError.of(
      `${column} is derived already, as ${quoted(is)}. To declare it anew, remove it first: max catalog derive ${column} --remove`
    )
  }
  const former = yield* owner<{
    found: boolean
  }>`SELECT EXISTS (SELECT FROM builder.columns c WHERE c.type_key = ${type.key}
    AND c.organization_id IN (0, ${catalog.organization.id}) AND c.slug = ${slug} AND c.storage->>'_tag' <> 'Derived') AS found`
  const fault =
    slugProblem(slug) ??
    (columnBySlug(type, slug) !== undefined
      ? `${type.pluralName} have that already`
      : former[0]?.found === true
        ? `${type.pluralName} had another column of that name before`
        : undefined)
  if (fault !== undefined) return yield* OperatorError.of(`A column can't be called ${quoted(slug)}: ${fault}.`)
  if (type.columns.length + (type.derived ?? []).length >= MAX_TYPE_COLUMNS)
    return yield* OperatorError.of(`${type.pluralName} have ${MAX_TYPE_COLUMNS} columns, which is the most of a type.`)
})

const sourcesOf = Effect.fnUntraced(function* (type: EntityType, { as, of }: Declared) {
  const sources: Array<Column> = []
  for (const slug of of) {
    if (type.derived?.some((column) => column.slug === slug) === true) {
      return yield* OperatorError.of(
        `${quoted(slug)} is derived itself, and a column is derived from stored ones: ${type.columns.map((column) => column.slug).join(", ")}.`
      )
    }
    const column = columnBySlug(type, slug)
    if (column === undefined) {
      const slugs = type.columns.map((each) => each.slug)
      const near = closest(slug, slugs)
      return yield* OperatorError.of(
        `${type.pluralName} have no column ${quoted(slug)}. ${near === undefined ? `They have: ${slugs.join(", ")}.` : `Did you mean ${near}?`}`
      )
    }
    sources.push(column)
  }
  const fault = misfit(as, sources)
  if (fault !== undefined) return yield* OperatorError.of(`${quoted(formOf(as, of))} can't be computed: ${fault}.`)
  return sources
})

/** Adds a declaration to the organization's version of the type; a type that organizations share gets one first. */
const insert = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  { organization }: Catalog,
  type: EntityType,
  column: Column
) {
  const { id } = organization
  const [found] = yield* owner<{ own: boolean; position: number | null }>`
    SELECT bool_or(organization_id = ${id}) AS own, min(position) AS position FROM builder.entity_type_versions
    WHERE organization_id IN (0, ${id}) AND type_key = ${type.key} AND version = ${type.version}`
  yield* found!.own
    ? insertColumn(owner, id, type, column)
    : insertVersion(owner, id, { ...type, version: type.version + 1, derived: [column] }, found!.position)
})
