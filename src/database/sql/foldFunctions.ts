/**
 * The folds of domain/keys.ts in SQL, for tables that have no key columns. They are made from the same tables of
 * characters, and a test holds the two equal. A body is parsed when the function is made (RETURN), so that no search
 * path of whoever calls it changes what it means; it depends on no locale of the server.
 */
import { UNDECOMPOSED } from "../../domain/keys.ts"

const WHITE_SPACE = String.raw`\u0009-\u000d\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`

/** A text as an SQL literal of ASCII letters. */
const literal = (text: string): string =>
  `U&'${[...text]
    .map((character) => {
      const point = character.codePointAt(0)!
      if (/[a-z0-9 ]/.test(character)) return character
      return `\\${point > 0xffff ? `+${hex(point, 6)}` : hex(point, 4)}`
    })
    .join("")}'`

const hex = (point: number, digits: number): string => point.toString(16).padStart(digits, "0")

const escaped = (point: number): string => (point > 0xffff ? `\\U${hex(point, 8)}` : `\\u${hex(point, 4)}`)

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff

/** The marks that are taken off, as ranges of a character class. */
const markRanges = (): string => {
  const ranges: Array<[number, number]> = []
  for (let point = 0x80; point <= 0x10ffff; point++) {
    if (isSurrogate(point) || !/\p{M}/u.test(String.fromCodePoint(point))) continue
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === point - 1) last[1] = point
    else ranges.push([point, point])
  }
  return ranges.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join("")
}

/** Which character stands for which other, where one stands for one. */
const replacedCharacters = (): readonly [from: string, to: string] => {
  let [from, to] = ["", ""]
  for (let point = 0x41; point <= 0x10ffff; point++) {
    if (isSurrogate(point)) continue
    const character = String.fromCodePoint(point)
    // What a normal form takes apart never gets here.
    if (character.normalize("NFKD") !== character) continue
    const lower = character.toLowerCase()
    const folded = Object.hasOwn(UNDECOMPOSED, lower) ? UNDECOMPOSED[lower]! : lower
    // A letter that becomes several is replaced afterwards, as the lower-case letter that it is.
    const single = [...folded].length === 1 ? folded : lower
    if (single === character || [...single].length !== 1) continue
    from += character
    to += single
  }
  return [from, to]
}

const foldedLetters = (value: string): string => {
  const [from, to] = replacedCharacters()
  const marked = `pg_catalog.regexp_replace(pg_catalog.normalize(${value}, 'NFKD'), '[${markRanges()}]+', '', 'g')`
  const lower = `pg_catalog.translate(${marked}, ${literal(from)}, ${literal(to)})`
  const several = Object.entries(UNDECOMPOSED).filter(([, replacement]) => replacement.length > 1)
  return `pg_catalog.normalize(${several.reduce(
    (sql, [letter, replacement]) => `pg_catalog.replace(${sql}, ${literal(letter)}, '${replacement}')`,
    lower
  )}, 'NFC')`
}

const define = (name: string, from: string, to: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION max.${name}(${from}) RETURNS ${to} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ${body}`

/** The functions that mapped columns are searched by; a server whose encoding isn't UTF-8 gets none, and can't be mapped. */
export const foldFunctions = (): ReadonlyArray<string> => {
  const letters =
    `CASE WHEN $1 OPERATOR(pg_catalog.~) '[^\\x20-\\x7e]' THEN ${foldedLetters("$1")} ` +
    `ELSE pg_catalog.lower($1 COLLATE "C") END`
  const definitions = [
    define(
      "fold_text",
      "text",
      "text",
      `pg_catalog.btrim(pg_catalog.regexp_replace(${letters}, '[${WHITE_SPACE}]+', ' ', 'g'), ' ')`
    ),
    define(
      "fold_texts",
      "text[]",
      "text[]",
      `ARRAY(SELECT max.fold_text(x.part) FROM pg_catalog.unnest($1) WITH ORDINALITY AS x(part, n) ORDER BY x.n)`
    ),
    define(
      "fold_email",
      "text",
      "text",
      `CASE WHEN $1 OPERATOR(pg_catalog.~) '^[${WHITE_SPACE}]*[^${WHITE_SPACE}@]+@[^${WHITE_SPACE}@]+[${WHITE_SPACE}]*$' THEN ` +
        `(SELECT CASE WHEN pg_catalog.length(x.trimmed) OPERATOR(pg_catalog.<=) 320 THEN pg_catalog.lower(x.trimmed COLLATE "C") END ` +
        `FROM (SELECT pg_catalog.regexp_replace($1, '[${WHITE_SPACE}]+', '', 'g') AS trimmed) x) END`
    ),
    define(
      "fold_phone",
      "text",
      "text",
      `(CASE WHEN $1 OPERATOR(pg_catalog.~) '^[^0-9]*[+]' THEN '+' ELSE '' END) OPERATOR(pg_catalog.||) ` +
        `nullif(pg_catalog.regexp_replace($1, '[^0-9]', '', 'g'), '')`
    )
  ]
  return [
    `DO $do$ BEGIN IF (SELECT pg_encoding_to_char(encoding) = 'UTF8' FROM pg_database WHERE datname = current_database()) THEN\n` +
      definitions.map((definition) => `EXECUTE $f$${definition}$f$;`).join("\n") +
      `\nEND IF; END $do$`
  ]
}
