/** The 200 questions by name of a sales data set: as written, in lower case, and with one wrong accent. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect } from "vitest"
import { Importer } from "../../../src/services/import/Importer.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent, openTo } from "../../support/basic.ts"
import { fixture } from "../../support/fixtures.ts"

interface Case {
  readonly ask: string
  readonly expect: ReadonlyArray<string>
}

const ACCENTS: Readonly<Record<string, string>> = { a: "á", e: "è", i: "ï", o: "ô", u: "ü" }
/** Puts a wrong accent on the first vowel of the name. */
const misspelt = (text: string): string => {
  const from = "who is ".length
  const at = text.slice(from).search(/[aeiou]/) + from
  return `${text.slice(0, at)}${ACCENTS[text[at]!]!}${text.slice(at + 1)}`
}

const setting = Effect.gen(function* () {
  const organization = yield* makeOrganization(`workbench-${Math.random().toString(36).slice(2)}`)
  const importer = yield* Importer
  const file = (name: string) => fixture("workbench", `seed_${name}_workbench.jsonl`)
  const people = { type: "people", create: true }
  yield* importer.import(organization, { files: [file("companies")], type: "companies", ignore: ["people"] })
  yield* importer.import(organization, {
    ...people,
    files: [fixture("workbench", "seed_people_workbench_staff.jsonl")],
    ignore: ["company"]
  })
  yield* importer.import(organization, {
    ...people,
    files: [fixture("workbench", "seed_people_workbench_customers.jsonl")],
    map: { owner: "owner:people.email", company: "company:companies.name" }
  })
  yield* importer.import(organization, {
    files: [file("meetings")],
    type: "meetings",
    create: true,
    map: { title: "name", with_: "attendees:people.email" }
  })
  yield* openTo(organization, "people", "companies", "meetings")
  return organization
})

describe("questions by name", () => {
  layer(BasicAgent, { excludeTestServices: true })((it) => {
    it.effect("find at least 198 of 200 people in all three spellings", () =>
      Effect.gen(function* () {
        const organization = yield* setting
        const cases = readFileSync(fixture("workbench", "by-name.cases.jsonl"), "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line): Case => JSON.parse(line))
        // Each case in one of three spellings, so that the test takes seconds.
        const writings = [(text: string) => text, (text: string) => text.toLowerCase(), misspelt]
        let passed = 0
        for (const [index, one] of cases.entries()) {
          const question = writings[index % writings.length]!(one.ask)
          const { about, text } = yield* ask(organization, question)
          if (JSON.stringify([...about].sort()) === JSON.stringify([...one.expect].sort())) passed += 1
          else console.log(`${question}: found ${about.join(", ") || "no match"}: ${text}`)
        }
        console.log(`${passed} of ${cases.length}`)
        expect(passed).toBeGreaterThanOrEqual(198)
      })
    )
  })
})
