/** The target: `max serve` with the demo organization and every network-facing feature enabled. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SMTPServer } from "smtp-server"
import { root } from "../stale.mjs"

export const METRICS_TOKEN = "metrics-token-of-the-attack"
export const SMS = {
  account: `AC${"0123456789abcdef".repeat(2)}`,
  ours: "+15125550100",
  theirs: "+15125550142",
  token: "sms-token"
}

/** The webhooks that hand in messages, and their secrets. */
export const INTAKE = {
  zendesk: { path: "/v1/intake/zendesk", secret: "zendesk-secret-of-the-attack-0123456789" },
  signed: { path: "/v1/intake/signed", secret: "webhook-secret-of-the-attack-0123456789" }
}

const MAX = join(root, "dist/bin/max.js")

/** Returns a command's output; fails with its exit code and output. */
const finished = (child, what) =>
  new Promise((resolve, reject) => {
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve(said) : reject(new Error(`${what} ended with ${code}: ${said}`))))
  })

/** Starts a long-running process and waits until it prints `ready`. */
const started = (command, args, options, ready) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    const ended = new Promise((done) => child.on("close", done))
    let said = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk
        const found = ready.exec(said)
        if (found) resolve({ found, pid: child.pid, said: () => said, end: () => (child.kill("SIGTERM"), ended) })
      })
    child.on("error", reject)
    void ended.then((code) => reject(new Error(`${command} ended with ${code}: ${said}`)))
  })

/** A mail server that accepts every mail and keeps none. */
const openMail = () =>
  new Promise((resolve) => {
    const server = new SMTPServer({
      disabledCommands: ["AUTH", "STARTTLS"],
      onData: (stream, _, done) => stream.on("end", done).resume()
    })
    const listener = server.listen(0, "127.0.0.1", () =>
      resolve({ url: `smtp://127.0.0.1:${listener.address().port}`, close: () => server.close() })
    )
  })

/** `front` is the public address, which is the proxy's. */
export const openWorld = async (front) => {
  const home = mkdtempSync(join(tmpdir(), "max-attack-"))
  // As root, the embedded server runs as another user, who needs access to this folder.
  chmodSync(home, 0o755)
  const mail = await openMail()
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    MAX_STATE_DIR: join(home, "state"),
    MAX_DATA_DIR: join(home, ".max-demo"),
    MAX_HTTP_PORT: "0",
    MAX_PUBLIC_URL: front,
    MAX_ORG: "harbor",
    MAX_METRICS_TOKEN: METRICS_TOKEN,
    MAX_TWILIO_URL: `${front}/carrier`,
    MAX_SMTP_URL: mail.url,
    MAX_INTAKE_AS: "yuki.tanaka@harbor.example",
    MAX_INTAKE_ZENDESK_SECRET: INTAKE.zendesk.secret,
    MAX_INTAKE_SECRET: INTAKE.signed.secret,
    MAX_MAIL_FROM: "max@harbor.example",
    MAX_TRACE_SHARE: "1",
    // A long timeout: latency under load is not a finding of these attacks.
    MAX_LOOKUP_TIMEOUT: "20000",
    MAX_SEARCH_TIMEOUT: "30000",
    ...Object.fromEntries(
      [
        "CALLS_PER_PERSON",
        "CALLS_PER_ORGANIZATION",
        "SMS_PER_NUMBER",
        "SMS_SEGMENTS",
        "DAY_TURNS",
        "WRITES_PER_MINUTE",
        "DESTRUCTIVE_PER_HOUR",
        "EXPORTS_PER_HOUR",
        "CHANGED_ROWS_PER_DAY"
      ].map((name) => [`MAX_${name}`, "1000000"])
    )
  }
  const options = { cwd: home, env }
  const run = (command, args) =>
    finished(spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] }), `max ${args[1]}`)
  const max = (...args) => run(process.execPath, [MAX, ...args])
  const secretOf = async (who, ...scopes) =>
    /max_\S+/.exec(
      await max("token", "create", who, "--name", "attack", ...scopes.flatMap((scope) => ["--scope", scope]))
    )[0]

  await max("demo")
  writeFileSync(join(home, "token"), SMS.token)
  await max("sms", "add-number", SMS.ours, "--account", SMS.account, "--token", `file:${join(home, "token")}`)
  await max("member", "add", SMS.theirs, "--role", "rep", "--create", "--name", "Tess Texting")
  await max(
    "idp",
    "add",
    "--issuer",
    `${front}/issuer`,
    "--audience",
    "max",
    "--jwks-url",
    `${front}/keys`,
    "--role-claim",
    "roles"
  )
  const admin = await secretOf(
    "yuki.tanaka@harbor.example",
    "tools",
    "chat",
    "export",
    "changes",
    "confirm",
    "traces",
    "admin"
  )
  const other = await secretOf("ingrid.dahl@harbor.example", "tools", "chat")
  await secretOf("samir.haddad@harbor.example", "tools")
  const next = ["--org", "next"]
  await max("init", ...next, "--country", "US", "--time-zone", "UTC")
  const nell = "neighbour@next.example"
  await max("member", "add", nell, "--role", "admin", "--create", "--name", "Nell Neighbour", ...next)
  const neighbour = /max_\S+/.exec(await max("token", "create", nell, "--name", "neighbour", ...next))[0]
  const tokens = JSON.parse(await max("token", "list", "--json"))
  const members = JSON.parse(await max("member", "list", "--json"))

  const serve = [process.execPath, MAX, "serve"]
  const quoted = [...serve, "--sign-in", "yuki.tanaka@harbor.example"].map((part) => `'${part}'`).join(" ")
  const signing = await started(
    "script",
    ["-qefc", quoted, "/dev/null"],
    options,
    /sign-in#(max_[\w-]+)[^]*within five minutes/
  )
  const server = await started(serve[0], serve.slice(1), options, /Max answers at (\S+);/)
  const url = server.found[1]
  const signedIn = await fetch(`${url}/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ code: signing.found[1] })
  })
  await signing.end()

  return {
    home,
    url,
    pid: server.pid,
    admin,
    other,
    neighbour,
    max,
    /** Without competing for the processor, as on a machine of its own. */
    maxElsewhere: (...args) => run("nice", ["-n", "19", process.execPath, MAX, ...args]),
    cookie: signedIn.headers.get("set-cookie").split(";")[0],
    idOf: (name) => members.find((member) => member.name === name).anchorId,
    tokenOf: (name) => tokens.find(({ person }) => person === name).id,
    verify: () => max("audit", "verify"),
    residentBytes: () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]),
    said: server.said,
    close: async () => {
      const code = await server.end()
      mail.close()
      rmSync(home, { recursive: true, force: true })
      return code
    }
  }
}
