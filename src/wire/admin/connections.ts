/** The organization's model and its phone line on the administration page. Secrets are sent in, and never come back. */
import { Schema } from "effect"
import { Strings, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

/** What is shown of a secret. */
const Secret = Schema.Struct({
  ending: optionalKey(Schema.String.annotate({ description: "The last characters of a pasted one." })),
  file: optionalKey(Schema.String.annotate({ description: "The name that the operator keeps it under." })),
  opens: Schema.Boolean.annotate({ description: "False if it was sealed with another key, or its file is gone." }),
  by: Schema.String,
  byName: optionalKey(Schema.String),
  at: Timestamp
})

/** A pasted secret, or the name of one that the operator keeps for the organization. */
const given = {
  secret: optionalKey(textUpTo(500)),
  file: optionalKey(textUpTo(100))
}

const budget = {
  dayTurns: optionalKey(Schema.NullOr(Schema.Int)),
  dayTokens: optionalKey(Schema.NullOr(Schema.Int))
}

export const ModelConnection = Schema.Struct({
  configured: optionalKey(
    Schema.String.annotate({ description: "The provider that the operator has configured; keys don't count then." })
  ),
  answers: Schema.String.annotate({ description: "The model that answers now, or basic." }),
  model: optionalKey(Schema.String),
  defaultModel: Schema.String,
  key: optionalKey(Secret),
  files: Strings,
  dayTurns: optionalKey(Schema.Int),
  dayTokens: optionalKey(Schema.Int),
  mostTurns: Schema.Int,
  mostTokens: Schema.Int
})
export type ModelConnection = typeof ModelConnection.Encoded

export const SetModelKey = Schema.Struct(given)
export type SetModelKey = typeof SetModelKey.Encoded

export const SetModel = Schema.Struct({
  model: optionalKey(Schema.NullOr(textUpTo(100)).annotate({ description: "null: the default." })),
  ...budget
})
export type SetModel = typeof SetModel.Encoded

const PhoneNumber = Schema.Struct({
  phone: Schema.String,
  account: Schema.String.annotate({ description: "Its first characters." }),
  secret: optionalKey(Secret),
  isOperators: Schema.Boolean.annotate({ description: "Whether its token is a reference of the operator's." })
})

export const PhoneLine = Schema.Struct({
  numbers: Schema.Array(PhoneNumber),
  webhook: optionalKey(Schema.String.annotate({ description: "Where the provider posts messages." })),
  files: Strings,
  contact: optionalKey(Schema.String),
  openRole: optionalKey(Schema.String),
  roles: Strings,
  changes: Schema.Boolean,
  tellsApprovers: Schema.Boolean
})
export type PhoneLine = typeof PhoneLine.Encoded

export const AddNumber = Schema.Struct({ phone: textUpTo(40), account: textUpTo(40), ...given })
export type AddNumber = typeof AddNumber.Encoded

export const RemoveNumber = Schema.Struct({ phone: textUpTo(40) })
export type RemoveNumber = typeof RemoveNumber.Encoded

export const TestLine = Schema.Struct({
  line: textUpTo(40).annotate({ description: "One of the organization's numbers. The text goes to your own number." })
})
export type TestLine = typeof TestLine.Encoded

const LineTest = Schema.Struct({
  line: Schema.String,
  at: Timestamp,
  to: Schema.String.annotate({ description: "Your number, masked." }),
  state: Schema.String.annotate({ description: "How far the text was delivered." }),
  error: optionalKey(Schema.String.annotate({ description: "An error code of the provider or of Max." }))
})

export const LineTests = Schema.Struct({
  to: optionalKey(Schema.String.annotate({ description: "Your number, masked; omitted if none is linked to you." })),
  tests: Schema.Array(LineTest).annotate({ description: "Your latest test of each number within a day." })
})
export type LineTests = typeof LineTests.Encoded

/** What is left out stays as it is; an open role of null closes the line. */
export const SetLine = Schema.Struct({
  contact: optionalKey(textUpTo(80)),
  openRole: optionalKey(Schema.NullOr(textUpTo(63))),
  changes: optionalKey(Schema.Boolean),
  tellsApprovers: optionalKey(Schema.Boolean)
})
export type SetLine = typeof SetLine.Encoded
