import { Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { openSocketFolder, requireOwned } from "../../../src/database/embedded/folders.ts"
import { currentUser } from "../../../src/database/embedded/processes.ts"
import {
  Peer,
  cleanUpAfterwards,
  clusterOf,
  createAndLeave,
  during,
  fresh,
  homeOf,
  livePid,
  postmasterPid,
  query,
  refusalOf,
  root,
  temp
} from "../../support/embedded.ts"

cleanUpAfterwards()

describe.concurrent("a data folder", () => {
  const hostile = (mark: string) =>
    `archive_mode = on\narchive_command = 'touch ${mark}'\narchive_timeout = 1\nshared_preload_libraries = 'hostile'\nlocal_preload_libraries = 'hostile'\nssl_passphrase_command = 'touch ${mark}'\n`

  it("is refused as a copy of a registered one, and its commands never run", async () => {
    const options = fresh()
    await createAndLeave(options)
    const copy = { ...options, dataDir: `${options.dataDir}-copy` }
    execFileSync("cp", ["-a", options.dataDir, copy.dataDir])
    const mark = join(temp, "mark-copy")
    for (const file of ["postgresql.conf", "postgresql.auto.conf", "pg/postgresql.conf", "pg/postgresql.auto.conf"]) {
      writeFileSync(join(copy.dataDir, file), hostile(mark))
    }
    expect(await refusalOf(copy)).toMatch(/is a copy of .*MAX_DATA_DIR/)
    rmSync(join(clusterOf(copy.dataDir), "max-installation"))
    expect(await refusalOf(copy)).toMatch(/didn't create.*MAX_DATA_DIR/)
    expect(existsSync(mark)).toBe(false)
    expect(postmasterPid(copy.dataDir)).toBeUndefined()
    await createAndLeave(options)
  })

  it("is refused when another state folder registered it", async () => {
    const options = fresh()
    await createAndLeave(options)
    expect(await refusalOf({ ...options, stateDir: fresh().stateDir })).toMatch(/didn't create/)
  })

  it("is refused and left unchanged when it has a foreign database or other files", async () => {
    const database = fresh()
    mkdirSync(database.dataDir)
    writeFileSync(join(database.dataDir, "PG_VERSION"), "18\n")
    expect(await refusalOf(database)).toMatch(/has a Postgres database that your Max didn't create.*DATABASE_URL/)
    const other = fresh()
    mkdirSync(join(other.dataDir, "init-0123456789abcdef0123456789abcdef"), { recursive: true })
    expect(await refusalOf(other)).toMatch(/isn't empty/)
    expect(readdirSync(other.dataDir)).toHaveLength(1)
  })

  it("may be empty, or registered and moved while its server runs", async () => {
    const options = fresh()
    mkdirSync(options.dataDir, { mode: 0o755 })
    await during(options, (source) => query(source, "CREATE TABLE kept AS SELECT 42 AS answer"))
    const moved = { ...options, dataDir: `${options.dataDir}-moved` }
    await during(options, async () => {
      const pid = livePid(options.dataDir)
      renameSync(options.dataDir, moved.dataDir)
      await during(moved, () => expect(livePid(moved.dataDir)).toBe(pid))
    })
    expect(await during(moved, (source) => query(source, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
  })

  it("may be a restored copy that the user accepts in registration.json", async () => {
    const options = fresh()
    await createAndLeave(options)
    const backup = { ...options, dataDir: `${options.dataDir}-backup` }
    execFileSync("cp", ["-a", options.dataDir, backup.dataDir])
    expect(await refusalOf(backup)).toContain("registration.json")
    const path = join(homeOf(options.stateDir), "registration.json")
    const { inode: _, ...rest } = JSON.parse(readFileSync(path, "utf8"))
    writeFileSync(path, JSON.stringify(rest))
    await createAndLeave(backup)
    expect(await refusalOf(options)).toContain("is a copy of")
  })

  it("ignores or refuses settings that were written into a registered cluster", async () => {
    const options = fresh()
    await createAndLeave(options)
    const mark = join(temp, "mark-over")
    writeFileSync(join(clusterOf(options.dataDir), "postgresql.conf"), hostile(mark))
    writeFileSync(join(options.dataDir, "postgresql.conf"), hostile(mark))
    writeFileSync(join(clusterOf(options.dataDir), "pg_hba.conf"), "local all all trust\n")
    const rows = await during(options, (source) =>
      Effect.gen(function* () {
        const wrong = yield* Effect.flip(query(source, "SELECT 1", { password: Redacted.make("wrong") }))
        expect(wrong.reason._tag).toBe("AuthenticationError")
        return yield* query(
          source,
          "SELECT name, setting FROM pg_settings WHERE name IN ('archive_mode', 'archive_command', 'shared_preload_libraries', 'local_preload_libraries') ORDER BY 1"
        )
      })
    )
    expect(rows.map(({ setting }) => setting)).toEqual(["(disabled)", "off", "", ""])
    writeFileSync(join(clusterOf(options.dataDir), "postgresql.auto.conf"), `# comment\n${hostile(mark)}`)
    expect(await refusalOf(options)).toMatch(/postgresql.auto.conf has settings that Max didn't write/)
    expect(existsSync(mark)).toBe(false)
  })
})

describe.concurrent("a failed start is one line that", () => {
  it("names a folder or file that other users can read or write", async () => {
    const options = fresh()
    await createAndLeave(options)
    chmodSync(options.dataDir, 0o777)
    expect(await refusalOf(options)).toMatch(/Other users can write into .*chmod go-w/)
    chmodSync(options.dataDir, root ? 0o711 : 0o700)
    chmodSync(options.stateDir, 0o755)
    expect(await refusalOf(options)).toMatch(/chmod 700/)
    chmodSync(options.stateDir, 0o700)
    chmodSync(join(homeOf(options.stateDir), "secret"), 0o644)
    expect(await refusalOf(options)).toMatch(/chmod 600/)
  })

  it("names a folder that belongs to another user", async () => {
    const options = fresh()
    await createAndLeave(options)
    const folders = root ? [clusterOf(options.dataDir), options.dataDir, options.stateDir] : []
    for (const folder of folders) {
      const { uid, gid } = statSync(folder)
      chownSync(folder, 4242, 4242)
      expect(await refusalOf(options)).toMatch(/belongs to uid 4242/)
      chownSync(folder, uid, gid)
    }
    const user = { ...(await Effect.runPromise(currentUser)), uid: root ? 4242 : 1_000_000 }
    const refused = await Effect.runPromise(Effect.flip(requireOwned(root ? options.dataDir : "/usr", user)))
    expect(refused.message).toMatch(/belongs to uid 0/)
  })

  it("names a socket folder that is a link or belongs to another user", async () => {
    const options = fresh()
    const socketDir = await during(options, (source) => source.connect.host)
    mkdirSync(`${options.dataDir}-elsewhere`, { mode: 0o700 })
    symlinkSync(`${options.dataDir}-elsewhere`, socketDir)
    expect(await refusalOf(options)).toMatch(/the folder of the database's socket, must belong to/)
    rmSync(socketDir)
    await createAndLeave(options)
    const user = await Effect.runPromise(currentUser)
    const other = { uid: user.uid + 4242, gid: user.gid, name: "other" }
    mkdirSync(`${options.dataDir}-socket`, { mode: 0o700 })
    const refused = await Effect.runPromise(Effect.flip(openSocketFolder(`${options.dataDir}-socket`, other)))
    expect(refused.message).toMatch(/the folder of the database's socket, must belong to/)
  })

  it("names the Postgres version that wrote an incompatible folder", async () => {
    const options = fresh()
    await createAndLeave(options)
    writeFileSync(join(clusterOf(options.dataDir), "PG_VERSION"), "17\n")
    expect(await refusalOf(options)).toMatch(
      /written by Postgres 17 .* brings Postgres 18: export .* or set MAX_DATA_DIR/
    )
  })

  it("quotes the error of a server that doesn't start", async () => {
    const options = fresh()
    await createAndLeave(options)
    rmSync(join(clusterOf(options.dataDir), "global", "pg_control"))
    expect(await refusalOf(options)).toMatch(/doesn't start: .*pg_control.*server\.log/)
  })

  it("names an unusable path", async () => {
    const options = fresh()
    writeFileSync(options.dataDir, "a file")
    expect(await refusalOf({ ...options, dataDir: join(options.dataDir, "below") })).toMatch(
      /(ENOTDIR|EEXIST).*MAX_DATA_DIR/
    )
    expect(await refusalOf(options)).toMatch(/MAX_DATA_DIR/)
    // Root may write anywhere but into /proc.
    const closed = root ? "/proc" : join(options.dataDir, "..")
    if (!root) chmodSync(closed, 0o555)
    expect(await refusalOf({ ...fresh(), dataDir: join(closed, "new") })).toMatch(/(EACCES|ENOENT|EPERM).*MAX_DATA_DIR/)
    if (!root) chmodSync(closed, 0o755)
  })

  it("reports a full disk, after removing the incomplete folder", async () => {
    const options = fresh()
    // A limit on file sizes stands in for a full disk, which only root could set up.
    const peer = new Peer(options, ["bash", "-c", `ulimit -f 4096; exec "$0" "$@"`])
    expect((await peer.answer()).failed).toMatch(/could not create its database: .*File too large.*MAX_DATA_DIR/)
    expect(readdirSync(options.dataDir)).toEqual([])
    await createAndLeave(options)
  })
})
