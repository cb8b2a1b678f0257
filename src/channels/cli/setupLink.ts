/** The link of the first run: at a terminal of this machine it is printed, elsewhere it is in a file that only its owner reads. */
import { Console, Effect } from "effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Env } from "../../env.ts"
import { Setup } from "../../services/onboarding/Setup.ts"
import { note } from "./output.ts"

export const LOOPBACK = ["127.0.0.1", "localhost", "::1"]

/** The address of the page: the public one or, on loopback, by the name that browsers bind passkeys to. */
export const setupLink = (code: string, base: string) =>
  Effect.map(Env, ({ httpHost, publicUrl }) => {
    const url = new URL("/setup", publicUrl ?? base)
    if (publicUrl === undefined && LOOPBACK.includes(httpHost) && httpHost !== "::1") url.hostname = "localhost"
    url.hash = code
    return url.href
  })

/** Writes a link into a file, so that it is in no log; undefined if the folder can't be written. */
const intoFile = Effect.fnUntraced(function* (link: string) {
  const { stateDir } = yield* Env
  const path = join(stateDir, "setup-link")
  return yield* Effect.sync(() => {
    try {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 })
      // A new file: an earlier one would keep its mode.
      rmSync(path, { force: true })
      writeFileSync(path, `${link}\n`, { mode: 0o600, flag: "wx" })
      return path
    } catch {
      return undefined
    }
  })
})

const NONE = "There is no organization yet."

/** Makes the link of the first run where there is no organization yet; returns the lines that offer it. */
export const offerSetup = Effect.fnUntraced(
  function* (base: string) {
    const setup = yield* Setup
    if (!(yield* setup.isOpen)) return Effect.void
    const link = yield* setupLink(yield* setup.createLink, base)
    const { httpHost } = yield* Env
    if (process.stdout.isTTY === true && LOOPBACK.includes(httpHost)) {
      return Effect.andThen(
        note(`${NONE} Open this link to set Max up: it works once, within a day.`),
        Console.log(link)
      )
    }
    const path = yield* intoFile(link)
    return note(
      path === undefined
        ? `${NONE} To set Max up in a browser: max setup link`
        : `${NONE} Open the link in ${path} to set Max up: it works once, within a day.`
    )
  },
  // The server starts all the same: a standby can't make a link, and another process may have been set up meanwhile.
  Effect.catch(() => Effect.succeed(note(`To set Max up in a browser: max setup link`)))
)
