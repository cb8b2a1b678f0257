/** The directory of cells: a map file of haproxy, a line with an organization's id and its cell, and the running haproxy. */
import { Effect } from "effect"
import { access, constants, readFile, rename, stat, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { dirname } from "node:path"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"

export interface Directory {
  /** The map file, as haproxy's configuration names it. */
  readonly file: string
  readonly cell: string
  /** haproxy's socket with the level `admin`. */
  readonly socket?: string | undefined
}

const attempt = <A>(run: () => Promise<A>, message: string) =>
  Effect.tryPromise({ try: run, catch: () => OperatorError.of(message) })

/** One command of haproxy's runtime API; its answer is empty when it succeeds. */
const say = (socket: string, command: string) =>
  attempt(
    () =>
      new Promise<string>((resolve, reject) => {
        let answer = ""
        const client = connect(socket, () => client.write(`${command}\n`))
        client.setTimeout(5000, () => client.destroy(new Error("silent")))
        client.on("data", (chunk) => (answer += chunk.toString()))
        client.on("error", reject)
        client.on("close", () => resolve(answer.trim()))
      }),
    `haproxy doesn't answer at its socket ${quoted(socket)}.`
  )

/** Fails before anything moves if the directory couldn't be written afterwards. */
export const checkDirectory = Effect.fnUntraced(function* ({ cell, file, socket }: Directory) {
  if (!/^[A-Za-z0-9_.:-]{1,100}$/.test(cell))
    return yield* OperatorError.of("--cell is the name of a backend of haproxy: letters, digits and . : _ -")
  if (/\s/.test(file)) return yield* OperatorError.of("--map: haproxy's commands allow no spaces in the file's path.")
  yield* attempt(
    () => Promise.all([access(file, constants.R_OK | constants.W_OK), access(dirname(file), constants.W_OK)]),
    `--map: the file ${quoted(file)} doesn't exist, or it or its folder can't be written. An empty file is a start.`
  )
  if (socket === undefined) return
  const answer = yield* say(socket, `show map ${file}`)
  if (/unknown map|permission denied|unknown command/i.test(answer))
    return yield* OperatorError.of(
      `--haproxy: haproxy has no map of the file ${quoted(file)}, or its socket isn't of the level admin.`
    )
})

/** Routes an organization to a cell: in the file, atomically, and in the running haproxy. */
export const route = Effect.fn("Move.route")(function* ({ cell, file, socket }: Directory, key: string) {
  yield* attempt(
    async () => {
      const lines = (await readFile(file, "utf8")).trimEnd().split("\n")
      const others = lines.filter((line) => line !== "" && line.trim().split(/\s+/)[0] !== key)
      const partial = `${file}.${process.pid}.partial`
      await writeFile(partial, `${[...others, `${key} ${cell}`].join("\n")}\n`, { mode: (await stat(file)).mode })
      await rename(partial, file)
    },
    `The map ${quoted(file)} can't be written.`
  )
  if (socket === undefined) return
  const set = yield* say(socket, `set map ${file} ${key} ${cell}`)
  const answer = /not found/i.test(set) ? yield* say(socket, `add map ${file} ${key} ${cell}`) : set
  if (answer !== "")
    return yield* OperatorError.of("haproxy refused the new line of its map. Reload it: it reads the file.")
})
