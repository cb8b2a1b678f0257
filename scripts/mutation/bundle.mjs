// Bundles the tests and the product for mutation testing. Each test file loads on demand with fresh modules for every
// mutant; packages stay external and load once. Runs in Stryker's sandbox; MUTATION_TESTS names the test files.
import { build } from "esbuild"
import { readFileSync, symlinkSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))

// The pages that the server serves are built outside of the sandbox.
symlinkSync(process.env.MUTATION_DIST, "dist")

const files = process.env.MUTATION_TESTS.split(",").map(
  (file) => `${JSON.stringify(file)}: () => { require(${JSON.stringify(resolve(file))}); return take() }`
)

/** In a bundle, each file keeps its own place, beside which it finds its fixtures. */
const places = {
  name: "places",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8")
      if (!source.includes("import.meta.")) return
      const contents = source
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: "ts" }
    })
}

await build({
  stdin: {
    contents: `import { take } from "vitest"\nmodule.exports = { ${files.join(",\n")} }`,
    resolveDir: process.cwd()
  },
  outfile: "mutation.bundle.cjs",
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  alias: { vitest: join(here, "vitest.mjs"), "@effect/vitest": join(here, "effect-vitest.mjs") },
  packages: "external",
  // A program that is evaluated by node:vm can't import: imports become calls of require.
  supported: { "dynamic-import": false },
  plugins: [places],
  logLevel: "warning"
})
