/** Proxies with the published files of docs, whose names, ports and certificates are replaced by those of the test. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type AddressInfo, connect, createServer } from "node:net"
import { until } from "../support/until.ts"

export const NAME = "max.example.com"
const CERTIFICATE = `/etc/letsencrypt/live/${NAME}/fullchain.pem`
const KEY = `/etc/letsencrypt/live/${NAME}/privkey.pem`

export const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export interface Ports {
  readonly max: number
  readonly http: number
  readonly https: number
}

/** A published file, by its path in docs. */
export const published = (file: string) => readFileSync(join(import.meta.dirname, "../../docs", file), "utf8")

/** Replaces texts that must be there, each time that they occur. */
export const replaced = (text: string, changes: ReadonlyArray<readonly [from: string, to: string]>): string =>
  changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`The published file has no ${JSON.stringify(from)}`)
    return changed.replaceAll(from, to)
  }, text)

/** The configuration's file, and the program with its arguments. */
export const PROXIES = {
  nginx: (folder: string, { http, https, max }: Ports) => {
    const server = replaced(published("deploy/nginx.conf"), [
      ["listen [::]:80;", ""],
      ["listen [::]:443 ssl http2;", ""],
      ["listen 80;", `listen 127.0.0.1:${http};`],
      ["listen 443 ssl http2;", `listen 127.0.0.1:${https} ssl http2;`],
      [CERTIFICATE, join(folder, "certificate.pem")],
      [KEY, join(folder, "key.pem")],
      ["127.0.0.1:7700", `127.0.0.1:${max}`]
    ])
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `  ${name}_temp_path ${join(folder, name)};`
    )
    const main = [
      ...(process.getuid?.() === 0 ? ["user daemon;"] : []),
      "daemon off;",
      `pid ${join(folder, "pid")};`,
      "error_log stderr;",
      "events {}",
      "http {",
      "  access_log off;",
      ...folders,
      server,
      "}"
    ]
    writeFileSync(join(folder, "nginx.conf"), main.join("\n"))
    return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf")]
  },
  caddy: (folder: string, { http, https, max }: Ports) => {
    const site = replaced(published("deploy/Caddyfile"), [
      [`${NAME} {`, `${NAME} {\n\ttls ${join(folder, "certificate.pem")} ${join(folder, "key.pem")}`],
      ["127.0.0.1:7700", `127.0.0.1:${max}`]
    ])
    const options = [
      "admin off",
      "default_bind 127.0.0.1",
      `http_port ${http}`,
      `https_port ${https}`,
      `storage file_system ${join(folder, "storage")}`
    ]
    writeFileSync(join(folder, "Caddyfile"), `{\n${options.map((line) => `\t${line}`).join("\n")}\n}\n${site}`)
    return ["caddy", "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"]
  }
} as const

export type ProxyName = keyof typeof PROXIES

export const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)))
    socket.on("error", () => resolve(false))
  })

/** Starts a proxy and waits until it is ready; `end` stops it. */
export const startProgram = async (
  [program = "", ...args]: ReadonlyArray<string>,
  folder: string,
  isReady: () => Promise<boolean>
) => {
  const child: ChildProcess = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: `${process.env["PATH"]}:/usr/sbin:/usr/bin`,
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder
    }
  })
  let said = ""
  let failed: string | undefined
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  child.once("error", () => (failed = `This needs ${program}: apt-get install ${program}`))
  child.once("exit", (code) => (failed ??= `${program} ended with ${code}:\n${said}`))
  const end = async () => {
    child.kill("SIGTERM")
    if (child.pid !== undefined) await ended
  }
  try {
    await until(async () => {
      if (failed !== undefined) throw new Error(failed)
      return isReady()
    })
  } catch (error) {
    await end()
    throw error
  }
  return { end, said: () => said }
}

/** Starts a proxy with a certificate that it signed itself; `end` stops it and removes its folder. */
export const startTlsProxy = async (name: ProxyName, ports: Ports) => {
  const folder = mkdtempSync(join(tmpdir(), `max-${name}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, "storage"))
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj"].concat(
      `/CN=${NAME}`,
      ["-addext", `subjectAltName=DNS:${NAME}`, "-keyout", join(folder, "key.pem"), "-out"],
      join(folder, "certificate.pem")
    ),
    { stdio: "ignore" }
  )
  try {
    const { end, said } = await startProgram(
      PROXIES[name](folder, ports),
      folder,
      async () => (await isListening(ports.https)) && isListening(ports.http)
    )
    const certificate = readFileSync(join(folder, "certificate.pem"), "utf8")
    return { certificate, end: () => end().finally(remove), said }
  } catch (error) {
    remove()
    throw error
  }
}
