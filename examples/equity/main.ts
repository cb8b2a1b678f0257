/**
 * A platform for cap tables with the 25 tools of an assistant for it, without one line of code for a tool: nine types, a policy, and
 * what Max has for every type. Each sentence is asked in basic mode and checked, so this program ends with an error if one goes
 * another way.
 */
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { TOOLS } from "./tools.js"

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}
const port = await freePort()
const env = {
  ...process.env,
  MAX_ORG: "equity",
  MAX_PROVIDER: "basic",
  MAX_HTTP_PORT: port,
  MAX_WRITES_PER_MINUTE: "100",
  // All sentences within a minute: a person's default is 30 calls, and a figure costs five.
  MAX_CALLS_PER_PERSON: "500"
}
const run = (...args: ReadonlyArray<string>) => {
  const done = spawnSync("npx", ["--no-install", "max", ...args], { env, encoding: "utf8" })
  assert.equal(done.status, 0, `max ${args.join(" ")}\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}
const asset = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** What the columns of each file refer to. */
const FILES: ReadonlyArray<readonly [type: string, ...references: ReadonlyArray<string>]> = [
  ["people"],
  ["organizations"],
  ["securities", "organization=organization:organizations.name"],
  ["shareholdings", "holder=holder:people.email", "security=security:securities.name"],
  ["folders", "organization=organization:organizations.name"],
  ["documents", "folder=folder:folders.name"],
  ["plans", "organization=organization:organizations.name"],
  ["grants", "plan=plan:plans.name", "holder=holder:people.email"],
  ["roles", "organization=organization:organizations.name"]
]

run("migrate")
run("init", "--org", "equity", "--name", "Equity", "--country", "US", "--time-zone", "America/New_York")
for (const [type, ...references] of FILES)
  run("import", asset(`data/${type}.csv`), "--type", type, "--create", ...references.flatMap((one) => ["--map", one]))
run("policy", "publish", asset("policy.json"))
const tokenOf = (email: string, role: string) => {
  run("member", "add", email, "--role", role)
  const made = run("token", "create", email, "--name", "example", "--scope", "chat,changes,confirm", "--json")
  return (JSON.parse(made) as { token: string }).token
}
const admin = tokenOf("olivia@equity.example", "admin")
const viewer = tokenOf("viktor@equity.example", "viewer")

const max = spawn("npx", ["--no-install", "max", "serve"], {
  env,
  stdio: ["ignore", "ignore", "inherit"],
  detached: true
})
const url = `http://127.0.0.1:${port}`

const call = (token: string, path: string, body?: unknown) =>
  fetch(`${url}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
  })

interface Draft {
  readonly changeId: string
  readonly digest: string
  readonly rows: number
  readonly level: string
  readonly steps: ReadonlyArray<{ readonly actionId: string }>
}
interface Said {
  readonly text: string
  readonly drafts: ReadonlyArray<Draft>
}
const say = async (token: string, text: string): Promise<Said> => {
  const stream = await (await call(token, "/v1/chat", { text })).text()
  const events = stream.split("\n").flatMap((line) => (line.startsWith("data:") ? [JSON.parse(line.slice(5))] : []))
  const done = events.find((event) => event._tag === "done")
  assert.ok(done, `${text}\n${stream}`)
  return { text: done.text, drafts: done.drafts ?? [] }
}
/** The answers to a draft's confirmations, each sent when it is due. */
const confirm = async ({ changeId, digest, rows }: Draft) => {
  const answers: Array<string> = []
  for (;;) {
    const body = answers.length === 0 ? { digest } : { digest, rows }
    const answer = (await (await call(admin, `/v1/changes/${changeId}/confirm`, body)).json()) as {
      readonly _tag?: string
      readonly type?: string
      readonly receipt?: { readonly message: string }
    }
    if (answer._tag === undefined) {
      assert.match(String(answer.type), /not-yet/, JSON.stringify(answer))
      await new Promise((resolve) => setTimeout(resolve, 200))
      continue
    }
    answers.push(answer._tag)
    if (answer._tag === "Applied") return { answers, message: answer.receipt!.message }
    assert.equal(answer._tag, "Again", JSON.stringify(answer))
  }
}

try {
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false
    )
    if (ready) break
    assert.ok(tries < 300, "max serve didn't start")
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  for (const { action, answer, confirmations, sentence, tool } of TOOLS) {
    const said = await say(admin, sentence)
    if (action === undefined) {
      assert.deepEqual(said.drafts, [], tool)
      assert.ok(said.text.includes(answer), `${tool}: ${said.text}`)
      console.log(`${tool}: › ${sentence}\n  ${said.text.split("\n").join("\n  ")}`)
      continue
    }
    // What a viewer may not do is neither listed nor drafted.
    assert.deepEqual((await say(viewer, sentence)).drafts, [], `${tool} as a viewer`)
    const [draft, ...others] = said.drafts
    assert.ok(draft !== undefined && others.length === 0, `${tool}: ${said.text}`)
    assert.deepEqual(
      draft.steps.map(({ actionId }) => actionId),
      [action],
      tool
    )
    const { answers, message } = await confirm(draft)
    assert.equal(answers.length, confirmations, tool)
    assert.ok(message.includes(answer), `${tool}: ${message}`)
    console.log(`${tool}: › ${sentence}\n  ${"✓".repeat(confirmations)} ${message}`)
  }
  const open = (await (await call(viewer, "/v1/actions")).json()) as { readonly actions: ReadonlyArray<unknown> }
  assert.deepEqual(open.actions, [])
  console.log(`${TOOLS.length} tools`)
} finally {
  process.kill(-max.pid!, "SIGTERM")
  await once(max, "exit")
}
