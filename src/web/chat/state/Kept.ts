/**
 * The question that was typed when the session ended. It returns only to the same person, and survives a sign-in that leaves
 * the page for another site: this tab stores it until then.
 */
import type { Welcome } from "../../../wire/chat.ts"

type Store = Record<string, string>

const NAME = "max-kept"

/** The tab's storage, or the page's memory where the browser allows none. */
const tabStore = (): Store => {
  try {
    return sessionStorage as unknown as Store
  } catch {
    return {}
  }
}

export class Kept {
  readonly #store: Store

  /** `isStored` is false inside another site, whose scripts could read the tab's storage. */
  constructor(isStored: boolean) {
    this.#store = isStored ? tabStore() : {}
  }

  /** Keeps nothing without a name to compare with at the next sign-in. */
  put(text: string, of: Welcome | undefined): void {
    if (text !== "" && of?.person !== undefined) this.#store[NAME] = JSON.stringify([of.organization, of.person, text])
  }

  /** Ends the keeping: the question if it is this person's. */
  take(by?: Welcome): string {
    const [organization, person, text] = JSON.parse(this.#store[NAME] ?? '[0,0,""]') as ReadonlyArray<string>
    delete this.#store[NAME]
    return organization === by?.organization && person === by?.person ? text! : ""
  }
}
