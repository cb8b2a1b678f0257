/**
 * Actions: what can be done, with typed fields. Each managed type has `TYPE.create`, `TYPE.update` and `TYPE.delete`, and a mapped
 * type those that its mapping lets be written. They are derived from the catalog and never stored. An action permits nothing: a policy does.
 */
import { Schema } from "effect"
import { type Catalog, type ColumnKind, DISPLAY_NAME, type EntityType, isWritable, typeByKey } from "./EntityType.ts"

/** The ways to confirm a change, the weakest first. `second`: another person decides. */
export const CONFIRMATIONS = ["none", "once", "twice", "second"] as const
export const Confirmation = Schema.Literals(CONFIRMATIONS)
export type Confirmation = typeof Confirmation.Type

/** The stricter of two confirmations. */
export const stricter = (a: Confirmation, b: Confirmation): Confirmation =>
  CONFIRMATIONS.indexOf(a) >= CONFIRMATIONS.indexOf(b) ? a : b

type Category = "read" | "write" | "destructive" | "external" | "ui"

/** A field of an action: the shape of a column, so that values, words and forms have one form. */
interface Field {
  readonly key: string
  readonly slug: string
  readonly name: string
  readonly kind: ColumnKind
  readonly needed: boolean
  /** The closed list of values. */
  readonly values?: ReadonlyArray<string>
  /** Of a reference: the key of its type. */
  readonly target?: string
}

/** Who carries an action out; `Store` writes rows of its subject's type. */
export interface Executor {
  readonly _tag: "Store"
  readonly op: "create" | "update" | "delete"
}

export interface Action {
  /** Immutable; what policies and documents bind to. */
  readonly key: string
  /** What callers write; one namespace with the slugs of types. */
  readonly slug: string
  readonly name: string
  /** At most 200 characters, for people and models alike. */
  readonly description: string
  readonly category: Category
  /** The type that it acts on, by key, and the most rows of one step. */
  readonly subject: { readonly type: string; readonly most: number }
  readonly fields: ReadonlyArray<Field>
  /** The least confirmation; a policy only raises it. */
  readonly confirm: Confirmation
  /** How long a draft can be confirmed. */
  readonly seconds: number
  readonly executor: Executor
  readonly version: number
}

/** The most rows of one step. */
const MAX_STEP_ROWS = 25
/** The most rows of one change. */
export const MAX_CHANGE_ROWS = 100
/** Above this number of rows, a change needs a second confirmation. */
export const MAX_ONCE_ROWS = 10
const DRAFT_SECONDS = 300

/** The actions of a catalog, in its order. */
export const actionsOf = (catalog: Catalog): ReadonlyArray<Action> =>
  catalog.types.flatMap((type) => actionsOfType(type, catalog))

/** An action by its slug. */
export const actionBySlug = (catalog: Catalog, slug: string): Action | undefined => find(catalog, slug, "slug")

/** An action by its key. */
export const actionByKey = (catalog: Catalog, key: string): Action | undefined => find(catalog, key, "key")

const find = (catalog: Catalog, text: string, by: "slug" | "key"): Action | undefined => {
  const end = text.lastIndexOf(".")
  const name = text.slice(0, Math.max(end, 0))
  const type = catalog.types.find((candidate) => candidate[by] === name)
  return type && actionsOfType(type, catalog).find((action) => action[by] === text)
}

const derived = new WeakMap<EntityType, ReadonlyArray<Action>>()

/** Derived once for each type: a catalog's values never change. */
const actionsOfType = (type: EntityType, catalog: Catalog): ReadonlyArray<Action> => {
  const known = derived.get(type) ?? deriveActions(type, catalog)
  derived.set(type, known)
  return known
}

const deriveActions = (type: EntityType, catalog: Catalog): ReadonlyArray<Action> => {
  const fields = type.columns.flatMap((column): ReadonlyArray<Field> => {
    const { key, kind, name, slug, storage, values } = column
    if (type.mapping !== undefined && type.mapping.write?.columns.includes(key) !== true) return []
    // A managed relation can't hold the ids of another program's rows.
    if (
      type.mapping === undefined &&
      storage._tag !== "Value" &&
      typeByKey(catalog, storage.target)?.mapping !== undefined
    )
      return []
    return [
      {
        key,
        slug,
        name,
        kind,
        needed: false,
        ...(values === undefined ? {} : { values }),
        ...(storage._tag === "Value" ? {} : { target: storage.target })
      }
    ]
  })
  const { key, slug } = type
  const one = type.name.toLowerCase()
  const subject = { type: key, most: MAX_STEP_ROWS }
  const common = (op: Executor["op"]) => ({
    key: `${key}.${op}`,
    slug: `${slug}.${op}`,
    subject,
    seconds: DRAFT_SECONDS,
    executor: { _tag: "Store", op } as const,
    version: 1
  })
  const actions: ReadonlyArray<Action> = [
    {
      ...common("create"),
      name: `Add ${one}`,
      description: `Adds ${one} with these values.`,
      category: "write",
      fields: fields.map((field) =>
        field.key === DISPLAY_NAME || type.mapping?.write?.create?.needed.includes(field.key) === true
          ? { ...field, needed: true }
          : field
      ),
      confirm: "once"
    },
    {
      ...common("update"),
      name: `Change ${one}`,
      description: `Sets these values of ${one}; an empty value empties the cell.`,
      category: "write",
      fields,
      confirm: "once"
    },
    {
      ...common("delete"),
      name: `Delete ${one}`,
      description: `Deletes ${one}.`,
      category: "destructive",
      fields: [],
      confirm: "twice"
    }
  ]
  return actions.filter(({ executor }) => isWritable(type, executor.op))
}
