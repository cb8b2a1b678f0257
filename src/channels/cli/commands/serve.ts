/** The server as a command, which runs until it receives a signal. */
import { Console, Context, Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { HttpServer } from "effect/http"
import { quoted } from "../../../domain/text.ts"
import { Env } from "../../../env.ts"
import * as Telemetry from "../../../observability/Telemetry.ts"
import { Credentials } from "../../../services/access/Credentials.ts"
import { currentOrganization, memberOf, UsageError } from "../context.ts"
import { optional } from "../flags.ts"
import { LOOPBACK, offerSetup } from "../setupLink.ts"
import { note } from "../output.ts"

/** Restricts sign-in links to a terminal of this machine, so that none ends up in a log. */
const mayPrintLink = Effect.gen(function* () {
  const { httpHost } = yield* Env
  if (!LOOPBACK.includes(httpHost)) {
    return yield* UsageError.of("--sign-in requires MAX_HTTP_HOST to be a loopback address.")
  }
  if (process.stdout.isTTY !== true) {
    return yield* UsageError.of("--sign-in prints its link only to a terminal, and standard output isn't one.")
  }
})

const createLink = Effect.fnUntraced(function* (who: string) {
  const organization = yield* currentOrganization
  const credentials = yield* Credentials
  const { secret } = yield* credentials.createLink(organization, yield* memberOf(organization, who))
  return secret
})

export const serve = Command.make(
  "serve",
  {
    signIn: optional("sign-in", "Print a one-time sign-in link for this member; only at a terminal of this machine")
  },
  Effect.fnUntraced(function* ({ signIn }) {
    if (Option.isSome(signIn)) yield* mayPrintLink
    const secret = Option.isSome(signIn) ? yield* createLink(signIn.value) : undefined
    // Imported here so that other commands don't load the server.
    const { Http } = yield* Effect.promise(() => import("../../http/server.ts"))
    const { address } = Context.get(yield* Telemetry.outside(Layer.build(Http)), HttpServer.HttpServer)
    const base = HttpServer.formatAddress(address)
    // Made before the line that says that Max answers, because scripts wait for that line and read the link then.
    const offer = secret === undefined ? yield* offerSetup(base) : Effect.void
    // From here on, a signal is the normal end.
    process.exitCode = 0
    yield* note(`Max answers at ${base}; ${base}/docs describes the API.`)
    if (secret !== undefined) {
      yield* Console.log(`${base}/sign-in#${secret}`)
      yield* note(`The link signs ${quoted(Option.getOrElse(signIn, () => ""))} in, once, within five minutes.`)
    }
    yield* offer
    return yield* Effect.never
  }, Effect.scoped)
).pipe(Command.withDescription("Serve HTTP until stopped"))
