import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Env, SETTINGS } from "../src/env.ts"

const documented = readFileSync(join(import.meta.dirname, "../docs/operate.md"), "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, name]) => /^`[A-Z_]+`$/.test(name ?? ""))
  .map((cells) => cells.slice(1, 5))

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
})
