/** The outcome of each row in one byte: for the counts, and for the second pass. */

const [INSERTED, UPDATED, POSTPONED, LEFT_OUT] = [1, 2, 4, 8]
const WRITTEN = INSERTED | UPDATED

export class Outcomes {
  private states = new Uint8Array(4096)
  private ids = new BigInt64Array(0)
  rows = 0
  /** Whether any row is postponed. */
  postponed = false

  /** Adds rows and returns the number of the first. */
  begin(count: number): number {
    const first = this.rows
    this.rows += count
    if (this.rows > this.states.length) {
      const grown = new Uint8Array(Math.max(this.rows, this.states.length * 2))
      grown.set(this.states)
      this.states = grown
    }
    return first
  }

  mark(row: number, state: "inserted" | "updated") {
    if ((this.states[row]! & WRITTEN) === 0) this.states[row]! |= state === "inserted" ? INSERTED : UPDATED
  }

  isInserted(row: number): boolean {
    return (this.states[row]! & INSERTED) !== 0
  }

  /** Marks a row that refers to one which isn't written yet. */
  postpone(row: number) {
    this.states[row]! |= POSTPONED
    this.postponed = true
  }

  isPostponed(row: number): boolean {
    return (this.states[row]! & POSTPONED) !== 0
  }

  /** Marks a bad row, which isn't written. */
  leaveOut(row: number) {
    this.states[row] = LEFT_OUT
  }

  isLeftOut(row: number): boolean {
    return (this.states[row]! & LEFT_OUT) !== 0
  }

  /** Stores the ids of rows without an id in the file, for the second pass. */
  storeIds(rows: ReadonlyArray<number>, ids: ReadonlyArray<bigint>) {
    if (this.ids.length < this.rows) {
      const grown = new BigInt64Array(this.states.length)
      grown.set(this.ids)
      this.ids = grown
    }
    for (const [index, row] of rows.entries()) this.ids[row] = ids[index]!
  }

  idOf(row: number): bigint {
    return this.ids[row]!
  }

  counts() {
    let [inserted, updated, leftOut] = [0, 0, 0]
    for (let row = 0; row < this.rows; row++) {
      if (this.isLeftOut(row)) leftOut++
      const written = this.states[row]! & WRITTEN
      if (written === INSERTED) inserted++
      else if (written === UPDATED) updated++
    }
    return { rows: this.rows, inserted, updated, unchanged: this.rows - inserted - updated - leftOut, leftOut }
  }
}
