import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent, load, openTo } from "../../support/basic.ts"
import { tokenize } from "../../../src/agents/basic/tokens.ts"
import { readFacts } from "../../../src/agents/basic/facts.ts"
import { readNames } from "../../../src/agents/basic/names.ts"
import { CUSTOMERS } from "./retail.ts"
layer(BasicAgent, { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect(
    "scratch",
    () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("scratch")
        yield* load(organization, "people", CUSTOMERS)
        yield* openTo(organization, "people", "companies", "meetings")
        for (const text of readFileSync("/tmp/scratch.txt", "utf8")
          .split("\n")
          .filter((line) => line !== "")) {
          const t = tokenize(text)
          const answer = yield* ask(organization, text)
          console.log(
            `${text}\n  names ${readNames(t)
              .map((n) => `${n.name}:${n.rank}`)
              .join(" | ")}\n  facts ${readFacts(t)
              .map((f) => `${f.weight} ${f.concept} ${f.values.join("/")}`)
              .join(" | ")}\n  ${answer.about.join()} ${answer.steps} steps: ${answer.text}`
          )
        }
      }),
    60_000
  )
})
