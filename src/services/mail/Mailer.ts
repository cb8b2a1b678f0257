/** Sends mail over SMTP, where it is configured. */
import { Context, Duration, Effect, Layer, Redacted } from "effect"

export interface Mail {
  /** One address. */
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface MailSettings {
  readonly smtpUrl: Redacted.Redacted<string>
  /** The sender's address. */
  readonly from: string
  /** Where links lead. */
  readonly publicUrl: string
}

const TIMEOUT_MS = 10_000

export class Mailer extends Context.Service<
  Mailer,
  {
    /** Where links lead; undefined if mail isn't configured. */
    readonly publicUrl: string | undefined
    /** Whether the server accepted the mail; false without a configuration or a recipient. Failures are logged by their class. */
    readonly send: (mail: Mail | undefined) => Effect.Effect<boolean>
  }
>()("max/services/Mailer") {
  static readonly layer = (settings: MailSettings | undefined) =>
    Layer.effect(
      Mailer,
      Effect.gen(function* () {
        if (settings === undefined) {
          return Mailer.of({ publicUrl: undefined, send: () => Effect.succeed(false) })
        }
        const { from, publicUrl, smtpUrl } = settings
        // Loaded for the first mail only.
        const transport = yield* Effect.cached(
          Effect.tryPromise({
            try: async () => {
              const { createTransport } = await import("nodemailer")
              return createTransport({
                url: Redacted.value(smtpUrl),
                connectionTimeout: TIMEOUT_MS,
                greetingTimeout: TIMEOUT_MS,
                socketTimeout: TIMEOUT_MS,
                // A mail is text that Max made: nothing in it may name a file or an address to fetch.
                disableFileAccess: true,
                disableUrlAccess: true
              })
            },
            catch: codeOf
          })
        )
        const send = (mail: Mail) =>
          Effect.flatMap(transport, (to) =>
            Effect.tryPromise({
              try: () =>
                to.sendMail({
                  from,
                  // An object, so that the address isn't parsed as a list.
                  to: { name: "", address: mail.to },
                  subject: mail.subject,
                  text: mail.text
                }),
              catch: (error) => codeOf(error)
            })
          ).pipe(
            Effect.timeout(Duration.millis(3 * TIMEOUT_MS)),
            Effect.as(true),
            Effect.catch((cause) =>
              Effect.as(
                Effect.annotateLogs(Effect.logWarning("Mail was not sent"), {
                  cause: typeof cause === "string" ? cause : "timeout"
                }),
                false
              )
            )
          )
        return Mailer.of({
          publicUrl,
          send: (mail) => (mail === undefined ? Effect.succeed(false) : send(mail))
        })
      })
    )
}

/** The class of a failure, such as ECONNREFUSED or EAUTH: the server's text may contain the address. */
const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown }).code
  return typeof code === "string" && /^[A-Z]{2,20}$/.test(code) ? code : "unknown"
}
