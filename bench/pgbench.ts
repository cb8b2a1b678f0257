/** Runs pgbench -M prepared with a statement of Max: the database's throughput without Max. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Statement } from "../src/database/sql/ResolvedQuery.ts"
import type { Outside } from "./outside.ts"

/** The program, on the path or in Debian's location. */
const findPgbench = (): string | undefined => {
  const debian = "/usr/lib/postgresql"
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":")
  ]
  return folders.map((folder) => join(folder, "pgbench")).find((path) => existsSync(path))
}

export interface Pgbench {
  readonly clients: number
  /** Transactions per second. */
  readonly run: (seconds: number) => Effect.Effect<number>
}

/**
 * Runs a statement with its parameters as pgbench variables. The parameter at `place` is the expression that `value` makes
 * from `:n`, a number from 1 to `most`. Without the program, prints one line.
 */
export const pgbench = (
  { parameters, text }: Statement,
  place: number,
  value: string,
  most: number,
  { database, host, password, port, user }: Outside
): Pgbench | string => {
  const program = findPgbench()
  if (program === undefined) return "pgbench isn't installed"
  // A colon in a comment would be a variable.
  const statement = text
    .replace(/\/\*.*?\*\//g, "")
    .replace(/\$(\d+)/g, (_, number: string) => (Number(number) - 1 === place ? value : `:v${number}`))
  const script = [
    `\\set n random(1, ${most})`,
    ...parameters.flatMap((parameter, index) => (index === place ? [] : [`\\set v${index + 1} ${String(parameter)}`])),
    `${statement};`
  ].join("\n")
  const clients = 4
  return {
    clients,
    run: (seconds) =>
      Effect.callback<number>((resume) => {
        const folder = mkdtempSync(join(tmpdir(), "max-bench-pgbench-"))
        writeFileSync(join(folder, "script.sql"), `${script}\n`)
        const args = [
          "-n",
          "-M",
          "prepared",
          "-c",
          String(clients),
          "-j",
          "2",
          "-T",
          String(seconds),
          "-f",
          join(folder, "script.sql")
        ]
        const child = spawn(program, [...args, "-h", host, "-p", String(port), "-U", user, database], {
          env: { ...process.env, PGPASSWORD: password, PGOPTIONS: "-c search_path=pg_catalog,pg_temp -c jit=off" },
          stdio: ["ignore", "pipe", "pipe"]
        })
        let said = ""
        child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
        child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
        child.on("close", (code) => {
          rmSync(folder, { recursive: true, force: true })
          const tps = /tps = ([\d.]+) \(without/.exec(said)?.[1]
          resume(code === 0 && tps !== undefined ? Effect.succeed(Number(tps)) : Effect.die(new Error(said)))
        })
      })
  }
}
