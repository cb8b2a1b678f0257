/**
 * The folds of domain/keys.ts in SQL, for tables that have no key columns. They are made from the same tables of
 * characters, and a test holds the two equal. Every name in them is written with its schema, so that no search path of
 * whoever calls them changes what they mean, and they depend on no locale of the server.
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

/** The characters from U+0080 on that are meant, as ranges of a character class. */
const characterClass = (meant: (character: string) => boolean): string => {
  const ranges: Array<[number, number]> = []
  for (let point = 0x80; point <= 0x10ffff; point++) {
    if (isSurrogate(point) || !meant(String.fromCodePoint(point))) continue
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

const foldedLetters = (value: string, from: string, to: string): string => {
  const lower = `pg_catalog.translate(${value}, ${literal(from)}, ${literal(to)})`
  const several = Object.entries(UNDECOMPOSED).filter(([, replacement]) => replacement.length > 1)
  return `pg_catalog.normalize(${several.reduce(
    (sql, [letter, replacement]) => `pg_catalog.replace(${sql}, ${literal(letter)}, '${replacement}')`,
    lower
  )}, 'NFC')`
}

const beyondAscii = (value: string): string => `${value} OPERATOR(pg_catalog.~) '[^\\x20-\\x7e]'`
const lowerAscii = (value: string): string => `pg_catalog.lower(${value} COLLATE pg_catalog."C")`

/**
 * In PL/pgSQL, whose expressions are planned once per connection: as an SQL function this took ten times as long. What
 * was written in Latin letters is ASCII once the marks are off, as a rule, and lower case is quick then.
 */
const foldText = (): string => {
  const [from, to] = replacedCharacters()
  const replaced = new Set([...from, ...Object.keys(UNDECOMPOSED)])
  return `
  DECLARE folded pg_catalog.text := value;
  BEGIN
    IF ${beyondAscii("folded")} THEN
      folded := pg_catalog.regexp_replace(pg_catalog.normalize(folded, 'NFKD'), '[${characterClass((character) => /\p{M}/u.test(character))}]+', '', 'g');
    END IF;
    IF folded OPERATOR(pg_catalog.~) '[${characterClass((character) => replaced.has(character))}]' THEN
      folded := ${foldedLetters("folded", from, to)};
    ELSIF ${beyondAscii("folded")} THEN
      folded := pg_catalog.normalize(${lowerAscii("folded")}, 'NFC');
    ELSE
      folded := ${lowerAscii("folded")};
    END IF;
    RETURN pg_catalog.btrim(pg_catalog.regexp_replace(folded, '[${WHITE_SPACE}]+', ' ', 'g'), ' ');
  END`
}

const foldTexts = `
  DECLARE folded pg_catalog.text[] := '{}'; part pg_catalog.text;
  BEGIN
    FOREACH part IN ARRAY value LOOP
      folded := pg_catalog.array_append(folded, max.fold_text(part));
    END LOOP;
    RETURN folded;
  END`

const foldEmail = `
  DECLARE trimmed pg_catalog.text := pg_catalog.regexp_replace(value, '^[${WHITE_SPACE}]+|[${WHITE_SPACE}]+$', '', 'g');
  BEGIN
    IF trimmed OPERATOR(pg_catalog.~) '^[^${WHITE_SPACE}@]+@[^${WHITE_SPACE}@]+$' AND pg_catalog.length(trimmed) OPERATOR(pg_catalog.<=) 320 THEN
      RETURN ${lowerAscii("trimmed")};
    END IF;
    RETURN NULL;
  END`

const foldPhone = `
  DECLARE digits pg_catalog.text := pg_catalog.regexp_replace(value, '[^0-9]', '', 'g');
  BEGIN
    IF digits OPERATOR(pg_catalog.=) '' THEN
      RETURN NULL;
    END IF;
    IF value OPERATOR(pg_catalog.~) '^[^0-9]*[+]' THEN
      RETURN pg_catalog.concat('+', digits);
    END IF;
    RETURN digits;
  END`

const define = (name: string, type: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION max.${name}(value pg_catalog.${type}) RETURNS pg_catalog.${type} LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $fold$${body}$fold$`

/** The functions that mapped columns are searched by; a server whose encoding isn't UTF-8 gets none, and can't be mapped. */
export const foldFunctions = (): ReadonlyArray<string> => {
  const definitions = [
    define("fold_text", "text", foldText()),
    define("fold_texts", "text[]", foldTexts),
    define("fold_email", "text", foldEmail),
    define("fold_phone", "text", foldPhone)
  ]
  return [
    `DO $do$ BEGIN IF (SELECT pg_encoding_to_char(encoding) = 'UTF8' FROM pg_database WHERE datname = current_database()) THEN\n` +
      definitions.map((definition) => `EXECUTE $f$${definition}$f$;`).join("\n") +
      `\nEND IF; END $do$`
  ]
}
