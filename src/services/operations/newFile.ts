/** Writes files atomically: under a temporary name in the same folder, then renamed. */
import { Effect } from "effect"
import { link, open, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { OperatorError } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "that disk is read-only",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such file or folder",
  EISDIR: "it is a folder",
  EEXIST: "it exists already. --force overwrites it",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's disk quota is used up",
  EFBIG: "the file would exceed the size limit",
  ENAMETOOLONG: "that name is too long"
}

/** Words a file system error for operators. */
export const fileFault = (path: string, error: unknown, operation = "written"): OperatorError => {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reason = REASONS[code] ?? (code === "" ? "unexpected error" : code)
  return OperatorError.of(`${printable(path)} can't be ${operation}: ${reason}.`)
}

/** Fails when the path has an entry that the new file may not replace. */
const requireFree = async (path: string, force: boolean): Promise<void> => {
  const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error
  })
  if (existing === undefined) return
  if (existing.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" })
  if (!force || !existing.isFile()) throw Object.assign(new Error(), { code: "EEXIST" })
}

/** Writes a file that only this user can read. It appears under its name when `use` succeeds; otherwise it is removed. */
export const writeNewFile = <A, E, R>(
  path: string,
  { force }: { readonly force: boolean },
  use: (write: (bytes: Uint8Array | string) => Effect.Effect<void, OperatorError>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | OperatorError, R> => {
  const attempt = <B>(run: () => Promise<B>) =>
    Effect.tryPromise({ try: run, catch: (error) => fileFault(path, error) })
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.partial`)
  return Effect.acquireUseRelease(
    attempt(async () => {
      await requireFree(path, force)
      return open(partial, "wx", 0o600)
    }),
    (handle) =>
      use((bytes) => attempt(() => handle.writeFile(bytes))).pipe(
        Effect.tap(() =>
          attempt(async () => {
            await handle.sync()
            await (force ? rename(partial, path) : moveNew(partial, path))
          })
        )
      ),
    (handle) =>
      Effect.promise(async () => {
        await handle.close().catch(() => undefined)
        await rm(partial, { force: true })
      })
  )
}

/** Renames without overwriting a file that another process created in the meantime. */
const moveNew = async (from: string, to: string): Promise<void> => {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw error
    // Some file systems have no hard links.
    return rename(from, to)
  })
}
