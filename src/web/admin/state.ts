/** Who is here, and what every page does while something is being asked. */
import { signal } from "@preact/signals"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { Problem } from "../shared/api.ts"
import { endsSession, type Session } from "./api.ts"

export type Who =
  | { readonly is: "unknown" }
  | { readonly is: "here"; readonly session: Session }
  | { readonly is: "kept out"; readonly problem: Problem; readonly session?: Session }

export const who = signal<Who>({ is: "unknown" })

/** What the one status line says, for those who hear the page. */
export const said = signal("")

export const failureOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem("internal", 0, "Something went wrong in this page. Load it again.")

/** Notes a failure; one that ends the session takes the whole page with it. */
export const failed = (error: unknown): Problem => {
  const problem = failureOf(error)
  if (endsSession(problem)) who.value = { is: "kept out", problem }
  return problem
}

export type Loaded<A> =
  | { readonly is: "loading" }
  | { readonly is: "failed"; readonly problem: Problem }
  | { readonly is: "ready"; readonly value: A }

/** Asks when something it depends on changes; only the latest answer counts. */
export const useLoaded = <A>(load: () => Promise<A>, depends: ReadonlyArray<unknown>) => {
  const [loaded, set] = useState<Loaded<A>>({ is: "loading" })
  const latest = useRef(0)
  const ask = useCallback(() => {
    const mine = ++latest.current
    const isLatest = () => mine === latest.current
    return load().then(
      (value) => isLatest() && set({ is: "ready", value }),
      (error: unknown) => isLatest() && set({ is: "failed", problem: failed(error) })
    )
  }, depends)
  useEffect(() => {
    set((before) => (before.is === "failed" ? { is: "loading" } : before))
    void ask()
    return () => void (latest.current += 1)
  }, [ask])
  return { loaded, again: ask }
}
