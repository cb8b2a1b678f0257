/** Signing in with a browser, and what the request's credential is good for. */
import { Schema } from "effect"

export const Session = Schema.Struct({
  /** The slug. */
  organization: Schema.String,
  roles: Schema.Array(Schema.String),
  scopes: Schema.Array(Schema.String),
  by: Schema.Literals(["token", "session", "provider"])
})
export type Session = typeof Session.Encoded

export const SignIn = Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(200)) })
export type SignIn = typeof SignIn.Encoded
