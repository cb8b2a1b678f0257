import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { withLock } from "../../../src/database/embedded/processes.ts"
import { type EmbeddedServerOptions } from "../../../src/database/embedded/EmbeddedServer.ts"
import {
  Peer,
  children,
  cleanUpAfterwards,
  clusterOf,
  commandOf,
  during,
  fresh,
  isRunning,
  livePid,
  pidFileOf,
  postmasterPid,
  query,
  root,
  until
} from "../../support/embedded.ts"

cleanUpAfterwards()

describe.concurrent("after a crash, an embedded server", () => {
  it("is started again with its data by the process that holds a lease", async () => {
    const options = fresh()
    await during(options, async (source) => {
      await Effect.runPromise(query(source, "CREATE TABLE kept AS SELECT 42 AS answer"))
      const pid = livePid(options.dataDir)
      process.kill(pid, "SIGKILL")
      await until(() => isRunning(options.dataDir) && postmasterPid(options.dataDir) !== pid)
      await until(() => pidFileOf(options.dataDir)?.includes("ready") === true)
      expect(await Effect.runPromise(query(source, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
    })
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("replaces a stale pid file, even when another program has got its pid", async () => {
    const options = fresh()
    const parent = new Peer(options)
    await parent.started()
    const pid = livePid(options.dataDir)
    await parent.kill()
    process.kill(pid, "SIGKILL")
    await until(() => commandOf(pid) === "" || commandOf(pid).includes("defunct"))
    const cluster = clusterOf(options.dataDir)
    const { uid, gid } = statSync(cluster)
    const sleeper = spawn("sleep", ["60"], { stdio: "ignore", ...(root ? { uid, gid } : {}) })
    children.add(sleeper)
    const file = join(cluster, "postmaster.pid")
    writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(sleeper.pid)))
    await during(options, (source) => query(source, "SELECT 1"))
    expect(sleeper.exitCode).toBeNull()
    sleeper.kill()
  })

  it("is created again after a killed initdb, without leftovers", async () => {
    const halfOf = ({ dataDir }: EmbeddedServerOptions) =>
      existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith("init-")) : []
    const killInitdb = async (): Promise<EmbeddedServerOptions> => {
      const options = fresh()
      const peer = new Peer(options)
      const begun = () => halfOf(options).some((name) => existsSync(join(options.dataDir, name, "base")))
      await until(() => begun() || existsSync(clusterOf(options.dataDir)))
      await peer.kill()
      // Where initdb ended before this process got the processor, another one is killed.
      return halfOf(options).length > 0 ? options : killInitdb()
    }
    const options = await killInitdb()
    await during(options, (source) => query(source, "SELECT 1"))
    expect(halfOf(options)).toEqual([])
    expect(readdirSync(join(options.stateDir, "embedded")).filter((name) => name.length === 32)).toHaveLength(1)
  })

  it("takes over the lock file of a dead process, even when another program has got its pid", async () => {
    const { stateDir } = fresh()
    mkdirSync(stateDir)
    const path = join(stateDir, "lock")
    for (const stale of ["999999 1", `${process.pid} 1`]) {
      writeFileSync(path, stale)
      expect(await Effect.runPromise(withLock(path, Effect.succeed("mine")))).toBe("mine")
      expect(existsSync(path)).toBe(false)
    }
    const nested = withLock(path, withLock(path, Effect.succeed("mine")))
    expect((await Effect.runPromise(Effect.flip(nested)))._tag).toBe("NotYet")
    expect(readdirSync(stateDir)).toEqual([])
  })

  it("is replaced when its socket was removed", async () => {
    const options = fresh()
    const peer = new Peer(options)
    await peer.started()
    const pid = livePid(options.dataDir)
    const socketDir = readFileSync(join(clusterOf(options.dataDir), "postmaster.pid"), "utf8").split("\n")[4] ?? ""
    rmSync(join(socketDir, ".s.PGSQL.5432"))
    await during(options, (source) => query(source, "SELECT 1"))
    await until(() => isRunning(options.dataDir) && livePid(options.dataDir) !== pid)
    await peer.leave()
    expect(isRunning(options.dataDir)).toBe(false)
  })
})
