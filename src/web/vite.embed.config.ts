/** Builds the script for other sites: one file that contains its styles as a string. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig, type Plugin } from "vite"

const here = dirname(fileURLToPath(import.meta.url))

/** Replaces `__STYLES__` in the script by the bundle's CSS, and drops the CSS file. */
const inlineStyles: Plugin = {
  name: "inline-styles",
  enforce: "post",
  generateBundle: (_, bundle) => {
    let styles = ""
    for (const [name, file] of Object.entries(bundle)) {
      if (file.type !== "asset" || !name.endsWith(".css")) continue
      styles += String(file.source)
      delete bundle[name]
    }
    for (const file of Object.values(bundle)) {
      if (file.type === "chunk") file.code = file.code.replace("__STYLES__", () => JSON.stringify(styles))
    }
  }
}

export default defineConfig({
  configFile: false,
  root: here,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [inlineStyles],
  build: {
    target: "es2022",
    emptyOutDir: false,
    cssCodeSplit: false,
    lib: { entry: join(here, "embed/main.tsx"), formats: ["iife"], name: "MaxEmbed", fileName: () => "embed.js" }
  }
})
