/** A file that is there as a whole or not at all: written beside its place under another name, then moved into it. */
import { Effect } from "effect"
import { link, open, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { OperatorError } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not do that there",
  EPERM: "this user may not do that there",
  EROFS: "that disk can only be read",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such file or folder",
  EISDIR: "that is a folder",
  EEXIST: "it is there already. --force overwrites it",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's share of the disk is full",
  EFBIG: "a file may not become that large here",
  ENAMETOOLONG: "that name is too long"
}

/** What went wrong with a file, in words. */
export const fileFault = (path: string, error: unknown, doing = "written"): OperatorError => {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reason = REASONS[code] ?? (code === "" ? "something went wrong" : code)
  return new OperatorError({ message: `${printable(path)} can't be ${doing}: ${reason}.` })
}

/** Fails when there is something at the path that a new file may not replace. */
const requireFree = async (path: string, force: boolean): Promise<void> => {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error
  })
  if (found === undefined) return
  if (found.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" })
  if (!force || !found.isFile()) throw Object.assign(new Error(), { code: "EEXIST" })
}

/** Writes a file for this user alone; it takes its place when `use` ends well, and is gone when it doesn't. */
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

/** Moves a file to where there is none: what came there meanwhile is not overwritten. */
const moveNew = async (from: string, to: string): Promise<void> => {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw error
    // Not every disk has links.
    return rename(from, to)
  })
}
