/** Names that lead where a test says, also for code that resolves them by itself; other names are resolved as ever. */
import dns, { type LookupAddress, type LookupOptions } from "node:dns"
import { isIPv6 } from "node:net"
import { syncBuiltinESMExports } from "node:module"

type Resolved = (error: Error | null, addresses: string | ReadonlyArray<LookupAddress>, family?: number) => void

export const startNames = () => {
  const real = dns.lookup
  const names = new Map<string, ReadonlyArray<string>>()
  const asked: Array<string> = []
  const lookup = (name: string, options: LookupOptions, resolved: Resolved) => {
    const addresses = names.get(name)
    if (addresses === undefined) return real(name, options, resolved as never)
    asked.push(name)
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    if (found.length === 0) return resolved(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), "")
    return options.all === true ? resolved(null, found) : resolved(null, found[0]!.address, found[0]!.family)
  }
  Object.assign(dns, { lookup })
  syncBuiltinESMExports()
  return {
    asked,
    /** Without an address, the name doesn't exist. */
    leads: (name: string, ...addresses: ReadonlyArray<string>) => void names.set(name, addresses),
    stop: () => {
      Object.assign(dns, { lookup: real })
      syncBuiltinESMExports()
    }
  }
}
