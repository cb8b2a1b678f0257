import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { BasicAgent, converse } from "../../support/basic.ts"
import { read, score } from "./officeScore.ts"
import { chinook, HARBOR, harbor, JANE, LENA, SAM, TEAM, team } from "./officeSetting.ts"
import { readFileSync } from "node:fs"

layer(BasicAgent, { excludeTestServices: true })("zz", (it) => {
  it.effect("scores", () =>
    Effect.gen(function* () {
      const [sales, sample, shop] = [yield* team, yield* harbor, yield* chinook]
      const free = process.env["ZZ_ASK"]
      if (free !== undefined)
        for (const line of readFileSync(free, "utf8")
          .split("\n")
          .filter((x) => x.trim() !== "")) {
          const [who, text] = line.split(" | ") as [string, string]
          const [org, mail] =
            who === "crm"
              ? [sales, LENA]
              : who === "cal"
                ? [sales, SAM]
                : who === "har"
                  ? [sample, "rosa.delgado@harbor.example"]
                  : [shop, JANE]
          console.log(`ASK ${line}\n   ${yield* converse(org!, mail!, text.split(" => "))}`)
        }
      for (const name of (process.env["ZZ"] ?? "").split(",").filter((x) => x !== "")) {
        const tallies = [
          yield* score(sales, LENA, TEAM, read(`${name}-crm`)),
          yield* score(sales, SAM, TEAM, read(`${name}-calendar`)),
          yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${name}-harbor`)),
          yield* score(shop, JANE, "", read(`${name}-chinook`))
        ]
        const sum = (judged: "right" | "declined" | "false") => tallies.reduce((all, tally) => all + tally[judged], 0)
        console.log(`TALLY ${name}: ${sum("right")} right, ${sum("declined")} declined, ${sum("false")} false`)
      }
    })
  )
})
