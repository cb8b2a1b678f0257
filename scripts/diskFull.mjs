/**
 * A server whose disk is full, in memory (`mount -t tmpfs` needs root) with Debian's Postgres: what still works, what fails and how,
 * and that requests are answered again once there is room. docs/operate.md reports the results.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { binaries, freePort } from "./failover/machine.mjs"
import { openMax } from "./failover/max.mjs"

const SIZE_MB = 400
if (process.getuid() !== 0) throw new Error("Mounting a small disk needs root")

const folder = mkdtempSync(join(tmpdir(), "max-disk-"))
chmodSync(folder, 0o755)
const disk = join(folder, "disk")
const data = join(disk, "data")
mkdirSync(disk)
execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", disk])
const bin = binaries()
const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })))
chownSync(disk, uid, gid)
const asPostgres = (program, ...args) =>
  execFileSync(join(bin, program), args, { uid, gid, cwd: disk, stdio: ["ignore", "ignore", "pipe"] })

const port = await freePort()
const superuser = `postgres://postgres@127.0.0.1:${port}/postgres`
const psql = (sql, url = superuser) =>
  spawnSync(join(bin, "psql"), ["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql], { encoding: "utf8" })
const OPTIONS = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c min_wal_size=32MB -c max_wal_size=48MB -c restart_after_crash=on`
const start = () => asPostgres("pg_ctl", "start", "-w", "-D", data, "-l", join(disk, "log"), "-o", OPTIONS)

let failed = false
const check = (what, holds, saw) => {
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds ? "" : `: ${JSON.stringify(saw)}`}`)
  failed ||= !holds
}
const filler = join(disk, "filler")
/** Takes all of the disk that is left. */
const fill = () => {
  const part = Buffer.alloc(2 ** 20)
  for (const size of [part.length, 4096])
    try {
      for (;;) writeFileSync(filler, part.subarray(0, size), { flag: "a" })
    } catch (error) {
      if (error.code !== "ENOSPC") throw error
    }
}

let max
try {
  asPostgres("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
  start()
  for (const sql of ["CREATE ROLE max_owner LOGIN CREATEROLE PASSWORD 'owner'", "CREATE DATABASE max OWNER max_owner"])
    if (psql(sql).status !== 0) throw new Error(psql(sql).stderr)
  max = openMax(`postgres://max_owner:owner@127.0.0.1:${port}/max`)
  const { ask, run } = max
  await max.initialize()
  const admin = await max.tokenOf("person0@example.com", "tools", "chat", "admin")
  await max.must("member", "add", "person1@example.com", "--role", "admin")
  const memberId = await max.idOf("Person Number 1")
  await max.serve()
  const find = (filter, total) => async () => {
    const { status, text } = await ask(admin, "/v1/tools/findEntities", { entityTypeId: "people", filters: [filter] })
    return { status, isRight: status === 200 && JSON.parse(text).total === total }
  }
  const lookup = find({ columnId: "email", op: "eq", value: "person7@example.com" }, 1)
  const search = find({ columnId: "name", op: "ilike", value: "person number" }, 200)
  const chat = () => ask(admin, "/v1/chat", { text: "who is Person Number 7?" })
  const turn = (what) => ask(admin, `/v1/admin/people/${memberId}/${what}`)
  const several = async (request, times = 20) => {
    const answers = []
    for (let count = 0; count < times; count++) answers.push(await request())
    return answers
  }
  const allRight = (answers) => answers.every(({ isRight }) => isRight)
  check("doctor sees room before", /has room for/.test((await run("doctor")).said))
  check("lookups and searches are answered before", allRight([await lookup(), await search()]))
  await chat()

  const rows = Array.from({ length: 20_000 }, (_, i) => `n${i},Newcomer ${i} ${"x".repeat(200)},new${i}@example.com`)
  writeFileSync(join(max.home, "new.csv"), ["id,name,email", ...rows].join("\n"))
  fill()
  const found = [...(await several(lookup)), ...(await several(search, 5))]
  check("lookups and searches are answered on a full disk", allRight(found), found)
  const imported = await run("import", "new.csv", "--type", "people")
  check("an import exits with 7 and says why", imported.code === 7 && /its disk is full/.test(imported.said), imported)
  const after = await lookup()
  check("the import has written nothing", (await search()).isRight && after.isRight, after)
  const doctor = await run("doctor")
  check("doctor says that the disk is full", doctor.code === 1 && /The server's disk is full/.test(doctor.said), doctor)
  const suspended = await turn("suspend")
  const chatted = await chat()
  console.log(
    `     a suspension: ${suspended.status}; a conversation: ${chatted.status} ${/event: (done|error)/.exec(chatted.text)?.[0]}`
  )
  check("a suspension is done or 503", [204, 503].includes(suspended.status), suspended)
  const isTold = chatted.status === 503 || /event: error/.test(chatted.text) || /event: done/.test(chatted.text)
  check("a conversation ends with its answer or with an error", isTold, chatted)

  // Other work uses up the write-ahead log's last files.
  while (psql("SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1000000))").status === 0) fill()
  let down
  for (let count = 0; count < 100 && down?.status !== 503; count++) down = await lookup()
  check("without room for the write-ahead log Postgres is down, and requests are 503", down.status === 503, down)
  const unanswered = [...(await several(lookup)), ...(await several(search, 3))]
  check(
    "no answer is empty meanwhile",
    unanswered.every(({ isRight, status }) => isRight || status === 503),
    unanswered
  )
  rmSync(filler)
  if (psql("SELECT 1").status !== 0) {
    try {
      start()
    } catch {
      // It has recovered by itself meanwhile.
    }
  }
  let again = { isRight: false }
  for (let count = 0; count < 600 && !again.isRight; count++) {
    again = await lookup()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  check("requests are answered again by the same process", again.isRight && (await search()).isRight, again)
  const members = JSON.parse(await max.must("member", "list", "--json"))
  const isKept = members.find(({ anchorId }) => anchorId === memberId).suspended === (suspended.status === 204)
  check("an acknowledged suspension is kept", isKept, members)
  const second = await run("import", "new.csv", "--type", "people")
  check("the import succeeds with room", second.code === 0, second)
} finally {
  await max?.close()
  try {
    asPostgres("pg_ctl", "stop", "-m", "immediate", "-w", "-D", data)
  } catch {}
  execFileSync("umount", ["-l", disk])
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
