import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Env, SETTINGS } from "../src/env.ts"

const documented = readFileSync(join(import.meta.dirname, "../docs/operate.md"), "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, name]) => /^`[A-Z_]+`$/.test(name ?? ""))
  .map((cells) => cells.slice(1, 5))

/** The configuration that these environment variables give. */
const envOf = (variables: Record<string, string>) =>
  Effect.provide(
    Env,
    Layer.provide(Layer.fresh(Env.layer), ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )

describe("settings", () => {
  it("are listed in docs/operate.md with their kind, default and meaning", () => {
    expect(documented).toEqual(
      Object.values(SETTINGS).map(({ description, fallback, kind, name }) => [
        `\`${name}\``,
        kind.accepts,
        fallback === "" ? "" : `\`${fallback}\``,
        description
      ])
    )
  })

  it("have defaults that their kinds accept", async () => {
    const values = await Effect.runPromise(Effect.provide(Env.pipe(Effect.orDie), Layer.orDie(Env.layerOf({}))))
    expect(Object.keys(values)).toEqual(Object.keys(SETTINGS))
    expect(values).toMatchObject({ databaseUrl: undefined, searchConnections: 8, traceShare: 0.1, logLevel: "warn" })
  })

  it.each([
    "postgres://ada@one:5432,two:5432/max",
    "postgres://ada@one,two/max",
    "postgres://ada@/max?host=one,two",
    "postgres://ada@one/max?port=5432,5433",
    "postgres://ada@one/max?target_session_attrs=read-write"
  ])("refuse several servers in DATABASE_URL, and name the way to follow a primary: %s", async (url) => {
    const error = await Effect.runPromise(Effect.flip(envOf({ DATABASE_URL: url })))
    expect(error).toMatchObject({
      _tag: "ConfigurationError",
      message: expect.stringMatching(/^DATABASE_URL: expected one address .*proxy/)
    })
  })

  it("allow a comma in the password and the database of DATABASE_URL", async () => {
    const url = "postgres://ada:a,b@one/m,x"
    const { databaseUrl } = await Effect.runPromise(envOf({ DATABASE_URL: url }))
    expect(databaseUrl && Redacted.value(databaseUrl)).toBe(url)
  })
})
