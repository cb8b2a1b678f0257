/**
 * The proxy between the attacker and the server; it also plays the external services that the server calls. It signs
 * altered requests, varies their source address, cuts endless streams and counts responses.
 */
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { createHmac, randomBytes } from "node:crypto"
import { createServer, request as send } from "node:http"
import { INTAKE, SMS } from "./world.mjs"

/** The time limit for reading a stream, in milliseconds. */
const LISTENED = 100

const randomAddress = () => `10.${[...randomBytes(3)].join(".")}`

/** Signs the altered parameters by Twilio's algorithm. */
const signatureOf = (url, form) => {
  const params = new URLSearchParams(form)
  const signed = [...new Set(params.keys())]
    .sort()
    .flatMap((name) => [...new Set(params.getAll(name))].sort().map((value) => name + value))
  return createHmac("sha1", SMS.token)
    .update(url + signed.join(""), "utf8")
    .digest("base64")
}

const hmac = (secret, signed) => createHmac("sha256", secret).update(signed, "utf8").digest("base64")

/** The headers with which the sender of a webhook signs a body. */
const SIGNED = {
  [INTAKE.zendesk.path]: (body) => {
    const time = new Date().toISOString()
    return {
      "x-zendesk-webhook-signature-timestamp": time,
      "x-zendesk-webhook-signature": hmac(INTAKE.zendesk.secret, time + body)
    }
  },
  [INTAKE.signed.path]: (body) => {
    const time = String(Math.floor(Date.now() / 1000))
    return {
      "webhook-id": "attack",
      "webhook-timestamp": time,
      "webhook-signature": `v1,${hmac(INTAKE.signed.secret, `attack.${time}.${body}`)}`
    }
  }
}

export const openProxy = async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256")
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: "ES256", use: "sig", kid: "attack" }] }
  /** By name of a request: the number of requests and of responses per status. */
  const counts = new Map()
  const proxy = { url: "", target: "", counts, before: new Map(), broken: [], close: () => server.close() }

  const signedClaims = (claims) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: "attack" })
      .setIssuer(`${proxy.url}/issuer`)
      .setAudience("max")
      .setExpirationTime("5 minutes")
      .sign(privateKey)

  /** The request to forward. */
  const headersOf = async (came, path, body) => {
    const headers = { host: new URL(proxy.url).host, "x-forwarded-for": randomAddress() }
    const claims = {}
    for (const [name, value] of Object.entries(came)) {
      if (name.startsWith("x-send-")) headers[name.slice(7)] = value
      else if (name.startsWith("x-claim-")) claims[name.slice(8)] = name === "x-claim-roles" ? [value] : value
      else if (["content-type", "authorization", "origin", "cookie"].includes(name)) headers[name] ??= value
    }
    if (Object.keys(claims).length > 0)
      headers.authorization = `Bearer ${await signedClaims({ email_verified: true, ...claims })}`
    if (body.length > 0) headers["content-length"] = body.length
    if (path.startsWith("/v1/sms/"))
      headers["x-twilio-signature"] ??= signatureOf(`${proxy.url}${path}`, body.toString())
    return { ...SIGNED[path]?.(body.toString()), ...headers }
  }

  const forward = async (request, response, came) => {
    const name = request.headers["x-attack"] ?? "other"
    await proxy.before.get(name)?.()
    // Replaces placeholders that need a fresh value for every request.
    const body = Buffer.from(came.toString().replaceAll("FRESH", randomBytes(16).toString("hex")))
    const headers = await headersOf(request.headers, request.url, body)
    const onward = send(new URL(proxy.target), { method: request.method, path: request.url, headers, agent: false })
    onward.on("response", (answer) => {
      const statuses = counts.get(name) ?? {}
      statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1
      counts.set(name, statuses)
      if (answer.statusCode >= 500)
        proxy.broken.push(`${answer.statusCode} ${request.method} ${request.url} ${body.toString().slice(0, 2000)}`)
      response.writeHead(answer.statusCode, { "content-type": answer.headers["content-type"] ?? "text/plain" })
      answer.on("data", (chunk) => response.write(chunk))
      answer.on("error", () => response.end())
      answer.on("end", () => response.end())
      if (/event-stream/.test(answer.headers["content-type"]) && request.method === "GET")
        setTimeout(() => (response.end(), onward.destroy()), LISTENED)
    })
    onward.on("error", () => response.headersSent || response.writeHead(502).end())
    onward.end(body)
  }

  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const json = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    if (request.url === "/keys") return json(200, keys)
    if (request.url.startsWith("/carrier/"))
      return request.method === "POST"
        ? json(201, { sid: `SM${randomBytes(16).toString("hex")}`, status: "queued" })
        : json(200, { messages: [] })
    // Skips URLs and headers that no client can send.
    await forward(request, response, Buffer.concat(chunks)).catch(
      () => response.headersSent || response.writeHead(400).end()
    )
  })
  server.on("clientError", (_, socket) => socket.destroy())
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  proxy.url = `http://127.0.0.1:${server.address().port}`
  return proxy
}
