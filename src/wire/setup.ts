/** The first run: the first organization and its first administrator. */
import { Schema } from "effect"

const text = (length: number) => Schema.String.check(Schema.isMaxLength(length))

export const SetUp = Schema.Struct({
  code: text(200).annotate({ description: "Of the set-up link, behind the #." }),
  organization: Schema.Struct({
    name: text(100),
    country: text(2).annotate({
      description: "Two letters (ISO 3166), such as US: of phone numbers without a country code."
    }),
    timeZone: text(64).annotate({ description: "An IANA name, such as America/New_York." })
  }),
  administrator: Schema.Struct({ name: text(100), email: text(320) })
})
export type SetUp = typeof SetUp.Encoded
