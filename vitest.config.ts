import { defineConfig } from "vitest/config"

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

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/server.ts"],
    setupFiles: ["test/support/loopback.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    maxWorkers: 2
  }
})
