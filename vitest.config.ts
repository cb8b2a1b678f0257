import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/server.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2
  }
})
