/** A server that becomes a standby, or that never was a primary: its data may be older than what its primary has committed. */
import { Effect, Exit, Layer, Scope } from "effect"
import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { start } from "../../src/database/embedded/EmbeddedServer.ts"
import { Database } from "../../src/database/Database.ts"
import { DatabaseSource } from "../../src/database/DatabaseSource.ts"
import { Env } from "../../src/env.ts"
import { Services } from "../../src/layers.ts"
import { asMember, makeOrganization } from "../support/atlas.ts"
import { cleanUpAfterwards, clusterOf, fresh } from "../support/embedded.ts"
import { until } from "../support/until.ts"

cleanUpAfterwards()
const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe("a database in recovery", () => {
  it("answers no lookup of a running process, and none of a new one", async () => {
    const options = fresh()
    const source = await Effect.runPromise(start(options).pipe(Scope.provide(scope)))
    const settings = { lookupTimeout: 10_000, searchTimeout: 30_000 }
    const onSource = Services.pipe(
      Layer.provideMerge(Database.layer),
      Layer.provideMerge(Layer.succeed(DatabaseSource, source)),
      Layer.provideMerge(Env.layerWith(settings))
    )
    const context = await Effect.runPromise(Layer.build(onSource).pipe(Scope.provide(scope)))
    const ada = await Effect.runPromise(
      Effect.flatMap(makeOrganization("atlas"), (atlas) => asMember(atlas, "ada@example.com", "admin")).pipe(
        Effect.provideContext(context)
      )
    )
    const find = Effect.result(ada.find({ filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }] }))
    expect(await Effect.runPromise(find)).toMatchObject({ _tag: "Success", success: { total: 1 } })

    // The same server, restarted as a standby without a primary.
    const folder = clusterOf(options.dataDir)
    const pid = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0])
    const signal = join(folder, "standby.signal")
    writeFileSync(signal, "")
    const { gid, uid } = statSync(folder)
    chownSync(signal, uid, gid)
    process.kill(pid, "SIGINT")
    await until(() => !isRunning(pid))
    const standby = await Effect.runPromise(start(options).pipe(Scope.provide(scope)))
    expect(standby.connect).toMatchObject({ host: source.connect.host, port: source.connect.port })

    const failures: Array<string> = []
    for (let attempt = 0; attempt < 20; attempt++) {
      const result = await Effect.runPromise(find)
      failures.push(result._tag === "Failure" ? result.failure._tag : JSON.stringify(result.success))
    }
    expect(new Set(failures)).toEqual(new Set(["Unavailable"]))
    const fromNew = await Effect.runPromise(Effect.exit(Effect.scoped(Layer.build(onSource))))
    expect(fromNew).toMatchObject({ _tag: "Failure" })
    expect(JSON.stringify(fromNew)).toContain("Unavailable")
  })
})

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
