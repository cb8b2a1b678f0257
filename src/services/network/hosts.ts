/**
 * Which hosts a request to an address that people chose may reach: public ones by https, and those that the operator lists. Every address that a name resolves
 * to is checked, and the connection uses the checked addresses, so that a name can't lead elsewhere in between.
 */
import { lookup as resolveName } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

const blocked = new BlockList()
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3]
] as const)
  blocked.addSubnet(address, bits, "ipv4")
for (const [address, bits] of [
  // Teredo, documentation and 6to4, whose last bits can name a private address.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20]
] as const)
  blocked.addSubnet(address, bits, "ipv6")
const global6 = new BlockList()
global6.addSubnet("2000::", 3, "ipv6")

/** Whether an IP address is one of the public internet; of IPv6, only global unicast is. */
export const isPublicAddress = (address: string): boolean => {
  const version = isIP(address)
  if (version === 4) return !blocked.check(address, "ipv4")
  return version === 6 && global6.check(address, "ipv6") && !blocked.check(address, "ipv6")
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, "")

/** Whether the operator lists the host, with or without its port. */
export const isListed = ({ host, hostname }: URL, listed: ReadonlyArray<string>): boolean =>
  listed.some((one) => one.toLowerCase() === host || one.toLowerCase() === hostname)

/** Why an address may not be called; undefined when it may. What a name resolves to is checked when it is called. */
export const hostProblem = (url: URL, listed: ReadonlyArray<string>): string | undefined => {
  if (isListed(url, listed)) return undefined
  if (url.protocol !== "https:") return "It must be https, unless MAX_PRIVATE_HOSTS lists its host."
  const hostname = bare(url.hostname)
  const isPrivate =
    isIP(hostname) === 0
      ? /(^|\.)(localhost|local|internal)\.?$/.test(hostname) || !hostname.includes(".")
      : !isPublicAddress(hostname)
  return isPrivate ? "Its host is private, and MAX_PRIVATE_HOSTS doesn't list it." : undefined
}

/** The failure of a name that leads to a private address. */
class PrivateAddress extends Error {
  readonly code = "PRIVATE"
}

/** Resolves a name for a connection; fails if any of its addresses is private, unless the host is listed. */
export const guardedLookup = (url: URL, listed: ReadonlyArray<string>): LookupFunction => {
  const isAllowed = isListed(url, listed)
  return (hostname, options, callback) =>
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0)
      if (!isAllowed && addresses.some(({ address }) => !isPublicAddress(address)))
        return callback(new PrivateAddress("The name leads to a private address"), "", 0)
      const [first] = addresses
      if (options.all === true) return callback(null, addresses)
      return callback(null, first?.address ?? "", first?.family ?? 0)
    })
}
