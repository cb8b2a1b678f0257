/** A local identity provider: its keys over HTTP, and tokens with any claims, header and signing key. */
import { exportJWK, exportSPKI, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

interface Answer {
  readonly status: number
  readonly error?: string
}

export const startProvider = async () => {
  const keys = await generateKeyPair("RS256", { extractable: true })
  const foreign = await generateKeyPair("RS256", { extractable: true })
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256", use: "sig" }
  let fetched = 0
  let failing = false
  let hasClients = true
  const presentations: Array<URLSearchParams> = []
  /** The answer to a client with a code that isn't of the provider. */
  let answerTo: (secret: string) => Answer | Promise<Answer> = () => ({ status: 400, error: "invalid_grant" })
  const server = createServer((request, response) => {
    if (failing) return response.writeHead(500).end()
    response.setHeader("content-type", "application/json")
    if (request.url === "/.well-known/openid-configuration") {
      return response.end(
        JSON.stringify({
          issuer,
          jwks_uri: `${issuer}/keys`,
          ...(hasClients ? { token_endpoint: `${issuer}/token` } : {})
        })
      )
    }
    if (request.url === "/token") {
      let body = ""
      request.on("data", (part: Buffer) => (body += part.toString()))
      return request.on("end", async () => {
        const presented = new URLSearchParams(body)
        presentations.push(presented)
        const { error, status } = await answerTo(presented.get("client_secret") ?? "")
        response.writeHead(status).end(JSON.stringify({ error }))
      })
    }
    fetched += 1
    return response.end(JSON.stringify({ keys: [jwk] }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const sign = (claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}, key = keys.privateKey) =>
    new SignJWT({ iss: issuer, aud: "max", exp: Math.floor(Date.now() / 1000) + 300, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "one", ...header })
      .sign(key)

  return {
    issuer,
    sign,
    foreignKey: foreign.privateKey,
    publicKey: await exportSPKI(keys.publicKey),
    publicJwk: jwk,
    fetched: () => fetched,
    fail: (now: boolean) => void (failing = now),
    /** What clients sent to the token endpoint. */
    presentations,
    answer: (by: typeof answerTo) => void (answerTo = by),
    /** Whether its description has a token endpoint. */
    describesClients: (now: boolean) => void (hasClients = now),
    stop: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
