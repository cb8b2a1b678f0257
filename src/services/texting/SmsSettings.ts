/**
 * An organization's settings for text messages: its numbers, the contact named to people without access, and the role of
 * an open channel. A number belongs to one organization; only a reference to its secret is stored.
 */
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit, type AuditEvent, OPERATOR, UNIDENTIFIED } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { phoneKey } from "../../domain/keys.ts"
import type { Principal } from "../../domain/Principal.ts"
import { closest, masked, printable, quoted } from "../../domain/text.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { type Given, Secrets } from "../secrets/Secrets.ts"
import { type OrganizationRow, organizationOf, OrganizationState } from "../catalog/OrganizationState.ts"

export interface SmsNumber {
  readonly phone: string
  readonly provider: string
  /** The provider's id of the number's account. */
  readonly account: string
  /** A reference to the secret: `env:NAME` or `file:/path`, or `ON_PAGE`. */
  readonly secret: string
}

/** In place of a reference: the secret is one that an administrator has set, sealed or by name. */
export const ON_PAGE = "sealed"

/** Its name among an organization's secrets. */
export const secretOf = (phone: string): string => `sms ${phone}`

export interface SmsChannel {
  /** The contact that the notice to people without access names. */
  readonly contact: string | undefined
  /** The role of identified people without a membership; undefined while the channel is closed. */
  readonly openRole: string | undefined
  /** Whether members may propose and confirm changes by text. */
  readonly changes: boolean
  /** Whether approvers are told by text of a change that waits for them. */
  readonly tellsApprovers: boolean
}

/** Settings that are off until an operator switches them on; a setting that is left out stays as it is. */
export type SmsSwitches = Partial<Pick<SmsChannel, "changes" | "tellsApprovers">>

interface ChannelRow {
  readonly contact: string | null
  readonly open_role: string | null
  readonly changes: boolean
  readonly tell_approvers: boolean
}

type Fault = NotAdmitted | OperatorError | Unavailable

const MAX_CONTACT = 80

export class SmsSettings extends Context.Service<
  SmsSettings,
  {
    /** Adds a number, or updates the provider, account and secret of one that the organization has. */
    readonly addNumber: (
      organization: Organization,
      number: Omit<SmsNumber, "secret"> & { readonly secret: string | Given },
      by?: Principal
    ) => Effect.Effect<SmsNumber, Fault>
    readonly removeNumber: (organization: Organization, phone: string, by?: Principal) => Effect.Effect<void, Fault>
    readonly numbers: (organization: Organization) => Effect.Effect<ReadonlyArray<SmsNumber>, Unavailable>
    /** The organization that has this number. */
    readonly find: (
      phone: string
    ) => Effect.Effect<{ readonly organization: Organization; readonly number: SmsNumber } | undefined, Unavailable>
    readonly channel: (organizationId: bigint) => Effect.Effect<SmsChannel, Unavailable>
    /** Sets the contact that the notice to people without access names. */
    readonly setContact: (organization: Organization, contact: string, by?: Principal) => Effect.Effect<void, Fault>
    /** Opens the channel: admits every person whom a number identifies, with this role. */
    readonly open: (organization: Organization, role: string, by?: Principal) => Effect.Effect<void, Fault>
    /** Closes the channel to people without a membership, from the next message on. */
    readonly close: (organization: Organization, by?: Principal) => Effect.Effect<void, Fault>
    /** Switches what the channel may do, from the next message on. */
    readonly set: (
      organization: Organization,
      switches: SmsSwitches,
      by?: Principal
    ) => Effect.Effect<SmsChannel, Fault>
    /** Marks a dormant number as proved. */
    readonly prove: (organization: Organization, phone: string) => Effect.Effect<void, Fault>
  }
>()("max/services/SmsSettings") {
  static readonly layer = Layer.effect(
    SmsSettings,
    Effect.gen(function* () {
      const { app } = yield* Database
      const states = yield* OrganizationState
      const secrets = yield* Secrets

      const parse = (organization: Organization, text: string): Effect.Effect<string, OperatorError> => {
        const phone = phoneKey(text, organization.country)
        return phone === undefined
          ? Effect.fail(OperatorError.of(`${quoted(text)} isn't a phone number. Write it as +15125550147.`))
          : Effect.succeed(phone)
      }

      /** Writes under the epoch that admitted the administrator, with the audit event in the same transaction. */
      const recorded = <A, E>(
        organization: Organization,
        by: Principal | undefined,
        event: Omit<AuditEvent, "actor">,
        write: Effect.Effect<A, E>,
        record: (event: AuditEvent) => Effect.Effect<void, SqlError.SqlError> = (one) =>
          appendAudit(app, organization.id, "changes", [one])
      ) =>
        Effect.gen(function* () {
          yield* lockEpochFor(app, organization, by)
          const written = yield* write
          yield* record({ ...event, actor: by?.anchorEntityId ?? OPERATOR })
          return written
        }).pipe(app.withTransaction, orUnavailable)

      const setOpenRole = (
        organization: Organization,
        role: string | null,
        by: Principal | undefined,
        event: Omit<AuditEvent, "actor">
      ) =>
        recorded(
          organization,
          by,
          event,
          app`INSERT INTO max.sms_settings (organization_id, open_role) VALUES (${organization.id}, ${role})
            ON CONFLICT (organization_id) DO UPDATE SET open_role = excluded.open_role`,
          // The new epoch ends the access of people who were admitted by the open channel.
          (one) => raiseEpoch(app, organization.id, [one])
        )

      const channel = Effect.fn("SmsSettings.channel")(function* (organizationId: bigint) {
        const [row] = yield* orUnavailable(app<ChannelRow>`
          SELECT contact, open_role, changes, tell_approvers FROM max.sms_settings WHERE organization_id = ${organizationId}`)
        const found: SmsChannel = {
          contact: row?.contact ?? undefined,
          openRole: row?.open_role ?? undefined,
          changes: row?.changes ?? false,
          tellsApprovers: row?.tell_approvers ?? false
        }
        return found
      })

      return SmsSettings.of({
        addNumber: Effect.fn("SmsSettings.addNumber")(function* (organization, { secret: given, ...number }, by) {
          const phone = yield* parse(organization, number.phone)
          const secret = typeof given === "string" ? given : ON_PAGE
          const details = { provider: number.provider, secret }
          yield* recorded(
            organization,
            by,
            { action: "sms.number-added", subject: masked(phone), details },
            Effect.gen(function* () {
              const rows = yield* app`
                INSERT INTO max.sms_numbers AS n (organization_id, phone, provider, account, secret)
                VALUES (${organization.id}, ${phone}, ${number.provider}, ${number.account}, ${secret})
                ON CONFLICT (phone) DO UPDATE SET provider = excluded.provider, account = excluded.account, secret = excluded.secret
                WHERE n.organization_id = excluded.organization_id RETURNING 1 AS one`
              if (rows.length === 0)
                return yield* OperatorError.of("This number belongs to another organization. Remove it there first.")
              if (typeof given === "string") yield* secrets.remove(organization, secretOf(phone))
              else yield* secrets.put(organization, secretOf(phone), given, by?.anchorEntityId ?? OPERATOR)
            })
          )
          return { ...number, phone, secret }
        }),

        removeNumber: Effect.fn("SmsSettings.removeNumber")(function* (organization, text, by) {
          const phone = yield* parse(organization, text)
          yield* recorded(
            organization,
            by,
            { action: "sms.number-removed", subject: masked(phone) },
            Effect.gen(function* () {
              const rows = yield* app`DELETE FROM max.sms_numbers
                WHERE organization_id = ${organization.id} AND phone = ${phone} RETURNING 1 AS one`
              if (rows.length === 0)
                return yield* OperatorError.withCommand(
                  `${quoted(text)} isn't a number of this organization.`,
                  "max sms numbers lists them."
                )
              yield* secrets.remove(organization, secretOf(phone))
            })
          )
        }),

        numbers: Effect.fn("SmsSettings.numbers")((organization) =>
          orUnavailable(app<SmsNumber>`SELECT phone, provider, account, secret FROM max.sms_numbers
            WHERE organization_id = ${organization.id} ORDER BY phone`)
        ),

        find: Effect.fn("SmsSettings.find")(function* (phone) {
          const [row] = yield* orUnavailable(app<OrganizationRow & SmsNumber>`/* max sms number */
            SELECT o.organization_id, o.slug, o.name, o.country, o.time_zone, o.external_key, n.phone, n.provider, n.account, n.secret
            FROM max.sms_numbers n JOIN max.organizations o ON o.organization_id = n.organization_id WHERE n.phone = ${phone}`)
          if (row === undefined) return undefined
          const { account, provider, secret } = row
          return { organization: organizationOf(row), number: { phone, provider, account, secret } }
        }),

        channel,

        set: Effect.fn("SmsSettings.set")(function* (organization, { changes = null, tellsApprovers = null }, by) {
          const details = {
            ...(changes === null ? {} : { changes: changes ? "once" : "off" }),
            ...(tellsApprovers === null ? {} : { tellApprovers: tellsApprovers })
          }
          yield* recorded(
            organization,
            by,
            { action: "sms.changes-set", subject: organization.slug, details },
            app`INSERT INTO max.sms_settings AS s (organization_id, changes, tell_approvers)
              VALUES (${organization.id}, coalesce(${changes}::boolean, false), coalesce(${tellsApprovers}::boolean, false))
              ON CONFLICT (organization_id) DO UPDATE SET changes = coalesce(${changes}::boolean, s.changes),
                tell_approvers = coalesce(${tellsApprovers}::boolean, s.tell_approvers)`
          )
          return yield* channel(organization.id)
        }),

        setContact: Effect.fn("SmsSettings.setContact")(function* (organization, text, by) {
          const contact = printable(text).trim()
          if (contact === "" || contact.length > MAX_CONTACT) {
            return yield* OperatorError.withCommand(
              `A contact is a name, an address or a number of at most ${MAX_CONTACT} characters.`,
              'Such as: max sms contact "Jo at the front desk"'
            )
          }
          yield* recorded(
            organization,
            by,
            { action: "sms.contact-set", subject: organization.slug },
            app`INSERT INTO max.sms_settings (organization_id, contact) VALUES (${organization.id}, ${contact})
              ON CONFLICT (organization_id) DO UPDATE SET contact = excluded.contact`
          )
        }),

        open: Effect.fn("SmsSettings.open")(function* (organization, role, by) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          const roles = Object.keys(state.policy.roles)
          if (!roles.includes(role)) {
            const near = closest(role, roles)
            return yield* OperatorError.of(
              `There is no role ${quoted(role)}. ${near === undefined ? `The policy has: ${roles.join(", ")}.` : `Did you mean ${near}?`}`
            )
          }
          yield* setOpenRole(organization, role, by, {
            action: "sms.opened",
            subject: organization.slug,
            details: { role }
          })
        }),

        close: Effect.fn("SmsSettings.close")((organization, by) =>
          setOpenRole(organization, null, by, { action: "sms.closed", subject: organization.slug })
        ),

        prove: Effect.fn("SmsSettings.prove")(function* (organization, text) {
          const phone = yield* parse(organization, text)
          const proved = yield* Effect.gen(function* () {
            yield* holdEpoch(app, organization.id)
            const bound = yield* app<{ anchor_id: string }>`UPDATE max.identifiers SET verified_at = now()
                  WHERE organization_id = ${organization.id} AND kind = 'phone' AND key = ${phone} RETURNING anchor_id`
            const heard = yield* app`UPDATE max.sms_senders SET heard_at = NULL
                  WHERE organization_id = ${organization.id} AND phone = ${phone} RETURNING 1 AS one`
            if (bound.length + heard.length === 0) return false
            yield* raiseEpoch(app, organization.id, [
              {
                actor: OPERATOR,
                action: "identifier.verified",
                subject: bound[0]?.anchor_id ?? UNIDENTIFIED,
                details: { kind: "phone", identifier: masked(phone) }
              }
            ])
            return true
          }).pipe(app.withTransaction, orUnavailable)
          if (!proved)
            return yield* OperatorError.withCommand(
              `No member has ${quoted(text)} as a verified number, and no message came from it.`,
              "max member add binds it to a member."
            )
        })
      })
    })
  )
}
