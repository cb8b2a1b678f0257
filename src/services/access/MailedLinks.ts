/**
 * Sign-in links by mail, for people who ask for one on the sign-in page. Requests are queued and answered alike, so neither
 * the answer nor its time tells whether an address belongs to a member.
 */
import { Context, Effect, Layer, Queue } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { emailKey } from "../../domain/keys.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { Mailer } from "../mail/Mailer.ts"
import { signInMail } from "../mail/texts.ts"
import { Credentials } from "./Credentials.ts"

/** Requests that wait; further ones are dropped. */
const WAITING = 200
/** Links per person and hour. */
const PER_HOUR = 5
/** Organizations of one address: each gets its own link. */
const MAX_ORGANIZATIONS = 5
const LINK_SECONDS = 900

export class MailedLinks extends Context.Service<
  MailedLinks,
  {
    /** Whether mail is configured. */
    readonly isOffered: boolean
    /** Queues a link for the active members whose verified address this is. */
    readonly request: (email: string) => Effect.Effect<void>
  }
>()("max/services/MailedLinks") {
  static readonly layer = Layer.effect(
    MailedLinks,
    Effect.gen(function* () {
      const { admission } = yield* Database
      const credentials = yield* Credentials
      const mailer = yield* Mailer
      const states = yield* OrganizationState
      const { publicUrl } = mailer
      if (publicUrl === undefined) return MailedLinks.of({ isOffered: false, request: () => Effect.void })

      const requests = yield* Queue.dropping<string>(WAITING)

      const answer = Effect.fnUntraced(function* (email: string) {
        const members = yield* orUnavailable(admission<{ organization_id: bigint; anchor_id: string }>`/* max mailed */
          SELECT i.organization_id, i.anchor_id FROM max.identifiers i
          JOIN max.memberships m ON m.organization_id = i.organization_id AND m.anchor_id = i.anchor_id
          WHERE i.kind = 'email' AND i.key = ${email} AND m.suspended_at IS NULL AND ${PER_HOUR}::int > (
            SELECT count(*) FROM max.credentials c WHERE c.organization_id = i.organization_id AND c.anchor_id = i.anchor_id
              AND c.kind = 'link' AND c.created_at > now() - interval '1 hour')
          ORDER BY i.organization_id LIMIT ${MAX_ORGANIZATIONS}::int`)
        for (const { anchor_id, organization_id } of members) {
          const { state } = yield* states.read(organization_id, { by: "none" })
          const { organization } = state.catalog
          const { secret } = yield* credentials.createLink(organization, anchor_id, {
            seconds: LINK_SECONDS,
            actor: anchor_id
          })
          yield* mailer.send(signInMail({ to: email, code: secret, publicUrl, organization }))
        }
      })

      yield* Queue.take(requests).pipe(
        Effect.flatMap(answer),
        Effect.catchCause(() => Effect.logWarning("A sign-in link was not mailed")),
        Effect.forever,
        Effect.forkScoped
      )

      return MailedLinks.of({
        isOffered: true,
        request: (text) => {
          const email = emailKey(text)
          return email === undefined ? Effect.void : Effect.asVoid(Queue.offer(requests, email))
        }
      })
    })
  )
}
