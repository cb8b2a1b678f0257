/** MCP over standard input and output, for a client on this machine; and putting it into a client's configuration. */
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Cause, Console, Effect, Exit, Fiber, Layer, Option } from "effect"
import { McpServer, type Tool } from "effect/ai"
import { Argument, Command, Flag } from "effect/cli"
import { realpathSync } from "node:fs"
import { sep } from "node:path"
import { FetchHttpClient } from "effect/http"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { type Env, handedOn, readReference, thisMachine } from "../../../env.ts"
import type { IdentityResolver } from "../../../services/members/IdentityResolver.ts"
import type { OrganizationState } from "../../../services/catalog/OrganizationState.ts"
import { callTool } from "../../../tools/call.ts"
import type { MaxToolkit } from "../../../tools/Toolkit.ts"
import { bridge, serverUrl } from "../../mcp/bridge.ts"
import { CLIENTS, configurationFile, type ServerEntry, snippet } from "../../mcp/clients.ts"
import { install as writeServer, tryOut, undo } from "../../mcp/install.ts"
import { server } from "../../mcp/server.ts"
import { type Call, tools } from "../../mcp/tools.ts"
import { asPrincipal, currentOrganization, UsageError, wantsJson, memberIdentifier } from "../context.ts"
import { note, result } from "../output.ts"

const structured = Flag.Boolean("structured").pipe(
  Flag.withDescription(
    "Answer with structured content and output schemas too, for clients that read them; costs twice the tokens"
  ),
  Flag.withDefault(false)
)

const url = Flag.String("url").pipe(
  Flag.withDescription("A Max server that looks things up instead of a database here, such as https://max.example.com"),
  Flag.optional
)

const token = Flag.String("token").pipe(
  Flag.withDescription("The token for that server, by where it is: file:/path or env:NAME"),
  Flag.optional
)

/** What the three tools need where the database is. */
type Local = Tool.HandlersFor<typeof MaxToolkit.tools> | IdentityResolver | OrganizationState | Env

/** The server of --url with its token; undefined without the two. */
const elsewhere = Effect.fnUntraced(function* (given: {
  readonly url: Option.Option<string>
  readonly token: Option.Option<string>
}) {
  if (Option.isNone(given.url) && Option.isNone(given.token)) return undefined
  if (Option.isNone(given.url) || Option.isNone(given.token)) {
    return yield* new UsageError({ message: "--url and --token belong together." })
  }
  const url = yield* serverUrl(given.url.value)
  const { reference, secret } = yield* readReference("--token", given.token.value)
  return { url, token: secret, reference }
})

/** What starts Max for a person here, with the database or without. */
const entryOf = Effect.fnUntraced(function* <E>(
  given: Parameters<typeof elsewhere>[0] & { readonly structured: boolean },
  services: Layer.Layer<Local, E>
) {
  const program = realpathSync(process.argv[1]!)
  const flags = given.structured ? ["--structured"] : []
  const server = yield* elsewhere(given)
  if (server !== undefined) {
    const args = [program, "mcp", "--url", server.url.origin, "--token", server.reference, ...flags]
    return {
      entry: { command: process.execPath, args, env: {} } satisfies ServerEntry,
      who: "whoever the token is for"
    }
  }
  return yield* asPrincipal(() =>
    Effect.gen(function* () {
      const who = yield* memberIdentifier
      const { slug } = yield* currentOrganization
      const args = [program, "mcp", "--org", slug, "--as", who, ...flags]
      return { entry: { command: process.execPath, args, env: yield* handedOn } satisfies ServerEntry, who }
    })
  ).pipe(Effect.provide(services))
})

const install = <E>(services: Layer.Layer<Local, E>) =>
  Command.make(
    "install",
    {
      client: Argument.Literals("client", CLIENTS),
      name: Flag.String("name").pipe(Flag.withDescription("What the server is called there"), Flag.withDefault("max")),
      file: Flag.String("file").pipe(
        Flag.withDescription("The client's configuration file, if it isn't where it usually is"),
        Flag.optional
      ),
      print: Flag.Boolean("print").pipe(
        Flag.withDescription("Print what would be written, and write nothing"),
        Flag.withDefault(false)
      ),
      structured,
      url,
      token
    },
    (input) =>
      Effect.gen(function* () {
        const { entry, who } = yield* entryOf(input, services)
        const file = Option.getOrElse(input.file, () => configurationFile(input.client, thisMachine))
        if (input.print) return yield* Console.log(snippet(input.client, input.name, entry))
        const installed = yield* writeServer(input.client, file, input.name, entry)
        const { tools, types } = yield* Effect.onError(tryOut(entry), () => undo(installed))
        yield* result(yield* wantsJson, { ...installed, tools, types }, [
          `${installed.file} starts Max now, for ${who}.`,
          ...(installed.backup === undefined ? [] : [`As it was: ${installed.backup}`]),
          `Tried out: it answers, with ${tools} tools for ${types.join(", ") || "nothing yet: the policy shows nothing"}.`,
          "Start the client again to see it."
        ])
        if (entry.args[0]!.includes(`${sep}_npx${sep}`)) {
          yield* note(
            "This Max is in npx's cache, which is cleared now and then. To stay: npm install -g max-agent, then this again."
          )
        }
      })
  ).pipe(
    Command.withDescription("Put Max into a client's configuration, and see that it answers there"),
    Command.withExamples([
      { command: "max mcp install claude-code --as lena@atlas.com", description: "For Claude Code" },
      { command: "max mcp install cursor --as lena@atlas.com --print", description: "Only show what would be written" },
      {
        command: "max mcp install claude-desktop --url https://max.example.com --token file:~/max-token",
        description: "Without a database here"
      }
    ])
  )

/** Serves the tools until the client closes standard input, which is how it says that it is done. */
const serve = Effect.fnUntraced(function* <R>(call: Call<R>, options: { readonly structured: boolean }) {
  const serving = yield* Layer.launch(
    McpServer.layerStdio({ ...server, registrations: tools(call, options) }).pipe(Layer.provide(NodeStdio.layer))
  ).pipe(Effect.forkChild)
  // The server interrupts itself then, and all is well.
  const exit = yield* Fiber.await(serving)
  if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) return yield* exit
})

/** Needs no database when a server looks things up. */
export const mcp = <E>(services: Layer.Layer<Local, E>) =>
  Command.make("mcp", { structured, url, token }, (options) =>
    Effect.gen(function* () {
      const server = yield* elsewhere(options)
      if (server !== undefined) {
        return yield* serve(bridge(server, options.structured), options).pipe(Effect.provide(FetchHttpClient.layer))
      }
      return yield* asPrincipal(() =>
        Effect.gen(function* () {
          const principal = yield* CurrentPrincipal
          const call = (name: string, input: unknown) =>
            Effect.provideService(callTool(name, input), CurrentPrincipal, principal)
          yield* serve(call, options)
        })
      ).pipe(Effect.provide(services))
    })
  ).pipe(
    Command.withDescription("Serve the three tools to an MCP client over standard input and output"),
    Command.withSubcommands([install(services)])
  )
