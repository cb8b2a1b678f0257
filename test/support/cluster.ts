/** Postgres clusters of the embedded server's programs, with settings that the product's own start doesn't allow. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { findPackage, openBinaries } from "../../src/database/embedded/binaries.ts"
import { settle } from "../../src/database/embedded/folders.ts"
import { currentUser, isRoot, spawnAs, unprivilegedUser } from "../../src/database/embedded/processes.ts"

/** The clusters in a folder: each has its data, its log and its socket in a subfolder. As root, they run as another user. */
export const clustersIn = Effect.fnUntraced(function* (folder: string) {
  chmodSync(folder, 0o755)
  const native = yield* findPackage()
  const programs = yield* openBinaries(
    native,
    yield* settle({ dataDir: join(folder, "unused"), stateDir: join(folder, "state") })
  )
  const me = yield* currentUser
  const user = isRoot(me) ? yield* unprivilegedUser : me
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    execFileSync(program, args, { ...spawnAs(user), cwd: "/tmp", stdio: "ignore", timeout: 60_000 })
  const homeOf = (name: string) => join(folder, name)
  const dataOf = (name: string) => join(homeOf(name), "data")
  return {
    user,
    homeOf,
    dataOf,
    /** Makes the folder that a cluster is created in, or copied to. */
    prepare: (name: string) => {
      mkdirSync(homeOf(name), { mode: 0o755 })
      chownSync(homeOf(name), user.uid, user.gid)
    },
    /** Creates a cluster whose superuser is `owner`. */
    create: (name: string, ...options: ReadonlyArray<string>) => {
      const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "-E", "UTF8"]
      run(programs.initdb, "-D", dataOf(name), "-U", "owner", ...locale, "--no-sync", ...options)
    },
    start: (name: string, ...options: ReadonlyArray<string>) => {
      const log = join(homeOf(name), "log")
      const settings = [...options, `-c unix_socket_directories=${homeOf(name)}`].join(" ")
      try {
        run(programs.pgCtl, "start", "-w", "-D", dataOf(name), "-l", log, "-o", settings)
      } catch {
        throw new Error(`${name} doesn't start:\n${readFileSync(log, "utf8")}`)
      }
    },
    /** Stops a server at once, without a shutdown of its connections. */
    stop: (name: string) => run(programs.pgCtl, "stop", "-m", "immediate", "-w", "-D", dataOf(name)),
    pidOf: (name: string) => Number(readFileSync(join(dataOf(name), "postmaster.pid"), "utf8").split("\n")[0]),
    urlOf: (name: string, { database = "postgres", password = "", port = 5432 } = {}) =>
      `postgres://owner${password === "" ? "" : `:${password}`}@localhost/${database}?host=${encodeURIComponent(homeOf(name))}&port=${port}`
  }
})
