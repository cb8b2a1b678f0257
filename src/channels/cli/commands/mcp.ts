/** MCP over standard input and output, for a client on this machine; and putting it into a client's configuration. */
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Cause, Console, Effect, Exit, Fiber, Layer, Option } from "effect"
import { McpServer } from "effect/ai"
import { Argument, Command, Flag } from "effect/cli"
import { realpathSync } from "node:fs"
import { sep } from "node:path"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { handedOn, thisMachine } from "../../../env.ts"
import { callTool } from "../../../tools/call.ts"
import { CLIENTS, configurationFile, type ServerEntry, snippet } from "../../mcp/clients.ts"
import { install as writeServer, tryOut, undo } from "../../mcp/install.ts"
import { server } from "../../mcp/server.ts"
import { tools } from "../../mcp/tools.ts"
import { asPrincipal, currentOrganization, wantsJson, whoAsks } from "../context.ts"
import { note, result } from "../output.ts"

const structured = Flag.Boolean("structured").pipe(
  Flag.withDescription(
    "Answer with structured content and output schemas too, for clients that read them; costs twice the tokens"
  ),
  Flag.withDefault(false)
)

const install = Command.make(
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
    structured
  },
  (input) =>
    asPrincipal(() =>
      Effect.gen(function* () {
        const who = yield* whoAsks
        const { slug } = yield* currentOrganization
        const program = realpathSync(process.argv[1]!)
        const entry: ServerEntry = {
          command: process.execPath,
          args: [program, "mcp", "--org", slug, "--as", who, ...(input.structured ? ["--structured"] : [])],
          env: yield* handedOn
        }
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
        if (program.includes(`${sep}_npx${sep}`)) {
          yield* note(
            "This Max is in npx's cache, which is cleared now and then. To stay: npm install -g max-agent, then this again."
          )
        }
      })
    )
).pipe(
  Command.withDescription("Put Max into a client's configuration, and see that it answers there"),
  Command.withExamples([
    { command: "max mcp install claude-code --as lena@atlas.com", description: "For Claude Code" },
    { command: "max mcp install cursor --as lena@atlas.com --print", description: "Only show what would be written" }
  ])
)

export const mcp = Command.make("mcp", { structured }, (options) =>
  asPrincipal(() =>
    Effect.gen(function* () {
      const principal = yield* CurrentPrincipal
      const call = (name: string, input: unknown) =>
        Effect.provideService(callTool(name, input), CurrentPrincipal, principal)
      const serving = yield* Layer.launch(
        McpServer.layerStdio({ ...server, registrations: tools(call, options) }).pipe(Layer.provide(NodeStdio.layer))
      ).pipe(Effect.forkChild)
      // The client closes standard input when it is done: the server interrupts itself, and all is well.
      const exit = yield* Fiber.await(serving)
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) return yield* exit
    })
  )
).pipe(
  Command.withDescription("Serve the three tools to an MCP client over standard input and output"),
  Command.withSubcommands([install])
)
