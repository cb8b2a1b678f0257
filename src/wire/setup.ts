/** The first run: the first organization and its first administrator. */
import { Schema } from "effect"
import { anyTextUpTo } from "./scalars.ts"

export const SetUp = Schema.Struct({
  code: anyTextUpTo(200).annotate({ description: "Of the set-up link, behind the #." }),
  organization: Schema.Struct({
    name: anyTextUpTo(100),
    country: anyTextUpTo(2).annotate({
      description: "Two letters (ISO 3166), such as US: of phone numbers without a country code."
    }),
    timeZone: anyTextUpTo(64).annotate({ description: "An IANA name, such as America/New_York." })
  }),
  administrator: Schema.Struct({ name: anyTextUpTo(100), email: anyTextUpTo(320) })
})
export type SetUp = typeof SetUp.Encoded
