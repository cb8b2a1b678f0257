/**
 * Twilio's signature of a request (https://www.twilio.com/docs/usage/security): base64 HMAC-SHA1 by the auth token of
 * the address and the parameters, sorted by name, name and value one after another.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** A parameter that is there several times counts once with each of its values, in order. */
export const twilioSignature = (token: string, url: string, params: URLSearchParams): string => {
  const signed = [...new Set(params.keys())]
    .sort()
    .flatMap((name) => [...new Set(params.getAll(name))].sort().map((value) => name + value))
  return createHmac("sha1", token)
    .update(url + signed.join(""), "utf8")
    .digest("base64")
}

/** The address with and without its usual port: which of the two Twilio signs has changed over time. */
const spellings = (url: string): ReadonlyArray<string> => {
  const [, scheme, host, rest] = /^(https?:\/\/)([^/?#:]+|\[[^\]]+\])(?::\d+)?([/?#].*|)$/i.exec(url) ?? []
  if (scheme === undefined) return [url]
  const { port } = new URL(url)
  const usual = scheme.toLowerCase() === "https://" ? "443" : "80"
  return [`${scheme}${host}${rest}`, `${scheme}${host}:${port === "" ? usual : port}${rest}`]
}

/** Whether a request to this address was signed with the token; every spelling is compared, in constant time. */
export const isSigned = (
  token: string,
  signature: string | undefined,
  url: string,
  params: URLSearchParams
): boolean => {
  const given = Buffer.from(signature ?? "")
  let signed = false
  for (const spelling of spellings(url)) {
    const expected = Buffer.from(twilioSignature(token, spelling, params))
    if (given.length === expected.length && timingSafeEqual(given, expected)) signed = true
  }
  return signed && token !== ""
}
