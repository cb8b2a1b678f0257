/** How the pages are built: one HTML file per page, everything else under /assets with its hash in its name. */
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
    // Nothing inline: the pages' policy for content knows files of this server only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        chat: join(here, "chat.html"),
        admin: join(here, "admin.html"),
        traces: join(here, "traces.html")
      }
    }
  }
})
