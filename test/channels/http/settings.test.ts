import { describe, expect, it } from "vitest"
import { MAX_BODY_BYTES } from "../../../src/channels/http/limits.ts"
import { HttpSettings } from "../../../src/channels/http/settings.ts"

const settings = (more: Partial<Parameters<typeof HttpSettings.make>[0]> = {}) =>
  HttpSettings.make({ allowedHosts: [], allowedOrigins: [], sessionHours: 2, ...more })
const OWN = "https://max.example.com"
const OTHER = "https://shop.example.com"
const own = settings({ publicUrl: OWN, allowedHosts: ["Max.Internal:8080"], allowedOrigins: [OTHER, OWN] })

describe("the accepted hosts", () => {
  it("are those of loopback, the public URL and the settings, in any case", () => {
    for (const host of ["localhost", "LOCALHOST:7700", "127.0.0.1", "127.0.0.1:1", "[::1]:65535", "max.example.com"])
      expect(own.isHost(host), host).toBe(true)
    expect(own.isHost("MAX.internal:8080")).toBe(true)
    for (const host of [
      undefined,
      "",
      "evil.localhost",
      "localhost.evil.com",
      "evil-127.0.0.1",
      "127x0.0.1",
      "127.0x0.1",
      "127.0.0x1",
      "localhost:123456",
      "localhost:",
      "localhost:7a",
      "max.internal",
      "max.example.com:8443",
      "Stryker was here"
    ])
      expect(own.isHost(host), String(host)).toBe(false)
    for (const host of ["max.example.com", "Stryker was here"]) expect(settings().isHost(host), host).toBe(false)
  })
})

describe("the accepted origins", () => {
  it("are the public URL's, those of the settings, and loopback of the same port", () => {
    expect(own.isOrigin(OWN, "max.example.com")).toBe(true)
    expect(own.isOrigin(OTHER, undefined)).toBe(true)
    expect(own.isOrigin("http://localhost:7700", "localhost:7700")).toBe(true)
    expect(own.isOrigin("http://localhost:7701", "localhost:7700")).toBe(false)
    expect(own.isOrigin("https://localhost:7700", "localhost:7700")).toBe(false)
    expect(own.isOrigin("http://max.example.com", "max.example.com")).toBe(false)
    expect(own.isOrigin("http://evil.com", "evil.com")).toBe(false)
    expect(own.isOrigin("http://undefined", undefined)).toBe(false)
    expect(settings({ publicUrl: OWN }).isOrigin(OWN, "max.example.com")).toBe(true)
    expect(settings().isOrigin(OWN, "max.example.com")).toBe(false)
    expect(settings().isOrigin("Stryker was here", "localhost")).toBe(false)
  })

  it("may use the session cookie only if they are the server's own", () => {
    expect(own.isOwnOrigin(OWN, "max.example.com")).toBe(true)
    expect(own.isOwnOrigin(OTHER, "max.example.com")).toBe(false)
    expect(own.isOwnOrigin(OTHER, "shop.example.com")).toBe(false)
    expect(own.isOwnOrigin("http://localhost:7700", "localhost:7700")).toBe(true)
    expect(own.isOwnOrigin("http://evil.com", "evil.com")).toBe(false)
  })

  it("include https of the same host without a public URL, where a proxy may serve it, if they are allowed", () => {
    const proxied = settings({ allowedOrigins: [OTHER] })
    expect(proxied.isOwnOrigin(OTHER, "shop.example.com")).toBe(true)
    expect(proxied.isOwnOrigin(OTHER, "localhost")).toBe(false)
    expect(proxied.isOwnOrigin("https://evil.com", "evil.com")).toBe(false)
  })

  it("get CORS headers only if they are configured and not the server's own", () => {
    expect(own.isCrossOrigin(OTHER, "max.example.com")).toBe(true)
    expect(own.isCrossOrigin(OWN, "max.example.com")).toBe(false)
    expect(own.isCrossOrigin("http://evil.com", "max.example.com")).toBe(false)
    expect(own.isCrossOrigin("http://localhost:7700", "localhost:7700")).toBe(false)
    const proxied = settings({ allowedOrigins: [OTHER] })
    expect(proxied.isCrossOrigin(OTHER, "shop.example.com")).toBe(false)
    expect(proxied.isCrossOrigin(OTHER, "localhost")).toBe(true)
  })
})

describe("the session cookie", () => {
  it("is bound to the host by its name over https, and lasts as long as a session", () => {
    expect([own.secure, own.cookie, own.sessionSeconds]).toEqual([true, "__Host-max", 7200])
    for (const plain of [settings(), settings({ publicUrl: "http://max.example.com" })])
      expect([plain.secure, plain.cookie]).toEqual([false, "max_session"])
  })
})

it("bodies have at most 64 KiB", () => {
  expect(MAX_BODY_BYTES).toBe(65_536)
})
