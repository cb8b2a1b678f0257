/** MCP over standard input and output for a client on this machine, and its installation into a client's configuration. */
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Cause, Console, Effect, Exit, Fiber, Layer, Option } from "effect"
import { McpServer, type Tool } from "effect/ai"
import { Argument, Command, Flag } from "effect/cli"
import { realpathSync } from "node:fs"
import { sep } from "node:path"
import { FetchHttpClient } from "effect/http"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { Env, databaseVariables, readReference, thisMachine } from "../../../env.ts"
import * as Telemetry from "../../../observability/Telemetry.ts"
import type { IdentityResolver } from "../../../services/members/IdentityResolver.ts"
import type { OrganizationState } from "../../../services/catalog/OrganizationState.ts"
import { Changes } from "../../../services/changes/Changes.ts"
import { callTool } from "../../../tools/call.ts"
import type { MaxToolkit } from "../../../tools/Toolkit.ts"
import { bridge, serverUrl } from "../../mcp/bridge.ts"
import { CLIENTS, configurationFile, type ServerEntry, snippet } from "../../mcp/clients.ts"
import { install as writeServer, tryOut, undo } from "../../mcp/install.ts"
import { requestChange } from "../../mcp/changing.ts"
import { serverFor } from "../../mcp/server.ts"
import { type Call, type Listing, reporting, tools } from "../../mcp/tools.ts"
import { asPrincipal, currentOrganization, UsageError, memberIdentifier } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { note, result } from "../output.ts"

const structured = toggle(
  "structured",
  "Add structured content and output schemas, for clients that read them; doubles the tokens"
)

const changes = toggle("changes", "List the fourth tool, too, which drafts changes for the person to confirm")

const url = optional("url", "Use this Max server instead of a local database, such as https://max.example.com")

const token = optional("token", "Where the token for that server is stored: file:/path or env:NAME")

/** The services of the tools with a local database. */
type LocalServices = Tool.HandlersFor<typeof MaxToolkit.tools> | Changes | IdentityResolver | OrganizationState | Env

/** The server of --url with its token; undefined without the two options. */
const remoteServer = Effect.fnUntraced(function* (options: {
  readonly url: Option.Option<string>
  readonly token: Option.Option<string>
}) {
  if (Option.isNone(options.url) && Option.isNone(options.token)) return undefined
  if (Option.isNone(options.url) || Option.isNone(options.token)) {
    return yield* UsageError.of("--url and --token must be used together.")
  }
  const url = yield* serverUrl(options.url.value)
  const { reference, secret } = yield* readReference("--token", options.token.value)
  return { url, token: secret, reference }
})

/** The client's command that starts Max for a person, with a local database or a remote server. */
const entryOf = Effect.fnUntraced(function* <E>(
  options: Parameters<typeof remoteServer>[0] & Listing,
  services: Layer.Layer<LocalServices, E>
) {
  const program = realpathSync(process.argv[1]!)
  const flags = [...(options.structured ? ["--structured"] : []), ...(options.changes ? ["--changes"] : [])]
  const server = yield* remoteServer(options)
  if (server !== undefined) {
    const args = [program, "mcp", "--url", server.url.origin, "--token", server.reference, ...flags]
    return {
      entry: { command: process.execPath, args, env: {} } satisfies ServerEntry,
      who: "the token's member"
    }
  }
  return yield* asPrincipal(
    Effect.fnUntraced(function* () {
      const who = yield* memberIdentifier
      const { slug } = yield* currentOrganization
      const args = [program, "mcp", "--org", slug, "--as", who, ...flags]
      return { entry: { command: process.execPath, args, env: yield* databaseVariables } satisfies ServerEntry, who }
    })
  ).pipe(Effect.provide(services))
})

const install = <E>(services: Layer.Layer<LocalServices, E>) =>
  Command.make(
    "install",
    {
      client: Argument.Literals("client", CLIENTS),
      name: Flag.String("name").pipe(Flag.withDescription("The server's name in the client"), Flag.withDefault("max")),
      file: optional("file", "The client's configuration file, if it isn't at its default location"),
      print: toggle("print", "Print the configuration without writing it"),
      structured,
      changes,
      url,
      token
    },
    Effect.fnUntraced(function* (input) {
      const { entry, who } = yield* entryOf(input, services)
      const file = Option.getOrElse(input.file, () => configurationFile(input.client, thisMachine))
      if (input.print) return yield* Console.log(snippet(input.client, input.name, entry))
      const installed = yield* writeServer(input.client, file, input.name, entry)
      const { tools, types } = yield* Effect.onError(tryOut(entry), () => undo(installed))
      yield* result({ ...installed, tools, types }, [
        `${installed.file} starts Max now, for ${who}.`,
        ...(installed.backup === undefined ? [] : [`Backup of the previous file: ${installed.backup}`]),
        `Verified: it responds with ${tools} tools for ${types.join(", ") || "no types yet, because the policy shows none"}.`,
        "Restart the client to use it."
      ])
      if (entry.args[0]!.includes(`${sep}_npx${sep}`)) {
        yield* note(
          "This Max runs from npx's cache, which npm clears from time to time. For a permanent installation: npm install -g max-agent, then run this command again."
        )
      }
    })
  ).pipe(
    Command.withDescription("Add Max to a client's configuration and verify that it responds"),
    Command.withExamples([
      { command: "max mcp install claude-code --as lena@atlas.com", description: "For Claude Code" },
      {
        command: "max mcp install claude-code --changes --as lena@atlas.com",
        description: "With the tool that drafts changes for Lena to confirm"
      },
      {
        command: "max mcp install cursor --as lena@atlas.com --print",
        description: "Show the configuration without writing it"
      },
      {
        command: "max mcp install claude-desktop --url https://max.example.com --token file:~/max-token",
        description: "With a remote server instead of a local database"
      }
    ])
  )

/** Serves the tools until the client closes standard input; each call is a trace of its own. */
const serve = Effect.fnUntraced(function* <R>(call: Call<R>, listing: Listing) {
  const serving = yield* Layer.launch(
    McpServer.layerStdio({ ...serverFor(listing), registrations: tools(call, listing) }).pipe(
      Layer.provide(NodeStdio.layer)
    )
  ).pipe(Telemetry.outside, Effect.forkChild)
  // At the end of standard input the server interrupts itself, which is a normal exit.
  const exit = yield* Fiber.await(serving)
  if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) return yield* exit
})

/** Needs no database with --url. */
export const mcp = <E>(services: Layer.Layer<LocalServices, E>) =>
  Command.make(
    "mcp",
    { structured, changes, url, token },
    Effect.fnUntraced(function* (options) {
      const server = yield* remoteServer(options)
      if (server !== undefined) {
        return yield* serve(bridge(server, options), options).pipe(Effect.provide(FetchHttpClient.layer))
      }
      return yield* asPrincipal(
        Effect.fnUntraced(function* () {
          const principal = yield* CurrentPrincipal
          const { publicUrl } = yield* Env
          // Without a credential there is no scope that confirms: the person decides on the page or at a terminal.
          const change = requestChange({
            changes: yield* Changes,
            via: { channel: "mcp" },
            confirms: false,
            pageOf: (id) => (publicUrl === undefined ? undefined : `${publicUrl}/inbox/${id}`)
          })
          const call = (name: string, input: unknown) =>
            Effect.provideService(
              callTool(name, input, options.changes ? change : undefined),
              CurrentPrincipal,
              principal
            )
          yield* serve(reporting(call), options)
        })
      ).pipe(Effect.provide(services))
    })
  ).pipe(
    Command.withDescription(
      "Serve the three tools to an MCP client over standard input and output; with --changes a fourth"
    ),
    Command.withSubcommands([install(services)])
  )
