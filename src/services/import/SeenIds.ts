/** Where each id stands in a file, as 64 bits of hash and the line: a map of the ids themselves would hold the file. */

interface Named {
  readonly name: string
  readonly unit: string
}

export class SeenIds {
  private slots = new Uint32Array(3 * 4096)
  private count = 0
  /** Lines are counted on from file to file. */
  private readonly files: Array<{ readonly file: Named; readonly before: number }> = []
  private last = 0

  begin(file: Named) {
    this.files.push({ file, before: this.last })
  }

  /** Notes an id and returns where it was seen before, if it was. */
  see(id: string, line: number): string | undefined {
    const { before, file } = this.files.at(-1)!
    this.last = before + line
    const seen = this.note(id, before + line)
    if (seen === undefined) return undefined
    const where = this.files.findLast((one) => one.before < seen)!
    const place = `${where.file.unit} ${seen - where.before}`
    return where.file === file ? place : `${place} of ${where.file.name}`
  }

  private note(id: string, line: number): number | undefined {
    if (this.count * 4 > this.slots.length) this.grow()
    let [high, low] = [0xdeadbeef, 0x41c6ce57]
    for (let at = 0; at < id.length; at++) {
      const code = id.charCodeAt(at)
      high = Math.imul(high ^ code, 2654435761)
      low = Math.imul(low ^ code, 1597334677)
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
    return this.put(high >>> 0, low >>> 0, line)
  }

  private put(high: number, low: number, line: number): number | undefined {
    const size = this.slots.length / 3
    for (let slot = low % size; ; slot = (slot + 1) % size) {
      const seen = this.slots[slot * 3 + 2]!
      if (seen === 0) {
        this.slots.set([high, low, line], slot * 3)
        this.count++
        return undefined
      }
      if (this.slots[slot * 3] === high && this.slots[slot * 3 + 1] === low) return seen
    }
  }

  private grow() {
    const old = this.slots
    this.slots = new Uint32Array(old.length * 2)
    this.count = 0
    for (let at = 0; at < old.length; at += 3) if (old[at + 2] !== 0) this.put(old[at]!, old[at + 1]!, old[at + 2]!)
  }
}
