/** Who is responsible for rows of types that organizations make themselves, whatever the column is called. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent, converse } from "../../support/basic.ts"
import { helpDesk, taskTeam } from "../../support/deeds.ts"
import { SAM } from "./officeSetting.ts"

layer(BasicAgent, { excludeTestServices: true })("who is responsible", (it) => {
  it.effect(
    "is the assignee of tasks, the agent of tickets and the buyer of orders, rather than the owner of that person",
    () =>
      Effect.gen(function* () {
        const [tasks, desk] = [yield* taskTeam, yield* helpDesk]
        for (const [organization, question, answer] of [
          [
            tasks,
            "who has the most high priority tasks",
            /^Yuki Tanaka, Nia Johnson, Kofi Mensah and Raj Patel .*: 2 each, of 9 in all/
          ],
          [tasks, "tasks per person", /by assignee \(24 in all\):\n- Yuki Tanaka: 5, 21%/],
          [tasks, "overdue tasks of Kofi", /^There are 3 overdue tasks of Kofi/],
          [tasks, "does Kofi have more tasks than Nia", /^No: Kofi Mensah has 5 tasks, and Nia Johnson has 5/],
          [tasks, "is Kofi done", /^I didn't understand that/],
          [tasks, "are all of Yuki's tasks done", /^I didn't understand that/],
          [
            desk,
            "who has the most open tickets",
            /^Kofi Mensah has the most open tickets \(by agent\): 3, of 6 in all/
          ],
          [desk, "who has the most orders", /^Raj Patel has the most orders \(by buyer\): 4, of 10 in all/]
        ] as const)
          expect([question, yield* converse(organization, SAM, [question])]).toEqual([
            question,
            expect.stringMatching(answer)
          ])
      })
  )
})
