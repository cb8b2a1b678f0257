/** The organization itself, and the tables of its own that Max reads. */
import { Schema } from "effect"
import { Strings, textUpTo } from "../scalars.ts"

const { optionalKey } = Schema

export const OrganizationShown = Schema.Struct({
  slug: Schema.String.annotate({ description: "Commands name the organization by it." }),
  name: Schema.String,
  country: Schema.String.annotate({ description: "Of phone numbers without a country code: two letters, such as US." }),
  timeZone: Schema.String
})
export type OrganizationShown = typeof OrganizationShown.Encoded

/** What is left out stays as it is. */
export const SetOrganization = Schema.Struct({
  name: optionalKey(textUpTo(100)),
  country: optionalKey(textUpTo(2)),
  timeZone: optionalKey(textUpTo(64)),
  conversationDays: optionalKey(
    Schema.NullOr(Schema.Int).annotate({
      description:
        "An unused conversation is deleted after so many days, at most the operator's; null: the operator's alone."
    })
  )
})
export type SetOrganization = typeof SetOrganization.Encoded

export const Mapped = Schema.Struct({
  types: Schema.Array(
    Schema.Struct({ id: Schema.String, name: Schema.String, table: Schema.String, columns: Schema.Int })
  ),
  changes: Strings.annotate({ description: "What has changed in the database since the tables were mapped." })
})
export type Mapped = typeof Mapped.Encoded
