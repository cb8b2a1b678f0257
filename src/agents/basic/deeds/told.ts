/** Which of several reasons is told why nothing is drafted. */
import type { Deed } from "./Deed.ts"
import type { Draft } from "./Draft.ts"
import type { Problem } from "./rows.ts"
import { UNKNOWN_VALUE } from "./settle.ts"
import { type Said, textOf } from "./words.ts"

/** The people whom a reading gives rows to, where something else is wrong with it. */
export const knownPeople = (deed: Deed, read: Draft | Problem | undefined, said: Said): ReadonlyArray<string> =>
  read?._tag !== "Problem" || deed._tag !== "Update" || deed.subject._tag !== "Rows"
    ? []
    : deed.settings.flatMap((each) => {
        const name = `“${textOf(said, each.value)}”`
        return each._tag === "Concept" && each.concept === "owner" && !read.text.includes(name) ? [name] : []
      })
/** "I don't know “Lena” as a status": she is a person, and the request failed by something else. */
export const isOfPerson = ({ text }: Problem, known: ReadonlyArray<string>): boolean =>
  known.some((name) => text.startsWith(`${UNKNOWN_VALUE} ${name}`))
