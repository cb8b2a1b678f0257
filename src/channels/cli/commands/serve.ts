/** The server as a command, which runs until it is told to stop. */
import { Context, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import { quoted } from "../../../domain/text.ts"
import { Env } from "../../../env.ts"
import { Credentials } from "../../../services/access/Credentials.ts"
import { currentOrganization, memberOf, UsageError } from "../context.ts"
import { note, result } from "../output.ts"

const LOOPBACK = ["127.0.0.1", "localhost", "::1"]

/** A link is for whoever sits at this machine, and for nobody who reads a log. */
const mayPrintLink = Effect.gen(function* () {
  const { httpHost } = yield* Env
  if (!LOOPBACK.includes(httpHost)) {
    return yield* new UsageError({ message: "--sign-in needs MAX_HTTP_HOST to be an address of this machine." })
  }
  if (process.stdout.isTTY !== true) {
    return yield* new UsageError({ message: "--sign-in prints its link to a terminal, and this isn't one." })
  }
})

const makeLink = Effect.fnUntraced(function* (who: string) {
  const organization = yield* currentOrganization
  const credentials = yield* Credentials
  const { secret } = yield* credentials.createLink(organization, yield* memberOf(organization, who))
  return secret
})

export const serve = Command.make(
  "serve",
  {
    signIn: Flag.String("sign-in").pipe(
      Flag.withDescription("Print a link that signs this member in, once: at a terminal of this machine only"),
      Flag.optional
    )
  },
  ({ signIn }) =>
    Effect.scoped(
      Effect.gen(function* () {
        if (Option.isSome(signIn)) yield* mayPrintLink
        const secret = Option.isSome(signIn) ? yield* makeLink(signIn.value) : undefined
        // Only a server loads what a server needs.
        const { Http } = yield* Effect.promise(() => import("../../http/server.ts"))
        const { address } = Context.get(yield* Layer.build(Http), HttpServer.HttpServer)
        const base = HttpServer.formatAddress(address)
        yield* note(`Max answers at ${base}; ${base}/docs says what.`)
        if (secret !== undefined) {
          yield* result(false, undefined, [`${base}/sign-in#${secret}`])
          yield* note(`The link signs ${quoted(Option.getOrElse(signIn, () => ""))} in, once, within five minutes.`)
        }
        // From here on being told to stop is the way it ends well.
        process.exitCode = 0
        return yield* Effect.never
      })
    )
).pipe(Command.withDescription("Answer over HTTP, until it is told to stop"))
