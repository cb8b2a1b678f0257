/**
 * Max behind nginx and behind Caddy, over TLS, with the files of docs/deploy. `npm run prove -- proxies` runs it; it needs Debian's
 * packages nginx and caddy.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import { connect as connectHttp2 } from "node:http2"
import { request as httpsRequest, type RequestOptions } from "node:https"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { administered } from "../support/administered.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, startServer, type TestServer } from "../support/http.ts"
import { memberWithToken } from "../support/members.ts"
import { finds, type MessagesServer, says, startMessages } from "../support/messages.ts"
import { until } from "../support/until.ts"
import { freePort, NAME, type Ports, PROXIES, type ProxyName, startTlsProxy } from "./startProxy.ts"

const MEBIBYTE = 1024 * 1024
const FAILURES = 300

describe.each(Object.keys(PROXIES) as ReadonlyArray<ProxyName>)("Max behind %s", (name) => {
  const scope = Scope.makeUnsafe()
  let ports: Ports
  let proxy: Awaited<ReturnType<typeof startTlsProxy>>
  let model: MessagesServer
  let server: TestServer
  let origin: string
  let harbor: Effect.Success<ReturnType<typeof administered>>
  let chat: string

  beforeAll(async () => {
    ports = { max: await freePort(), http: await freePort(), https: await freePort() }
    origin = `https://${NAME}:${ports.https}`
    model = await startMessages()
    server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
      httpPort: ports.max,
      publicUrl: origin,
      anthropicUrl: model.url,
      anthropicKey: Redacted.make("a key of the scripted model")
    })
    harbor = await server.run(administered({ slug: "harbor" }))
    chat = (await server.run(memberWithToken(harbor.organization, "kim@harbor.example", ["member"], ["chat"]))).token
    proxy = await startTlsProxy(name, ports)
  })
  afterAll(async () => {
    await proxy?.end()
    await server?.stop()
    await model?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  interface Told {
    readonly status: number
    readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
    readonly text: string
  }

  /** Sends one request through the proxy; `onPart` gets each part of the answer as it arrives. */
  const tell = (
    path: string,
    { body, onPart, ...options }: RequestOptions & { body?: string | Buffer; onPart?: (text: string) => void } = {}
  ) =>
    new Promise<Told>((resolve, reject) => {
      const sent = httpsRequest({
        host: "127.0.0.1",
        port: ports.https,
        servername: NAME,
        ca: proxy.certificate,
        agent: false,
        path,
        method: body === undefined ? "GET" : "POST",
        ...options,
        headers: {
          host: `${NAME}:${ports.https}`,
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          ...options.headers
        }
      })
      sent.on("response", (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString()
          onPart?.(text)
        })
        response.on("error", reject)
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }))
      })
      sent.on("error", reject)
      sent.end(body)
    })

  const JSON_BODY = { "content-type": "application/json" }
  const link = () =>
    server.run(
      Effect.flatMap(Credentials, (credentials) => credentials.createLink(harbor.organization, harbor.idOf("lena")))
    )

  it("is healthy, and leads http to https", async () => {
    expect((await tell("/healthz")).status).toBe(200)
    await until(async () => (await tell("/readyz")).status === 200)
    const plain = await ask(`http://127.0.0.1:${ports.http}`, "/inbox", { headers: { host: NAME } })
    expect([301, 308]).toContain(plain.status)
    expect(plain.headers["location"]).toMatch(new RegExp(`^https://${NAME}(:${ports.https})?/inbox$`))
  })

  it("signs a person in by a cookie that browsers send over TLS and to this name only", async () => {
    const { secret } = await link()
    const signedIn = await tell("/v1/session", {
      body: JSON.stringify({ code: secret }),
      headers: { ...JSON_BODY, origin }
    })
    expect([signedIn.status, signedIn.text]).toEqual([204, ""])
    const [cookie] = signedIn.headers["set-cookie"] as ReadonlyArray<string>
    for (const part of [/^__Host-max=/, /; Secure/, /; HttpOnly/, /; SameSite=Strict/, /; Path=\//])
      expect(cookie).toMatch(part)
    expect(cookie).not.toMatch(/Domain/)
    expect(signedIn.headers["strict-transport-security"]).toBe("max-age=31536000")
    const session = await tell("/v1/session", { headers: { cookie: cookie!.split(";")[0]!, origin } })
    expect(session.status).toBe(200)
    expect(session.text).toContain("harbor")
    // The page, with the policy of Max.
    const page = await tell("/")
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'")
  })

  it("answers HTTP/2, as browsers speak it, with the same session", async () => {
    const { secret } = await link()
    const client = connectHttp2(`https://127.0.0.1:${ports.https}`, { servername: NAME, ca: proxy.certificate })
    const body = JSON.stringify({ code: secret })
    const answered = await new Promise<Record<string, unknown>>((resolve, reject) => {
      client.on("error", reject)
      const stream = client.request({
        ":method": "POST",
        ":path": "/v1/session",
        ":authority": `${NAME}:${ports.https}`,
        origin,
        ...JSON_BODY
      })
      stream.on("response", resolve)
      stream.on("error", reject)
      stream.resume()
      stream.end(body)
    })
    client.close()
    expect(answered[":status"]).toBe(204)
    expect(String(answered["set-cookie"])).toMatch(/^__Host-max=/)
  })

  it("passes each event of an answer on before the next one exists", async () => {
    let seen = ""
    let asked = 0
    // The model's second reply waits until the event of its first one has reached the client.
    model.reset(async () => {
      if (asked++ === 0) return finds("people", [["name", "ilike", "olga"]])
      await until(() => seen.includes("event: tool"))
      return says("Olga Offen is a customer.")
    })
    const answered = await tell("/v1/chat", {
      body: JSON.stringify({ text: "Who is Olga Offen?" }),
      headers: { ...JSON_BODY, authorization: `Bearer ${chat}` },
      onPart: (text) => (seen = text)
    })
    expect(answered.status).toBe(200)
    expect(answered.headers["content-type"]).toMatch(/^text\/event-stream/)
    expect(asked).toBe(2)
    expect(answered.text).toContain("event: done")
  })

  it("counts invalid credentials by the client's address, not by the one that the client claims", async () => {
    const guess = (localAddress: string, more: Record<string, string> = {}) =>
      tell("/v1/session", { localAddress, headers: { authorization: `Bearer max_${"a".repeat(43)}`, ...more } })
    for (let sent = 0; sent < FAILURES; sent++) expect((await guess("127.0.0.2")).status).toBe(401)
    expect((await guess("127.0.0.2")).status).toBe(429)
    expect((await guess("127.0.0.2", { "x-forwarded-for": "203.0.113.7" })).status).toBe(429)
    expect((await guess("127.0.0.3")).status).toBe(401)
  })

  it("takes an imported file of up to 32 MiB, and no larger body", async () => {
    const header = "id,Full Name,E-mail\n"
    const row = "p1,Nia Okoro,nia@harbor.example\n"
    const upload = async (bytes: number) => {
      const form = new FormData()
      form.set("options", "{}")
      form.set("file", new Blob([header, row.repeat(Math.ceil(bytes / row.length))]), "people.csv")
      const request = new Request(origin, { method: "POST", body: form })
      return tell("/v1/admin/import/proposal", {
        body: Buffer.from(await request.arrayBuffer()),
        headers: {
          "content-type": request.headers.get("content-type")!,
          authorization: `Bearer ${harbor.admin.secret}`
        }
      })
    }
    expect(await upload(31 * MEBIBYTE)).toMatchObject({ status: 200 })
    // Refused by its announced length. A connection that is closed while the body is sent is a refusal, too.
    const refused = await upload(40 * MEBIBYTE).catch((error: NodeJS.ErrnoException) => error.code)
    expect(typeof refused === "object" ? refused.status : refused).toSatisfy(
      (what) => what === 413 || what === "EPIPE" || what === "ECONNRESET"
    )
    const question = await tell("/v1/chat", {
      body: JSON.stringify({ text: "x".repeat(100_000) }),
      headers: { ...JSON_BODY, authorization: `Bearer ${chat}` }
    })
    expect([question.status, question.text]).toEqual([
      413,
      expect.stringContaining("urn:max:problem:content-too-large")
    ])
  })

  it("has no websockets, and answers for no other name", async () => {
    const upgraded = await tell("/healthz", {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
      }
    })
    expect(upgraded.status).toBe(200)
    const foreign = await tell("/v1/session", { headers: { host: "elsewhere.example" } })
    expect(foreign.text).not.toContain("harbor")
    // nginx passes it on, and Max refuses it; Caddy has no such site, and answers nothing.
    const refusal = { nginx: "421 urn:max:problem:misdirected-request", caddy: "200 undefined" }[name]
    expect(`${foreign.status} ${/urn:max:[a-z:-]+/.exec(foreign.text)?.[0]}`).toBe(refusal)
  })
})
