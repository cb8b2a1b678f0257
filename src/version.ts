/** The package's version and folder, resolved by name because the library, the bundle and the sources are at different depths. */
import { createRequire } from "node:module"
import { dirname } from "node:path"

const require = createRequire(import.meta.url)
const manifest = require("max-agent/package.json") as { readonly version: string }

export const version = manifest.version

export const packageFolder = dirname(require.resolve("max-agent/package.json"))
