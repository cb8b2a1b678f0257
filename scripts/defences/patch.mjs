// Removes a defence by exact text replacement. Each text must occur exactly once in its file: a patch that doesn't apply
// would leave the defence in place, and its test would prove nothing.
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The files that the patches change, before and after, by path. Throws if a patch doesn't apply. */
export const patched = (folder, patches) => {
  const files = new Map()
  for (const [name, search, replacement] of patches) {
    const path = join(folder, name)
    const { before, after } = files.get(path) ?? both(readFileSync(path, "utf8"))
    const found = after.split(search).length - 1
    if (found === 0) throw new Error(`${name} no longer contains: ${search}`)
    if (found > 1) throw new Error(`${name} contains more than once: ${search}`)
    files.set(path, { before, after: after.replace(search, () => replacement) })
  }
  return files
}

const both = (text) => ({ before: text, after: text })

/** Whether the file contains a test with this name. */
const isNamed = (folder, [file, name]) => readFileSync(join(folder, file), "utf8").includes(name)

/** The reasons why an entry no longer applies. */
export const faultsOf = (folder, { name, patches, test }) => {
  const faults = isNamed(folder, test) ? [] : [`${name}: ${test[0]} has no test named: ${test[1]}`]
  try {
    patched(folder, patches)
    return faults
  } catch (error) {
    return [...faults, `${name}: ${error.message}`]
  }
}
