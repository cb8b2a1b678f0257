/** JSON responses that TypeScript checks against the wire. They aren't encoded by schema, which costs more than a lookup. */
import { HttpServerResponse } from "effect/http"

/** A value whose JSON has the type `A`: a `Date` becomes a string. */
type Serializable<A> = A extends string
  ? string extends A
    ? A | Date
    : A
  : A extends object
    ? { readonly [Key in keyof A]: Serializable<A[Key]> }
    : A

/** Responds with JSON of a wire type, which must be named: `json<Welcome>(…)`. */
export const json = <A = never>(value: NoInfer<Serializable<A>>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(value)
