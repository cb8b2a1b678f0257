/** Signing in with a browser, and what the request's credential is good for. */
import { Schema } from "effect"

const Power = Schema.Literals(["members", "policy", "data", "secrets"])
export type Power = typeof Power.Encoded

export const Session = Schema.Struct({
  /** The slug. */
  organization: Schema.String,
  roles: Schema.Array(Schema.String),
  scopes: Schema.Array(Schema.String),
  /** What this person may change in the administration pages. */
  powers: Schema.Array(Power),
  by: Schema.Literals(["token", "session", "provider"])
})
export type Session = typeof Session.Encoded

/** What the sign-in page offers besides links. */
export const SignInWays = Schema.Struct({
  mail: Schema.Boolean,
  providers: Schema.Array(
    Schema.Struct({
      id: Schema.String.annotate({ description: "Of the address /v1/session/with/ID." }),
      name: Schema.String
    })
  )
})
export type SignInWays = typeof SignInWays.Encoded

export const MailLink = Schema.Struct({ email: Schema.String.check(Schema.isMaxLength(320)) })
export type MailLink = typeof MailLink.Encoded

export const SignIn = Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(200)) })
export type SignIn = typeof SignIn.Encoded
