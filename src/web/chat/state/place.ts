/** What the page shows, and where it stores that. */

/** The open conversation, a turn that begins a new one, a change alone, the inbox, an action's form ("" lists them), an entity, or nothing yet. */
export type Place =
  | { readonly conversation: string }
  | { readonly turn: string }
  | { readonly change: string }
  | { readonly inbox: true }
  | { readonly action: string }
  /** An entity's handle. */
  | { readonly entity: string }
  | undefined

/** Stores the place, so that a reload returns to it. */
export interface Address {
  readonly read: () => Place
  /** `isNew` adds an entry to the browser's history; otherwise the current entry is replaced. */
  readonly write: (place: Place, isNew: boolean) => void
}
