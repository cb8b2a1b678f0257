/** Members and their tokens, as an administrator sees them. */
import { Schema } from "effect"
import { anyTextUpTo, between, Id, Strings, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const State = Schema.Literals(["active", "invited", "suspended"])

/** A member by entity id, or any person by e-mail address or phone number; exactly one of the two. */
export const personReference = { id: optionalKey(Id), identifier: optionalKey(textUpTo(320)) }
export type PersonReference = { readonly id: string } | { readonly identifier: string }

export const PeopleQuery = Schema.Struct({
  search: optionalKey(anyTextUpTo(320)),
  role: optionalKey(textUpTo(63)),
  state: optionalKey(State),
  after: optionalKey(Id),
  limit: optionalKey(between(1, 200))
})
export type PeopleQuery = typeof PeopleQuery.Encoded

const person = {
  id: Schema.String,
  name: Schema.String.annotate({ description: "Empty if you may not see it." }),
  identifiers: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(["email", "phone", "subject"]),
      text: Schema.String.annotate({ description: "Masked unless you may see this identifier of the person." })
    })
  ),
  roles: Strings,
  state: State,
  isSelf: Schema.Boolean,
  tokens: Schema.Int.annotate({ description: "Number of active tokens." }),
  memberSince: Timestamp,
  suspendedSince: optionalKey(Timestamp),
  lastCall: optionalKey(Timestamp.annotate({ description: "The minute of the last counted call, if it is known." }))
}

const Person = Schema.Struct(person)
export type Person = typeof Person.Encoded

const Token = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Strings,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  state: Schema.Literals(["active", "revoked", "expired"])
})
export type Token = typeof Token.Encoded

export const PersonWithTokens = Schema.Struct({
  ...person,
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
  held: Schema.Array(Token)
})
export type PersonWithTokens = typeof PersonWithTokens.Encoded

export const People = Schema.Struct({
  people: Schema.Array(Person),
  total: Schema.Int.annotate({ description: "Number of matches." }),
  next: optionalKey(Schema.String.annotate({ description: "`after` of the next page." }))
})
export type People = typeof People.Encoded

/** People in one call. */
const MAX_INVITED = 200

const Roles = Schema.Array(textUpTo(63)).check(Schema.isMinLength(1), Schema.isMaxLength(20))

export const Invite = Schema.Struct({
  people: Schema.Array(
    Schema.Struct({
      identifier: textUpTo(320).annotate({ description: "An e-mail address or phone number." }),
      name: optionalKey(textUpTo(200)),
      roles: optionalKey(Roles.annotate({ description: "Instead of the roles of all." }))
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_INVITED)),
  roles: optionalKey(Roles.annotate({ description: "Of the people without roles of their own." }))
})
export type Invite = typeof Invite.Encoded

/** The options beside a list of people to invite. */
export const InviteList = Schema.Struct({
  roles: optionalKey(Roles.annotate({ description: "Of the people to whom the list gives none." })),
  encoding: optionalKey(textUpTo(40)),
  sheet: optionalKey(textUpTo(200))
})
export type InviteList = typeof InviteList.Encoded

export const InvitePreview = Schema.Struct({
  warnings: Strings,
  people: Schema.Array(
    Schema.Struct({
      place: Schema.String.annotate({ description: "Such as line 3." }),
      identifier: Schema.String,
      name: optionalKey(Schema.String.annotate({ description: "Of a new person." })),
      roles: Strings,
      created: Schema.Boolean.annotate({ description: "Whether the person is new." }),
      again: Schema.Boolean.annotate({ description: "Whether an earlier link of the person would end." })
    })
  ),
  problems: Strings.annotate({ description: "All of them, with their lines. With one, no person is invited." })
})
export type InvitePreview = typeof InvitePreview.Encoded

const file = { encoding: optionalKey(textUpTo(40)), sheet: optionalKey(textUpTo(200)) }

/** The options beside a list that the members are to match. */
export const ReadSyncList = Schema.Struct(file)

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Beside the list, the numbers that its preview had; with other ones nothing is changed. */
export const SyncList = Schema.Struct({
  ...file,
  confirmed: Schema.Struct({ added: Count, changed: Count, suspended: Count })
})

const Leaving = Schema.Array(
  Schema.Struct({
    id: Schema.String,
    name: Schema.String.annotate({ description: "Or an identifier, as you may see it." }),
    roles: Strings
  })
)

export const SyncPreview = Schema.Struct({
  warnings: Strings,
  problems: Strings.annotate({ description: "With one, the list isn't applied." }),
  added: Schema.Array(Schema.Struct({ who: Schema.String, roles: Strings })),
  changed: Schema.Array(
    Schema.Struct({
      who: Schema.String,
      roles: Strings,
      before: Schema.Struct({ roles: Strings, suspended: Schema.Boolean })
    })
  ),
  suspended: Leaving,
  uninvited: Leaving.annotate({ description: "Invited people whose links would end." }),
  verified: Strings.annotate({ description: "Identifiers that members would get." }),
  unchanged: Schema.Int
})
export type SyncPreview = typeof SyncPreview.Encoded

const code = {
  code: Schema.String.annotate({ description: "Shown once. The link is /sign-in#CODE at Max's address." }),
  expiresAt: Timestamp
}

export const Invitations = Schema.Struct({
  invitations: Schema.Array(
    Schema.Struct({
      ...code,
      id: Schema.String.annotate({ description: "The person's entity id." }),
      identifier: Schema.String,
      created: Schema.Boolean.annotate({ description: "Whether a new person was created." }),
      mailed: Schema.Boolean
    })
  )
})
export type Invitations = typeof Invitations.Encoded

export const SignInLink = Schema.Struct(code)
export type SignInLink = typeof SignInLink.Encoded

export const SetRoles = Schema.Struct({ roles: Roles })
export type SetRoles = typeof SetRoles.Encoded

/** Attributes as they are typed: true, false and decimal numbers aren't texts. They replace the member's. */
export const SetAttributes = Schema.Struct({
  attributes: Schema.Record(Schema.String.check(Schema.isMaxLength(63)), anyTextUpTo(200)).check(
    Schema.isMaxProperties(50)
  )
})
export type SetAttributes = typeof SetAttributes.Encoded

/** An e-mail address or phone number, or the subject of a person at an identity provider; exactly one of the two. */
export const LinkIdentifier = Schema.Struct({
  identifier: optionalKey(textUpTo(320)),
  subject: optionalKey(textUpTo(255)),
  issuer: optionalKey(textUpTo(500).annotate({ description: "Of the subject, if there are several providers." }))
})
export type LinkIdentifier = typeof LinkIdentifier.Encoded

/** An identifier as it is shown to you, which may be masked. */
export const RemoveIdentifier = Schema.Struct({
  kind: Schema.Literals(["email", "phone", "subject"]),
  text: textUpTo(800)
})
export type RemoveIdentifier = typeof RemoveIdentifier.Encoded

export const CreateToken = Schema.Struct({
  name: textUpTo(100).annotate({ description: "Its purpose, shown in the list." }),
  scopes: Schema.Array(Schema.Literals(["tools", "chat", "export", "changes", "confirm", "traces", "admin"])).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(7)
  ),
  days: between(1, 730)
})
export type CreateToken = typeof CreateToken.Encoded

export const NewToken = Schema.Struct({
  token: Schema.String.annotate({ description: "Shown once." }),
  expiresAt: Timestamp
})
export type NewToken = typeof NewToken.Encoded
