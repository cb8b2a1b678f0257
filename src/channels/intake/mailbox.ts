/**
 * A mailbox folder (maildir) that `max serve` watches: each e-mail in `new` is handed in once and moves to `cur`; one that can't be read
 * moves to the folder `.Refused`. Several processes may watch the same folder, because a message is answered once.
 */
import { Effect, Layer } from "effect"
import { lstat, mkdir, readdir, readFile, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import { ConfigurationError, OperatorError, Unavailable } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { handingIn, NO_MEMBER } from "./handIn.ts"
import { MAX_MAIL, readMail } from "./readMail.ts"

const POLL = "2 seconds"
/** After a message that couldn't be answered now: it stays in `new`. */
const PAUSE = "1 minute"
/** E-mails of one look at the folder. */
const MAX_LOOK = 100

const io = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: () => Unavailable.error })

const mailbox = Effect.fnUntraced(function* (folder: string) {
  const handIn = yield* handingIn
  const refused = join(folder, ".Refused")

  /** A file that is gone was moved by another process. */
  const move = (name: string, to: string, flags: string) =>
    Effect.ignore(
      io(() => rename(join(folder, "new", name), join(to, "cur", `${name.replace(/:2,.*$/s, "")}:2,${flags}`)))
    )

  const aside = Effect.fnUntraced(function* (name: string, why: string) {
    yield* Effect.logWarning("An e-mail was moved to .Refused").pipe(Effect.annotateLogs({ why }))
    for (const part of ["cur", "new", "tmp"])
      yield* io(() => mkdir(join(refused, part), { recursive: true, mode: 0o700 }))
    yield* move(name, refused, "")
  })

  const read = Effect.fnUntraced(function* (name: string) {
    const path = join(folder, "new", name)
    const facts = yield* io(() => lstat(path))
    // A link could lead to any file of this machine.
    if (!facts.isFile()) return yield* OperatorError.of("It isn't a file.")
    return yield* readMail(facts.size > MAX_MAIL ? Buffer.alloc(MAX_MAIL + 1) : yield* io(() => readFile(path)))
  })

  /** Whether the e-mail is done with. */
  const take = (name: string) =>
    read(name).pipe(
      Effect.flatMap((message) => handIn(message)),
      Effect.flatMap((outcome) =>
        "_tag" in outcome ? Effect.succeed(false) : Effect.as(move(name, folder, "S"), true)
      ),
      Effect.catchTags({
        OperatorError: ({ message }) => Effect.as(aside(name, message), true),
        InvalidInput: ({ message }) => Effect.as(aside(name, message), true),
        NotAdmitted: () => Effect.as(Effect.logError("MAX_INTAKE_AS names no member"), false),
        ConfigurationError: ({ message }) => Effect.as(Effect.logError(message), false)
      }),
      Effect.orElseSucceed(() => false)
    )

  const look = Effect.gen(function* () {
    const names = (yield* io(() => readdir(join(folder, "new")))).filter((name) => !name.startsWith(".")).sort()
    let done = true
    for (const name of names.slice(0, MAX_LOOK)) done = (yield* take(name)) && done
    return done
  }).pipe(Effect.orElseSucceed(() => false))

  return Effect.forever(Effect.flatMap(look, (done) => Effect.sleep(done ? POLL : PAUSE)))
})

export const Mailbox = Layer.effectDiscard(
  Effect.gen(function* () {
    const { intakeAs, intakeMaildir } = yield* Env
    if (intakeMaildir === undefined) return
    if (intakeAs === undefined) return yield* ConfigurationError.of(NO_MEMBER)
    for (const part of ["new", "cur"])
      if (
        !(yield* Effect.promise(() =>
          stat(join(intakeMaildir, part)).then(
            (facts) => facts.isDirectory(),
            () => false
          )
        ))
      )
        return yield* ConfigurationError.of(
          `MAX_INTAKE_MAILDIR: a maildir, which has folders new and cur, is expected.`
        )
    yield* Effect.forkScoped(yield* mailbox(intakeMaildir))
  })
)
