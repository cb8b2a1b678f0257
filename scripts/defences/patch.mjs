// How a defence is taken out: exact texts, each exactly once in its file as it is then. What doesn't fit any more is a
// fault, because a defence that stays would pass for one that nobody misses.
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The texts of the files that the patches change, as they were and as they become, by path. Throws where one doesn't fit. */
export const patched = (folder, patches) => {
  const files = new Map()
  for (const [name, search, replacement] of patches) {
    const path = join(folder, name)
    const { before, after } = files.get(path) ?? both(readFileSync(path, "utf8"))
    const found = after.split(search).length - 1
    if (found === 0) throw new Error(`${name} has no longer: ${search}`)
    if (found > 1) throw new Error(`${name} has more than once: ${search}`)
    files.set(path, { before, after: after.replace(search, () => replacement) })
  }
  return files
}

const both = (text) => ({ before: text, after: text })

/** The name that a test is chosen by, as its file has it. */
const isNamed = (folder, [file, name]) => readFileSync(join(folder, file), "utf8").includes(name)

/** What no longer fits of an entry. */
export const faultsOf = (folder, { name, patches, test }) => {
  const faults = isNamed(folder, test) ? [] : [`${name}: ${test[0]} has no test called: ${test[1]}`]
  try {
    patched(folder, patches)
    return faults
  } catch (error) {
    return [...faults, `${name}: ${error.message}`]
  }
}
