/** The version of this package, by its name: the library, the bundle and the sources are at different depths. */
import { createRequire } from "node:module"

const manifest = createRequire(import.meta.url)("max-agent/package.json") as { readonly version: string }

export const version = manifest.version
