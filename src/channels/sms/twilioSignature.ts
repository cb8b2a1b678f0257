/**
 * Twilio's request signature (https://www.twilio.com/docs/usage/security): the base64 HMAC-SHA1, keyed with the auth
 * token, of the URL followed by each parameter's name and value, sorted by name.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** Computes the signature. A repeated parameter contributes each distinct value, sorted. */
export const twilioSignature = (token: string, url: string, params: URLSearchParams): string => {
  const signed = [...new Set(params.keys())]
    .sort()
    .flatMap((name) => [...new Set(params.getAll(name))].sort().map((value) => name + value))
  return createHmac("sha1", token)
    .update(url + signed.join(""), "utf8")
    .digest("base64")
}

/** The URL with and without its default port: Twilio has signed both forms over time. */
const urlForms = (url: string): ReadonlyArray<string> => {
  const [, scheme, host, rest] = /^(https?:\/\/)([^/?#:]+|\[[^\]]+\])(?::\d+)?([/?#].*|)$/i.exec(url) ?? []
  if (scheme === undefined) return [url]
  const { port } = new URL(url)
  const usual = scheme.toLowerCase() === "https://" ? "443" : "80"
  return [`${scheme}${host}${rest}`, `${scheme}${host}:${port === "" ? usual : port}${rest}`]
}

/** Whether the token signed a request to this URL. Compares every form of the URL, in constant time. */
export const isSigned = (
  token: string,
  signature: string | undefined,
  url: string,
  params: URLSearchParams
): boolean => {
  const given = Buffer.from(signature ?? "")
  let signed = false
  for (const form of urlForms(url)) {
    const expected = Buffer.from(twilioSignature(token, form, params))
    if (given.length === expected.length && timingSafeEqual(given, expected)) signed = true
  }
  return signed && token !== ""
}
