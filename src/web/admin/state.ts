/** The session, the live region, and loading data with its failures. */
import { signal } from "@preact/signals"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { Power, Session } from "../../wire/session.ts"
import { Problem } from "../shared/api.ts"
import { endsSession } from "./api.ts"

export type Access =
  | { readonly is: "checking" }
  | { readonly is: "signed in"; readonly session: Session }
  | { readonly is: "refused"; readonly problem: Problem }

export const access = signal<Access>({ is: "checking" })

/** The text of the page's live region, which screen readers announce. */
export const announcement = signal("")

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem("internal", 0, "Something went wrong on this page. Reload it.")

/** The problem of a failed request; one that ends the session closes the page. */
export const handleFailure = (error: unknown): Problem => {
  const problem = problemOf(error)
  if (endsSession(problem)) access.value = { is: "refused", problem }
  return problem
}

export type Loaded<A> =
  | { readonly is: "loading" }
  | { readonly is: "failed"; readonly problem: Problem }
  | { readonly is: "ready"; readonly value: A }

/** Loads again whenever a dependency changes; responses to earlier requests are discarded. */
export const useLoaded = <A>(load: () => Promise<A>, dependencies: ReadonlyArray<unknown>) => {
  const [loaded, set] = useState<Loaded<A>>({ is: "loading" })
  const latest = useRef(0)
  const reload = useCallback(() => {
    const current = ++latest.current
    const isLatest = () => current === latest.current
    return load().then(
      (value) => isLatest() && set({ is: "ready", value }),
      (error: unknown) => isLatest() && set({ is: "failed", problem: handleFailure(error) })
    )
  }, dependencies)
  useEffect(() => {
    set((before) => (before.is === "failed" ? { is: "loading" } : before))
    void reload()
    return () => void (latest.current += 1)
  }, [reload])
  return { loaded, reload }
}

/** Whether the signed-in administrator has the power. The server decides; a page only hides what it would refuse. */
export const may = (power: Power): boolean =>
  access.value.is === "signed in" && access.value.session.powers.includes(power)
