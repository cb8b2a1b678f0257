/** Builds the pages: one HTML file each, and assets whose names contain a hash of their content. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const here = dirname(fileURLToPath(import.meta.url))

export default defineConfig({
  configFile: false,
  root: here,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    emptyOutDir: true,
    // The Content Security Policy allows no inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        chat: join(here, "chat.html"),
        account: join(here, "account.html"),
        setup: join(here, "setup.html"),
        admin: join(here, "admin.html"),
        traces: join(here, "traces.html")
      }
    }
  }
})
