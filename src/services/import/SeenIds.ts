/** The line of each id, by a 64-bit hash in a flat array: a map of the ids would hold the whole file in memory. */

interface NamedFile {
  readonly name: string
  readonly unit: string
}

export class SeenIds {
  /** Open addressing; an entry is the two halves of the hash and the line. */
  private table = new Uint32Array(3 * 4096)
  private count = 0
  /** Lines are numbered across the files. */
  private readonly files: Array<{ readonly file: NamedFile; readonly before: number }> = []
  private last = 0

  begin(file: NamedFile) {
    this.files.push({ file, before: this.last })
  }

  /** Adds an id and returns where it occurred before, if it did. */
  add(id: string, line: number): string | undefined {
    const { before, file } = this.files.at(-1)!
    this.last = before + line
    const seen = this.put(id, before + line)
    if (seen === undefined) return undefined
    const where = this.files.findLast((each) => each.before < seen)!
    const place = `${where.file.unit} ${seen - where.before}`
    return where.file === file ? place : `${place} of ${where.file.name}`
  }

  private put(id: string, line: number): number | undefined {
    if (this.count * 4 > this.table.length) this.grow()
    let [high, low] = [0xdeadbeef, 0x41c6ce57]
    for (let at = 0; at < id.length; at++) {
      const code = id.charCodeAt(at)
      high = Math.imul(high ^ code, 2654435761)
      low = Math.imul(low ^ code, 1597334677)
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
    return this.putHash(high >>> 0, low >>> 0, line)
  }

  private putHash(high: number, low: number, line: number): number | undefined {
    const { length } = this.table
    for (let at = (low % (length / 3)) * 3; ; at = (at + 3) % length) {
      const seen = this.table[at + 2]!
      if (seen === 0) {
        this.table.set([high, low, line], at)
        this.count++
        return undefined
      }
      if (this.table[at] === high && this.table[at + 1] === low) return seen
    }
  }

  private grow() {
    const old = this.table
    this.table = new Uint32Array(old.length * 2)
    this.count = 0
    for (let at = 0; at < old.length; at += 3) if (old[at + 2] !== 0) this.putHash(old[at]!, old[at + 1]!, old[at + 2]!)
  }
}
