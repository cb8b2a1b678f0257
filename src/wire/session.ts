/** Signing in with a browser, and what the request's credential is good for. */
import { Schema } from "effect"
import { anyTextUpTo } from "./scalars.ts"

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
  /** Whether this address can have passkeys: https, or localhost. */
  passkeys: Schema.Boolean,
  providers: Schema.Array(
    Schema.Struct({
      id: Schema.String.annotate({ description: "Of the address /v1/session/with/ID." }),
      name: Schema.String
    })
  )
})
export type SignInWays = typeof SignInWays.Encoded

export const MailLink = Schema.Struct({ email: anyTextUpTo(320) })
export type MailLink = typeof MailLink.Encoded

export const SignIn = Schema.Struct({ code: anyTextUpTo(200) })
export type SignIn = typeof SignIn.Encoded

/** What the browser gives to `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
export const PasskeyOptions = Schema.Struct({ options: Schema.Record(Schema.String, Schema.Unknown) })
export type PasskeyOptions = typeof PasskeyOptions.Encoded

/** The browser's answer, as `PublicKeyCredential.toJSON` writes it. */
const Answer = Schema.Record(Schema.String, Schema.Unknown)

export const PasskeyAnswer = Schema.Struct({ response: Answer })
export type PasskeyAnswer = typeof PasskeyAnswer.Encoded

export const NewPasskey = Schema.Struct({ name: anyTextUpTo(100), response: Answer })
export type NewPasskey = typeof NewPasskey.Encoded

export const Passkey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  createdAt: Schema.String,
  /** Null until the first sign-in with it. */
  usedAt: Schema.NullOr(Schema.String)
})
export type Passkey = typeof Passkey.Encoded

export const Passkeys = Schema.Struct({ passkeys: Schema.Array(Passkey) })
export type Passkeys = typeof Passkeys.Encoded
