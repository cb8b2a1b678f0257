/** The log of text messages as an administrator sees it: without bodies, and with the names that the administrator may see. */
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { TextLog } from "../../wire/admin/texts.ts"
import type { SmsLog, SmsLogQuery } from "../texting/SmsLog.ts"
import type { SmsSettings } from "../texting/SmsSettings.ts"

/** The log without bodies; a person is included only if the administrator may see the name. */
export type Texts = Omit<TextLog, "next">

type Named = (id: string) => string | undefined

export const readTextLog = Effect.fnUntraced(function* (
  organization: Organization,
  { before, limit }: Pick<SmsLogQuery, "before" | "limit">,
  naming: (ids: ReadonlyArray<string>) => Effect.Effect<Named, Unavailable>,
  log: SmsLog["Service"],
  settings: SmsSettings["Service"]
) {
  const numbers = yield* settings.numbers(organization)
  const { openRole } = yield* settings.channel(organization.id)
  const entries = yield* log.list(organization, { before, limit })
  const named = yield* naming(entries.flatMap(({ person }) => person?.id ?? []))
  const texts: Texts = {
    lines: numbers.map(({ phone, provider }) => ({ number: phone, provider })),
    ...(openRole === undefined ? {} : { openRole }),
    // The log's names are for operators; administrators get the names that their own plan shows.
    texts: entries.map(({ body: _body, person, ...entry }) => {
      const name = person === undefined ? undefined : named(person.id)
      return name === undefined ? entry : { ...entry, person: { id: person!.id, name } }
    })
  }
  return texts
})
