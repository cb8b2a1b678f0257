/** What a spreadsheet may hold. Whatever exceeds a limit is refused before a library parses it; docs/your-files.md names them. */
export const SPREADSHEET = {
  fileBytes: 100 * 1024 * 1024,
  /** Of all parts that are read, together. */
  unpackedBytes: 500 * 1024 * 1024,
  entries: 10_000,
  /** A spreadsheet program has no more rows and columns. */
  rows: 1_048_576,
  columns: 16_384,
  /** Cells with a value. */
  cells: 5_000_000,
  /** The last row times the last column: reading allocates the empty cells between as well. */
  grid: 20_000_000,
  sharedStrings: 5_000_000,
  sheets: 10_000,
  tagBytes: 16_384,
  attributeBytes: 4096,
  depth: 64
}

/** Thrown for a spreadsheet that exceeds a limit. */
export class TooLarge extends Error {
  /** @override */
  name = "TooLarge"
}

/** Thrown for a file that isn't a spreadsheet. */
export class Damaged extends Error {
  /** @override */
  name = "Damaged"
}
