import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")
const folder = mkdtempSync(join(tmpdir(), "max-wire-types-"))

/** A field of each wire file that pages import, removed by renaming it, and the pages that use it. */
const REMOVED = [
  ["admin/audit.ts", "actorName", ["admin/Audit.tsx"]],
  ["admin/people.ts", "lastCall", ["admin/People.tsx", "admin/Person.tsx"]],
  ["admin/policy.ts", "notInForce", ["admin/Explanation.tsx"]],
  ["admin/policy.ts", "publishedAt", ["admin/History.tsx"]],
  ["admin/changes.ts", "proposer", ["admin/Changes.tsx"]],
  ["admin/texts.ts", "openRole", ["admin/Texts.tsx"]],
  ["chat.ts", "examples", ["chat/view/Empty.tsx"]],
  ["conversations.ts", "updatedAt", ["chat/view/History.tsx"]],
  ["session.ts", "scopes", ["admin/App.tsx"]],
  ["traces.ts", "histogram", ["traces/List.tsx"]],
  ["traces.ts", "critical", ["traces/Waterfall.tsx"]],
  ["traces.ts", "places", ["traces/Detail.tsx"]],
  ["TurnEvent.ts", "message", ["chat/state/applyEvents.ts"]]
] as const

/** Everything that the pages receive, by the expression of its type. */
const RECEIVED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["session", "people", "person", "policy", "versions", "changes", "types", "explain", "explainAll", "explainRow"]
      .concat(["audit", "changeLog", "verify", "texts"])
      .map((name) => [name, `Awaited<ReturnType<typeof import("./admin/api.ts").${name}>>`])
  ),
  ...Object.fromEntries(
    ["listed", "findings", "trace", "comparison"].map((name) => [
      name,
      `NonNullable<typeof import("./traces/state.ts").${name}.value>`
    ])
  ),
  totals: `(typeof import("./traces/state.ts").totals.value)[number]`,
  welcome: `NonNullable<import("./chat/state/Chat.ts").Chat["welcome"]["value"]>`,
  conversation: `import("./chat/state/History.ts").History["conversations"]["value"][number]`,
  running: `import("./chat/state/History.ts").History["running"]["value"][number]`,
  storedTurn: `Parameters<typeof import("./chat/state/Turn.ts").fromStored>[0][number]`,
  event: `ReturnType<typeof import("./chat/state/listen.ts").listen> extends AsyncGenerator<infer E> ? E : never`
}

const compile = () =>
  spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.web.json"], {
    cwd: folder,
    encoding: "utf8"
  }).stdout

beforeAll(() => {
  for (const name of ["src/web", "src/wire", "src/domain", "tsconfig.json", "tsconfig.web.json", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe("the types of the pages", () => {
  it("come from the wire: a field that no schema has doesn't compile", () => {
    const file = join(folder, "src/web/reads.ts")
    const names = Object.keys(RECEIVED)
    const read = (name: string) => `declare const ${name}: ${RECEIVED[name]}; void ${name}.noSuchField; export {}`
    writeFileSync(file, names.map(read).join("\n"))
    const errors = compile()
    rmSync(file)
    const refused = [...errors.matchAll(/^src\/web\/reads\.ts\((\d+),\d+\): error TS2339: Property 'noSuchField'/gm)]
    expect(refused.map((match) => names[Number(match[1]) - 1])).toEqual(names)
  })

  it("follow the wire: a page doesn't compile without a field that it uses", () => {
    for (const [file, field] of REMOVED) {
      const path = join(folder, "src/wire", file)
      const before = readFileSync(path, "utf8")
      const after = before.replaceAll(new RegExp(`\\b${field}: `, "g"), `${field}Removed: `)
      expect(after, `${file} has ${field}`).not.toBe(before)
      writeFileSync(path, after)
    }
    const errors = compile()
    const missed = REMOVED.flatMap(([, field, pages]) =>
      pages.flatMap((page) =>
        errors.split("\n").some((line) => line.startsWith(`src/web/${page}(`) && line.includes(`'${field}'`))
          ? []
          : [`${page} compiles without ${field}`]
      )
    )
    expect(missed).toEqual([])
  })
})
