/** Two servers of Postgres with an organization between them, and `max move --org` in this process. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import {
  connectionString,
  type Directory,
  type Moved,
  moveOrganization,
  undoMove
} from "../../src/services/operations/Move.ts"
import { makeOrganization } from "./atlas.ts"
import { hold, rowsIn, startCell } from "./cells.ts"
import { callTool, startServer } from "./http.ts"
import { importFile } from "./imports.ts"
import { memberWithToken } from "./members.ts"

type Place = "source" | "target"

export interface Mover {
  readonly organization: Organization
  readonly token: string
}

interface Options {
  /** Runs when the target follows the source, right before the fence. */
  readonly following?: () => Promise<unknown>
  readonly directory?: Directory
  readonly password?: string
  /** Replaces the source's address, as the target reaches it. */
  readonly reached?: (url: string) => string
}

export const openMoves = async () => {
  // One after the other: initdb holds up this process, and the other's connections would time out.
  const cells = [await startCell("-c log_statement=ddl"), await startCell("-c log_statement=ddl")] as const
  const servers = await Promise.all(cells.map(({ url }) => startServer(url)))
  const at = (where: Place) => (where === "source" ? 0 : 1)
  const ownerOf = (where: Place): Promise<PgClient.PgClient> =>
    servers[at(where)]!.run(Effect.map(Database, ({ owner }) => owner))
  const owners = { source: await ownerOf("source"), target: await ownerOf("target") }
  const sides = ({ slug }: Organization) => ({
    slug,
    source: { owner: owners.source, place: "the source" },
    target: { owner: owners.target, place: "the target" },
    say: () => Effect.void
  })
  let count = 0
  const sql = <Row extends object = Record<string, any>>(
    where: Place,
    statement: string,
    parameters: ReadonlyArray<unknown> = []
  ) => rowsIn<Row>(cells[at(where)]!.url, statement, parameters)
  return {
    sql,
    logs: () => cells.map(({ log }) => log()),
    server: (where: Place) => servers[at(where)]!,
    /** Holds a transaction with a statement until the returned function commits it. */
    hold: (where: Place, statement: string) => hold(cells[at(where)]!.url, statement),
    /** An organization at the source with a person, a type of its own and a member. */
    mover: async (): Promise<Mover> => {
      const slug = `mover${++count}`
      const here = servers[0]!
      const organization = await here.run(makeOrganization(slug))
      await here.run(importFile(organization, ["id,name,email", `ada,Ada of ${slug},ada@${slug}.example`]))
      await here.run(importFile(organization, ["id,name,colour", "1,Bolt,red"], { type: "parts", create: true }))
      const { token } = await here.run(memberWithToken(organization, `admin@${slug}.example`, ["admin"]))
      return { organization, token }
    },
    move: (
      { organization }: Mover,
      { directory, following, password, reached = (url) => url }: Options = {}
    ): Promise<Moved> => {
      const moved = Effect.runPromise(
        moveOrganization({
          ...sides(organization),
          say: (line) =>
            following !== undefined && line.startsWith("The target follows")
              ? Effect.promise(async () => {
                  await following()
                })
              : Effect.void,
          connection: (user, name) =>
            connectionString(
              {
                url: Redacted.make(reached(cells[0]!.url)),
                ...(password === undefined ? {} : { password: Redacted.make(password) })
              },
              user,
              name
            ),
          hasPassword: password !== undefined,
          directory,
          withoutMapped: false
        })
      )
      // A test may look at it after it has failed.
      moved.catch(() => {})
      return moved
    },
    undo: ({ organization }: Mover) => Effect.runPromise(undoMove(sides(organization))),
    sides,
    /** The status of a lookup of the organization's person, or its name. */
    find: async ({ organization: { slug }, token }: Mover, where: Place) => {
      const { status, text } = await callTool(servers[at(where)]!, token, "findEntities", {
        entityTypeId: "people",
        filters: [{ columnId: "email", op: "eq", value: `ada@${slug}.example` }]
      })
      return status === 200 ? /Ada of \w+/.exec(text)?.[0] : status
    },
    /** The first value that a statement returns for the organization, which is `$1`. */
    value: async ({ organization: { id } }: Mover, where: Place, statement: string): Promise<unknown> =>
      Object.values((await sql(where, statement, [id]))[0] ?? {})[0],
    /** What a move has made on both servers and not removed. */
    leftOf: async ({ organization: { id } }: Mover) => {
      const statement = `SELECT 'subscription' AS what FROM pg_subscription WHERE subname = $1
        UNION ALL SELECT 'publication' FROM pg_publication WHERE pubname = $1
        UNION ALL SELECT 'slot' FROM pg_replication_slots WHERE slot_name = $1
        UNION ALL SELECT DISTINCT 'triggers' FROM pg_trigger WHERE tgname IN ($1, $1 || '_rows')`
      const name = `max_move_${encodeId(id)}`
      const both = await Promise.all([sql("source", statement, [name]), sql("target", statement, [name])])
      return both.flat().map((row) => row["what"] as string)
    },
    end: async () => {
      await Promise.all(servers.map(({ stop }) => stop()))
      await Promise.all(cells.map(({ end }) => end()))
    }
  }
}
