import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// Vitest's failure reporter needs Map.groupBy (Node 21); without it a failing run on Node 20 prints nothing useful.
Map.groupBy ??= (items, key) => {
  const groups = new Map()
  let index = 0
  for (const item of items) {
    const group = key(item, index++)
    groups.set(group, [...(groups.get(group) ?? []), item])
  }
  return groups
}

/** The slowest files, slowest first: if they started last, one worker would finish alone. */
const LONG = [
  "channels/cli",
  "channels/changes",
  "database/embedded/EmbeddedServer",
  "database/embedded/folders",
  "services/operations/Backup",
  "channels/http/process",
  "conformance/noninterference",
  "conformance/differential",
  "channels/kills",
  "agents/basic/office",
  "agents/basic/everyday",
  "services/mapping/relations",
  "web/setup",
  "channels/import-killed",
  "channels/matrix",
  "channels/sms/kills",
  "database/upgrade",
  "web/chat",
  "channels/workbench",
  "database/plans",
  "conformance/queries"
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return found < 0 ? LONG.length : found
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** These need nginx, Caddy and haproxy: `npm run prove -- proxies` runs them, and nothing else. */
const PROXIES = "test/proxies/**/*.test.ts"
const isProxies = process.env["MAX_TEST_PROXIES"] === "on"

/** These measure their process, or set what it reads once; each has a process of its own. All others share the loaded modules. */
const ALONE = [
  "test/agents/linear.test.ts",
  "test/conformance/memory.test.ts",
  "test/database/embedded/EmbeddedServer.test.ts",
  "test/database/embedded/binaries.test.ts",
  "test/database/embedded/folders.test.ts",
  "test/database/embedded/recovery.test.ts",
  "test/library/max.test.ts",
  "test/observability/EventLoop.test.ts",
  "test/services/linear.test.ts"
]

/** The configuration for these files: those that share a process, and those that don't. */
export const configOf = (together: ReadonlyArray<string>, alone: ReadonlyArray<string>) => {
  const project = (name: string, include: ReadonlyArray<string>, exclude: ReadonlyArray<string>) => ({
    extends: true as const,
    test: { name, isolate: name === "alone", include: [...include], exclude: [...exclude] }
  })
  return defineConfig({
    test: {
      globalSetup: ["test/support/server.ts"],
      setupFiles: ["test/support/loopback.ts"],
      testTimeout: process.env["MAX_TEST_LONG"] === "on" ? 7_200_000 : 900_000,
      hookTimeout: 900_000,
      // The default of one second fails on a busy machine.
      expect: { poll: { timeout: 60_000 } },
      // One worker more than cores, because many tests wait for child processes.
      maxWorkers: 3,
      sequence: { sequencer: LongestFirst },
      projects: [
        project("together", together, isProxies ? [] : [PROXIES, ...ALONE]),
        project(
          "alone",
          alone.filter((file) => ALONE.includes(file)),
          []
        )
      ]
    }
  })
}

export default isProxies ? configOf([PROXIES], []) : configOf(["test/**/*.test.ts"], ALONE)
