/** What doctor says about sealed secrets and the sealing key of its machine. */
import { it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { nextId } from "../../../src/domain/ids.ts"
import { examine, type Installation } from "../../../src/services/operations/Doctor.ts"
import { seal } from "../../../src/services/secrets/seal.ts"
import { existingSealingKeyIn } from "../../../src/services/secrets/sealingKey.ts"
import { migratedDatabase } from "../../support/database.ts"
import { connectTo } from "../../support/newDatabase.ts"

const [OURS, THEIRS] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const NAME = "anthropic"
const SECRET = "canary-of-the-secret"

/** What doctor says about secrets. */
const said = (url: string, sealingKey: Installation["sealingKey"]) =>
  Effect.map(
    examine({
      location: { databaseUrl: Redacted.make(url), dataDir: "/nowhere", stateDir: "/nowhere" },
      source: Effect.sync(() => sourceOf({ url: Redacted.make(url) })),
      sealingKey,
      searchConnections: 1
    }),
    (findings) =>
      findings.filter(({ check }) => check === "secrets").map(({ message, status }) => `${status} ${message}`)
  )

it.live("doctor names organizations whose secrets don't open with this machine's sealing key, and never a secret", () =>
  Effect.gen(function* () {
    const url = yield* migratedDatabase
    const sql = yield* connectTo(url)
    const keep = Effect.fnUntraced(function* (slug: string, key: Uint8Array, name = NAME) {
      const id = nextId()
      yield* sql`INSERT INTO max.organizations (organization_id, slug, name, country, time_zone, epoch)
        VALUES (${id}, ${slug}, ${slug}, 'US', 'UTC', ${nextId()})`
      yield* sql`INSERT INTO max.secrets (organization_id, name, version, sealed, reference, set_by)
        VALUES (${id}, ${NAME}, 1, ${seal(key, { organizationId: id, name }, SECRET)}::bytea, NULL, 'operator'),
          (${id}, 'of a file', 1, NULL, 'anthropic', 'operator')`
    })
    expect(yield* said(url, Effect.succeed(undefined))).toEqual([])
    yield* keep("atlas", OURS)
    expect(yield* said(url, Effect.succeed(OURS))).toEqual([
      "ok 1 sealed secret opens with this machine's sealing key."
    ])
    yield* keep("harbor", THEIRS)
    yield* keep("orchard", OURS, "another name")
    const found = [
      yield* said(url, Effect.succeed(OURS)),
      yield* said(url, Effect.succeed(THEIRS)),
      yield* said(url, Effect.succeed(undefined))
    ]
    expect(found).toEqual([
      ["fail Secrets are sealed with another key than this machine's: 2 of harbor, orchard."],
      ["fail Secrets are sealed with another key than this machine's: 2 of atlas, orchard."],
      ["fail There is no sealing key on this machine, and secrets are sealed: those of atlas, harbor, orchard."]
    ])
    expect(JSON.stringify(found)).not.toContain(SECRET)

    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "max-seal-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const path = join(folder, "seal.key")
    expect(yield* said(url, existingSealingKeyIn(path))).toEqual(found[2])
    // Doctor only reads: the key is made when a secret is first sealed.
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, "too short")
    expect(yield* said(url, existingSealingKeyIn(path))).toEqual([
      expect.stringMatching(/^fail The key that seals secrets can't be read/)
    ])
    writeFileSync(path, OURS)
    expect(yield* said(url, existingSealingKeyIn(path))).toEqual(found[0])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
)
