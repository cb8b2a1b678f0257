import { Effect, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { startProvider } from "../support/provider.ts"

const scope = Scope.makeUnsafe()
let provider: Awaited<ReturnType<typeof startProvider>>
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

beforeAll(async () => {
  provider = await startProvider()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
  await max("init", "--org", "atlas", "--country", "US", "--time-zone", "UTC")
  await max("member", "add", "ada@atlas.com", "--role", "admin", "--create")
})

afterAll(async () => {
  await provider.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("max token", () => {
  it("prints a new token once, and lists it without its secret until it is revoked", async () => {
    const made = await max(
      "token",
      "create",
      "ada@atlas.com",
      "--name",
      "nightly",
      "--scope",
      "tools",
      "--scope",
      "chat"
    )
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^max_[a-z]+_[\w-]{43}\n$/) })
    const id = /max token revoke (\S+)/.exec(made.stderr)![1]!
    const listed = await max("token", "list")
    expect(listed.stdout).toContain("nightly")
    expect(listed.stdout).toMatch(/tools, chat .*active/)
    const json = await max("token", "list", "--json")
    for (const { stdout } of [listed, json]) expect(stdout).not.toContain(made.stdout.trim().slice(-43))
    expect(await max("token", "revoke", id)).toMatchObject({ code: 0 })
    expect((await max("token", "list")).stdout).toContain("revoked")
    expect(await max("token", "revoke", id)).toMatchObject({ code: 1, stdout: "" })
    const audit = await max("audit", "list", "--action", "token", "--json")
    expect(JSON.parse(audit.stdout).map(({ action }: { action: string }) => action)).toEqual([
      "token.revoked",
      "token.created"
    ])
    expect(audit.stdout).not.toContain(made.stdout.trim().slice(-43))
  })

  it("refuses invalid arguments in one line, and creates no token", async () => {
    const before = (await max("token", "list")).stdout
    for (const [code, ...args] of [
      [1, "stranger@atlas.com", "--name", "x"],
      [1, "not an address", "--name", "x"],
      [1, "ada@atlas.com", "--name", " "],
      [1, "ada@atlas.com", "--name", "x", "--days", "0"],
      [1, "ada@atlas.com", "--name", "x", "--days", "731"],
      [2, "ada@atlas.com"],
      [2, "ada@atlas.com", "--name", "x", "--scope", "everything"]
    ] as const) {
      const ran = await max("token", "create", ...args)
      expect([args.join(" "), ran.code, ran.stdout]).toEqual([args.join(" "), code, ""])
      expect(ran.stderr).not.toMatch(/\n\s+at /)
    }
    expect((await max("token", "list")).stdout).toBe(before)
  })
})

describe("max idp", () => {
  it("trusts a provider, discovers its keys, and binds its subjects to members", async () => {
    expect(
      await max("member", "add", "eve@atlas.com", "--role", "member", "--create", "--subject", "u-1")
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("max idp add")
    })
    const added = await max("idp", "add", "--issuer", provider.issuer, "--audience", "max", "--json")
    expect(JSON.parse(added.stdout)).toEqual({
      issuer: provider.issuer,
      audience: "max",
      jwksUrl: `${provider.issuer}/keys`
    })
    expect(await max("idp", "add", "--issuer", provider.issuer, "--audience", "max")).toMatchObject({
      code: 1,
      stdout: ""
    })
    const bound = await max("member", "add", "eve@atlas.com", "--role", "member", "--create", "--subject", "u-1")
    expect(bound.code).toBe(0)
    expect((await max("member", "list")).stdout).toContain(`${provider.issuer} u-1`)
    const taken = await max("member", "add", "ada@atlas.com", "--role", "admin", "--subject", "u-1")
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("another member") })
    expect((await max("idp", "list")).stdout).toContain("from the membership")
    expect(await max("idp", "remove", "--issuer", provider.issuer, "--audience", "max")).toMatchObject({ code: 0 })
    expect(await max("idp", "remove", "--issuer", provider.issuer, "--audience", "max")).toMatchObject({ code: 1 })
  })

  it("refuses unsafe URLs and issuers without a discovery document", async () => {
    for (const args of [
      ["--issuer", "http://login.example.com", "--audience", "max"],
      ["--issuer", "login.example.com", "--audience", "max"],
      ["--issuer", "https://user:pass@login.example.com", "--audience", "max", "--jwks-url", "https://x.example"],
      ["--issuer", "https://login.example.com", "--audience", "max", "--jwks-url", "file:///etc/passwd"],
      ["--issuer", `${provider.issuer}/other`, "--audience", "max"],
      ["--issuer", provider.issuer, "--audience", " "]
    ]) {
      const ran = await max("idp", "add", ...args)
      expect([args.join(" "), ran.code, ran.stdout]).toEqual([args.join(" "), 1, ""])
    }
    expect((await max("idp", "list")).stdout).toBe("There is no identity provider yet.\n")
  })
})

describe("max-agent/client", () => {
  it("loads no code of the server", () => {
    const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "src")
    const loaded = new Set<string>()
    const packages = new Set<string>()
    const load = (file: string) => {
      if (loaded.has(file)) return
      loaded.add(file)
      const text = readFileSync(file, "utf8")
      for (const [, clause, specifier] of text.matchAll(/^(?:import|export) (type )?[^"]*?from "([^"]+)"/gm)) {
        if (clause !== undefined) continue
        if (specifier!.startsWith(".")) load(join(dirname(file), specifier!))
        else packages.add(specifier!.split("/")[0]!)
      }
    }
    load(join(source, "channels/http/client.ts"))
    const rooms = new Set(
      [...loaded].map((file) =>
        file
          .slice(source.length + 1)
          .split("/")
          .slice(0, -1)
          .join("/")
      )
    )
    expect([...rooms].sort()).toEqual(["channels/http", "domain", "tools", "wire", "wire/admin"])
    expect([...packages]).toEqual(["effect"])
  })
})
