/** The sealing key's file beside the server: 32 bytes that only its user reads, made when the first secret is sealed. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { OperatorError } from "../../domain/errors.ts"

const BYTES = 32

/** The key in the file; undefined if there is none. */
const readKey = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Of processes that make the file at once, one does: the link fails where there is one already. */
const makeKey = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const mine = `${path}.${randomBytes(8).toString("hex")}`
  writeFileSync(mine, randomBytes(BYTES), { mode: 0o600, flag: "wx" })
  try {
    linkSync(mine, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    rmSync(mine)
  }
}

const UNREADABLE = OperatorError.of(
  "The key that seals secrets can't be read or made. Ask an operator to look at seal.key in MAX_STATE_DIR."
)

/** The key in the file, which is made if there is none. */
export const sealingKeyIn = (path: string): Effect.Effect<Uint8Array, OperatorError> =>
  Effect.flatMap(
    attempt(() => readKey(path) === undefined && makeKey(path)),
    () =>
      Effect.filterOrFail(
        existingSealingKeyIn(path),
        (key) => key !== undefined,
        () => UNREADABLE
      )
  )

/** The key in the file; undefined if there is none. Makes nothing. */
export const existingSealingKeyIn = (path: string): Effect.Effect<Uint8Array | undefined, OperatorError> =>
  Effect.filterOrFail(
    attempt(() => readKey(path)),
    (key) => key === undefined || key.length === BYTES,
    () => UNREADABLE
  )

const attempt = <A>(read: () => A) => Effect.try({ try: read, catch: () => UNREADABLE })
