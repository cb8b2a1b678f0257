/**
 * The first run. `max serve` prints a link while the server has no organization; with it, a browser makes the first
 * organization, its starter policy and its first administrator, in one transaction. The link is authenticated by a key of
 * the database, so that each process accepts it; the first use ends every link, because an organization exists then.
 */
import { Context, Effect, Layer } from "effect"
import { OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type Organization, peopleOf } from "../../domain/EntityType.ts"
import { InvalidInput, NotAuthenticated, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { emailKey, foldText, isSupportedCountry } from "../../domain/keys.ts"
import { isTimeZone } from "../../domain/values.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import type { SetUp } from "../../wire/setup.ts"
import { Credentials, type Issued } from "../access/Credentials.ts"
import { isChallenge, makeChallenge, makeChallengeKey } from "../access/passkeyChallenge.ts"
import { decodeTypes, TYPES_IN_FORCE } from "../catalog/storedTypes.ts"
import { makeWrite } from "../members/writeMember.ts"
import { insertOrganization, starterText } from "../organizations/Organizations.ts"
import { insertPolicy } from "../policies/policyVersions.ts"

const LINK_SECONDS = 86_400
const PURPOSE = "setup"
const PREFIX = "max_setup_"
/** The role of the starter policy with every power. */
const ROLE = "admin"

export class Setup extends Context.Service<
  Setup,
  {
    /** Whether the server has no organization yet. */
    readonly isOpen: Effect.Effect<boolean, Unavailable>
    /** The code of a new set-up link, which works for a day, until the first organization exists. */
    readonly createLink: Effect.Effect<string, OperatorError | Unavailable>
    /** Makes the first organization and signs its first administrator in; of concurrent attempts exactly one succeeds. */
    readonly finish: (
      wanted: SetUp,
      seconds: number
    ) => Effect.Effect<Issued, InvalidInput | NotAuthenticated | Unavailable>
  }
>()("max/services/Setup") {
  static readonly layer = Layer.effect(
    Setup,
    Effect.gen(function* () {
      const { app } = yield* Database
      const credentials = yield* Credentials
      const challengeKey = makeChallengeKey(app)
      const write = makeWrite(app)

      const isEmpty = Effect.map(
        app`SELECT 1 FROM max.organizations WHERE organization_id <> 0 LIMIT 1`,
        (rows) => rows.length === 0
      )

      const isLink = (code: string) =>
        Effect.map(
          challengeKey,
          (key) => code.startsWith(PREFIX) && isChallenge(key, PURPOSE, code.slice(PREFIX.length))
        )

      /** The organization with its policy and administrator; undefined if there is one already. Call it in a transaction. */
      const make = Effect.fnUntraced(function* (organization: Organization, { email, key, name }: Administrator) {
        // Waits for every other insertion, and every other one waits: what the next statement sees holds until the commit.
        yield* app`LOCK TABLE max.organizations IN SHARE ROW EXCLUSIVE MODE`
        if (!(yield* isEmpty) || !(yield* insertOrganization(app, organization))) return undefined
        const epoch = yield* holdEpoch(app, organization.id)
        const [row] = yield* app.unsafe<{ types: unknown }>(
          `SELECT (${TYPES_IN_FORCE}) AS types FROM max.organizations o WHERE o.organization_id = $1::bigint`,
          [organization.id]
        )
        const catalog = { organization, epoch: epoch!, types: decodeTypes(row!.types), rowSecurity: false }
        const reading = readPolicy(starterText, catalog)
        if ("problems" in reading)
          return yield* Effect.die("The starter policy doesn't fit the types of a new organization.")
        yield* insertPolicy(app, organization.id, starterText, reading.policy, OPERATOR)
        const anchorId = encodeId(nextId())
        const identifier = { kind: "email", key } as const
        const events = yield* write(organization, peopleOf(catalog)!, {
          anchorId,
          identifier,
          roles: [ROLE],
          attributes: {},
          create: { name, text: email, identifier }
        }).pipe(Effect.catchTag("OperatorError", Effect.die))
        yield* raiseEpoch(app, organization.id, events as [(typeof events)[number], ...typeof events])
        return anchorId
      })

      return Setup.of({
        isOpen: orUnavailable(isEmpty),

        createLink: Effect.gen(function* () {
          if (!(yield* orUnavailable(isEmpty))) {
            return yield* OperatorError.of(
              "This server is set up already: max member sign-in EMAIL makes a link that signs a member in."
            )
          }
          return PREFIX + makeChallenge(yield* challengeKey, PURPOSE, LINK_SECONDS).toString("base64url")
        }),

        finish: Effect.fn("Setup.finish")(function* (wanted, seconds) {
          // The code first: without one, a request learns nothing.
          if (!(yield* isLink(wanted.code))) return yield* INVALID
          const { administrator, organization } = yield* checked(wanted)
          const session = yield* Effect.gen(function* () {
            const anchorId = yield* make(organization, administrator)
            return anchorId === undefined
              ? undefined
              : yield* credentials.beginSession(organization.id, anchorId, { seconds })
          }).pipe(app.withTransaction, orUnavailable)
          return session ?? (yield* INVALID)
        })
      })
    })
  )
}

const INVALID = new NotAuthenticated({
  message: "This set-up link was used before or has expired. An operator makes a new one: max setup link"
})

interface Administrator {
  readonly name: string
  readonly email: string
  readonly key: string
}

/** The slug that commands name the organization by, from its name. */
export const slugOf = (name: string): string =>
  /[a-z].*/
    .exec(foldText(name).replaceAll(/[^a-z0-9]+/g, "-"))?.[0]
    ?.slice(0, 40)
    .replace(/-$/, "") ?? "organization"

const CONTROL = /\p{Cc}/u

/** What a person typed, or what is wrong with it. */
const checked = Effect.fnUntraced(function* ({ administrator, organization }: SetUp) {
  const name = organization.name.trim()
  const country = organization.country.toUpperCase()
  const email = administrator.email.trim()
  const key = emailKey(email)
  if ([name, administrator.name].some((text) => CONTROL.test(text)))
    return yield* InvalidInput.of("A name has a character that can't be shown.")
  if (name === "") return yield* InvalidInput.of("The organization needs a name.")
  if (!isSupportedCountry(country))
    return yield* InvalidInput.of("The country is two letters (ISO 3166), such as US or DE.")
  if (!isTimeZone(organization.timeZone))
    return yield* InvalidInput.of("The time zone is an IANA name, such as America/New_York.")
  if (administrator.name.trim() === "") return yield* InvalidInput.of("Your name is missing.")
  if (key === undefined) return yield* InvalidInput.of("This is not an e-mail address.")
  return {
    organization: {
      id: nextId(),
      slug: slugOf(name),
      name,
      country,
      timeZone: organization.timeZone
    } satisfies Organization,
    administrator: { name: administrator.name.trim(), email, key }
  }
})
