/**
 * The folds of domain/keys.ts as SQL functions, for tables without search key columns. Both come from the same character
 * tables, and a test compares their results. Every name is schema-qualified, so that the caller's search path can't change
 * its meaning, and no function depends on the server's locale.
 */
import { EXTENSION_WORDS, UNDECOMPOSED } from "../../domain/keys.ts"

const WHITE_SPACE = String.raw`\u0009-\u000d\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`

/** A text as an SQL literal in ASCII. */
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

/** Characters from U+0080 on, in order, as ranges of a character class. */
const characterClass = (characters: Iterable<string>): string => {
  const ranges: Array<[number, number]> = []
  for (const character of characters) {
    const point = character.codePointAt(0)!
    const last = ranges.at(-1)
    if (point < 0x80) continue
    if (last !== undefined && last[1] === point - 1) last[1] = point
    else ranges.push([point, point])
  }
  return ranges.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join("")
}

/** One text of all characters, in order: a search through it takes a twentieth of the time of a million tests. */
const allCharacters = (): string => {
  const units = new Uint16Array(0xf800 + 2 * 0x100000)
  let end = 0
  for (let point = 0; point <= 0xffff; point++) if (!isSurrogate(point)) units[end++] = point
  for (let high = 0xd800; high <= 0xdbff; high++)
    for (let low = 0xdc00; low <= 0xdfff; low++) {
      units[end++] = high
      units[end++] = low
    }
  return new TextDecoder("utf-16le").decode(units)
}

/** Characters in order, each once. */
const inOrder = (characters: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(characters)].sort((one, other) => one.codePointAt(0)! - other.codePointAt(0)!)

/** The one-to-one replacements of characters. */
const replacedCharacters = (all: string): readonly [from: string, to: string] => {
  let [from, to] = ["", ""]
  const letters = [...all.match(/\p{Changes_When_Lowercased}/gu)!, ...Object.keys(UNDECOMPOSED)]
  for (const character of inOrder(letters)) {
    // NFKD has already decomposed the others.
    if (character.normalize("NFKD") !== character) continue
    const lower = character.toLowerCase()
    const folded = Object.hasOwn(UNDECOMPOSED, lower) ? UNDECOMPOSED[lower]! : lower
    // A letter that folds to several is lower-cased here and replaced afterwards.
    const single = [...folded].length === 1 ? folded : lower
    if (single === character || [...single].length !== 1) continue
    from += character
    to += single
  }
  return [from, to]
}

const foldedLetters = (value: string, from: string, to: string): string => {
  const lower = `pg_catalog.translate(${value}, ${literal(from)}, ${literal(to)})`
  const oneToMany = Object.entries(UNDECOMPOSED).filter(([, replacement]) => replacement.length > 1)
  return `pg_catalog.normalize(${oneToMany.reduce(
    (sql, [letter, replacement]) => `pg_catalog.replace(${sql}, ${literal(letter)}, '${replacement}')`,
    lower
  )}, 'NFC')`
}

const beyondAscii = (value: string): string => `${value} OPERATOR(pg_catalog.~) '[^\\x20-\\x7e]'`
const lowerAscii = (value: string): string => `pg_catalog.lower(${value} COLLATE pg_catalog."C")`

/**
 * PL/pgSQL plans its expressions once per connection: as an SQL function this took ten times as long. Latin text is usually
 * ASCII without its marks, and lower-casing ASCII is quick.
 */
const foldText = (): string => {
  const all = allCharacters()
  const [from, to] = replacedCharacters(all)
  const replaced = inOrder([...from, ...Object.keys(UNDECOMPOSED)])
  return `
  DECLARE folded pg_catalog.text := value;
  BEGIN
    IF ${beyondAscii("folded")} THEN
      folded := pg_catalog.regexp_replace(pg_catalog.normalize(folded, 'NFKD'), '[${characterClass(all.match(/\p{M}/gu)!)}]+', '', 'g');
    END IF;
    IF folded OPERATOR(pg_catalog.~) '[${characterClass(replaced)}]' THEN
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

const foldPhoneWithExtension = `
  DECLARE
    parts pg_catalog.text[];
    number pg_catalog.text := value;
    digits pg_catalog.text;
  BEGIN
    -- Almost no number has one of their letters or signs.
    IF value OPERATOR(pg_catalog.~) '[A-Za-z#]' AND pg_catalog.length(value) OPERATOR(pg_catalog.<=) 100 THEN
      parts := pg_catalog.regexp_match(value COLLATE pg_catalog."C",
        '^(.*[0-9][)]?)[ \\u00a0.,;/-]*(?:${EXTENSION_WORDS})[ \\u00a0.:=]*([0-9]{1,7})[ \\u00a0)]*$', 'i');
      number := coalesce(parts[1], value);
    END IF;
    digits := pg_catalog.regexp_replace(number, '[^0-9]', '', 'g');
    IF digits OPERATOR(pg_catalog.=) '' THEN
      RETURN NULL;
    END IF;
    IF value OPERATOR(pg_catalog.~) '^[^0-9]*[+]' THEN
      digits := pg_catalog.concat('+', digits);
    END IF;
    RETURN pg_catalog.concat(digits, '#' OPERATOR(pg_catalog.||) parts[2]);
  END`

const define = (name: string, type: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION max.${name}(value pg_catalog.${type}) RETURNS pg_catalog.${type} LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $fold$${body}$fold$`

/** Creates the functions that mapped columns are searched by. A server without UTF-8 gets none, and can't be mapped. */
export const foldFunctions = (): ReadonlyArray<string> => {
  const definitions = [
    define("fold_text", "text", foldText()),
    define("fold_texts", "text[]", foldTexts),
    define("fold_email", "text", foldEmail),
    define("fold_phone", "text", foldPhone)
  ]
  return [inUtf8(definitions.map((definition) => `EXECUTE $f$${definition}$f$;`).join("\n"))]
}

const inUtf8 = (body: string): string =>
  `DO $do$ BEGIN IF (SELECT pg_encoding_to_char(encoding) = 'UTF8' FROM pg_database WHERE datname = current_database()) THEN\n${body}\nEND IF; END $do$`

/** Keeps extensions apart from the number, and builds the indexes again whose tables the migrating role owns. */
export const foldExtensions = (): ReadonlyArray<string> => [
  inUtf8(`EXECUTE $f$${define("fold_phone", "text", foldPhoneWithExtension)}$f$;`),
  `DO $do$ DECLARE index regclass; BEGIN
    FOR index IN SELECT DISTINCT d.objid FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'i'
        WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_proc'::regclass
          AND d.refobjid = to_regprocedure('max.fold_phone(text)') AND pg_has_role(c.relowner, 'USAGE')
      LOOP EXECUTE format('REINDEX INDEX %s', index); END LOOP;
  END $do$`
]
