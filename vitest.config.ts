import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// Vitest's reporter of failures needs this of Node 21; without it a failing run on Node 20 says nothing useful.
Map.groupBy ??= (items, key) => {
  const groups = new Map()
  let index = 0
  for (const item of items) {
    const group = key(item, index++)
    groups.set(group, [...(groups.get(group) ?? []), item])
  }
  return groups
}

/** What takes longest, longest first: begun last, one worker would go on alone. */
const LONG = [
  "channels/cli",
  "database/embedded/EmbeddedServer",
  "services/operations/Backup",
  "channels/http/process",
  "conformance/noninterference",
  "conformance/differential",
  "channels/kills",
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

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/server.ts"],
    setupFiles: ["test/support/loopback.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Two cores and one worker more, because many tests wait for processes of their own.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst }
  }
})
