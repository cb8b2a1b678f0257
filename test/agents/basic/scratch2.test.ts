import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent } from "../../support/basic.ts"
import { crm } from "./crm.ts"
layer(BasicAgent, { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect(
    "scratch",
    () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("scratch")
        yield* crm(organization)
        let session: string | undefined
        for (const text of readFileSync("/tmp/scratch2.txt", "utf8")
          .split("\n")
          .filter((line) => line !== "")) {
          if (text === "--") {
            session = undefined
            continue
          }
          const answer = yield* ask(organization, text, session)
          session = answer.session ?? session
          console.log(`> ${text}\n  [${answer.about.join()}] ${answer.steps}: ${answer.text}`)
        }
      }),
    60_000
  )
})
