/** Sentences about groups, with the figures of the results and with swapped or made-up ones. */
import { describe, expect, it } from "vitest"
import { Grounding } from "../../src/agents/guards/Grounding.ts"
import { lenientGuard, type ReplyGuard, strictGuard } from "../../src/agents/guards/ReplyGuard.ts"

/** Deals by status, the sum of amount by owner, meetings by month, open deals by city, and the minutes of meetings by weekday. */
const grounding = () => {
  const found = new Grounding({ country: "US", today: "2026-11-22" })
  found.addQuestion("How do the deals and meetings divide, and who has more than 4 deals?")
  const pages = [
    {
      total: 60,
      entities: [],
      headings: ["by status"],
      groupsTotal: 4,
      groups: [
        { keys: [{ value: "open" }], count: 34, share: 57 },
        { keys: [{ value: "won" }], count: 15, share: 25 },
        { keys: [{ value: "lost" }], count: 9, share: 15 },
        { keys: [{}], count: 2, share: 3 }
      ]
    },
    {
      total: 60,
      entities: [],
      headings: ["by owner", "sum amount"],
      groupsTotal: 3,
      groups: [
        { keys: [{ value: "Rosa Delgado", id: "jrosa" }], count: 31, share: 62, figures: [[{ value: "1204500.50", unit: "EUR", of: 31 }]] }, // prettier-ignore
        { keys: [{ value: "Ada Byron", id: "jada" }], count: 22, share: 33, figures: [[{ value: "640000.00", unit: "EUR", of: 22 }]] }, // prettier-ignore
        {
          keys: [{ value: "Yuki Sato", id: "jyuki" }],
          count: 7,
          share: 5,
          figures: [[{ value: "85", unit: "EUR", of: 7 }]]
        }
      ]
    },
    {
      total: 58,
      entities: [],
      headings: ["by month start"],
      groupsTotal: 3,
      groups: [
        { keys: [{ value: "2026-09" }], count: 12 },
        { keys: [{ value: "2026-10" }], count: 18, change: 50 },
        { keys: [{ value: "2026-11" }], count: 28, change: 55.6 }
      ]
    },
    {
      total: 26,
      entities: [],
      headings: ["by city", "avg amount"],
      groupsTotal: 4,
      groups: [
        { keys: [{ value: "New York" }], count: 13, figures: [[{ value: "46.5", of: 13 }]] },
        { keys: [{ value: "York" }], count: 6, figures: [[{ value: "71.25", of: 6 }]] },
        { keys: [{ value: "Boston" }], count: 5, figures: [[{ value: "90", of: 5 }]] },
        { keys: [{ value: "Madrid" }], count: 2, figures: [[{ value: "11.3850000000000000", of: 2 }]] }
      ]
    },
    {
      total: 68,
      entities: [],
      headings: ["by weekday start", "sum minutes"],
      groupsTotal: 2,
      groups: [
        { keys: [{ value: "Monday" }], count: 44, figures: [[{ value: "2910", of: 44 }]] },
        { keys: [{ value: "Tuesday" }], count: 24, figures: [[{ value: "1450", of: 24 }]] }
      ]
    }
  ]
  for (const page of pages) {
    found.addResult(page)
    found.figures.add(page)
  }
  return found
}

const FALSE = [
  "15 deals are open.",
  "Open: 15",
  "- Open: 9",
  "There are 9 open deals.",
  "There are nine open deals.",
  "Fifteen deals are lost.",
  "The lost deals number 34.",
  "Won has 34 deals.",
  "Of all deals, 34 were won.",
  "25% of them are open.",
  "57% of the deals are lost.",
  "The won deals are 57 percent of all.",
  "Lost deals make up 25%.",
  "Without a status: 15 deals.",
  "9 deals have no value, that is, their status is empty.",
  "Rosa Delgado has 22 deals.",
  "Rosa Delgado has twenty-two deals.",
  "Ada Byron owns 31.",
  "Ada Byron: 7 deals",
  "Yuki Sato has 31 deals.",
  "Yuki Sato looks after 22 deals.",
  "Rosa Delgado's sum is 640,000 EUR.",
  "Ada Byron's deals come to €1,204,500.50.",
  "Ada Byron has deals worth 85 EUR.",
  "Rosa Delgado has €85.",
  "Yuki Sato has deals worth 640,000.00 EUR.",
  "Yuki Sato has 62% of it.",
  "Rosa Delgado has 33% of it.",
  "Ada Byron stands for 62 percent.",
  "22 of the deals are Yuki Sato's.",
  "September had 18 meetings.",
  "September 2026: 28",
  "In October there were 12 meetings.",
  "In October you had twelve meetings.",
  "October saw 28 of them.",
  "November has 18 meetings so far.",
  "November 2026 has 12.",
  "2026-11: 12",
  "In Nov 2026 there were eighteen.",
  "October grew by 55.6%.",
  "In November it rose by 50%.",
  "New York has 6 deals.",
  "New York has six.",
  "York has 13 deals.",
  "Boston has 13 deals.",
  "Boston has 6 deals.",
  "In Boston the figure is 71.25.",
  "New York's figure is 90.",
  "York stands at 46.5.",
  "New York stands at 71.25.",
  "Boston stands at 11.39.",
  "Madrid stands at 11.37.",
  "The three together have 49 deals.",
  "In total that is 53 deals.",
  "Altogether there are 65.",
  "On average each owner has 20 deals.",
  "The average is 19.",
  "The mean is 21 per month.",
  "Combined, they have 40 deals.",
  "That is 45% of all deals.",
  "40 percent are closed.",
  "Rosa Delgado and Ada Byron have 53 deals together.",
  "Overall, 47 deals are settled.",
  "The sum of both is 46.",
  "The share of open deals in a city is 45% (24 of 60).",
  "That is 42% (25 of 60).",
  "It comes to 40% of them, 24 of 58.",
  "Mondays took 24.17 hours.",
  "On Monday the sum is 72.75 hours.",
  "Tuesday has the highest sum of hours: 48.5."
]

const TRUE = [
  "34 deals are open.",
  // Half a cent is rounded up, as people do, or down, as binary numbers do.
  "Madrid stands at 11.39.",
  "Madrid stands at 11.38.",
  "Open: 34",
  "- Won: 15",
  "There are nine lost deals.",
  "There are 60 deals in total.",
  "In total there are 60 deals, 34 of them open.",
  "Of the 60 deals, 15 were won.",
  "57% of them are open.",
  "Won deals make up 25 percent.",
  "Lost: 9 (15%)",
  "2 deals have no status.",
  "Two deals are without a status.",
  "34 are open, 15 won and 9 lost.",
  "There are more open deals (34) than won ones (15).",
  "Open has 34; the next status has 15.",
  "The 4 statuses are below.",
  "Deals are divided into four groups.",
  "Rosa Delgado has 31 deals.",
  "Rosa Delgado has 31 deals worth 1,204,500.50 EUR.",
  "Rosa Delgado leads with 31, followed by Ada Byron with 22.",
  "Rosa Delgado leads with 31; the next has 22.",
  "Ada Byron has twenty-two deals.",
  "Ada Byron's deals come to €640,000.",
  "Ada Byron has 33% of it.",
  "Yuki Sato has 7 deals worth 85 EUR.",
  "Yuki Sato has deals worth €85.",
  "Rosa Delgado has 62%, which is the most.",
  "Rosa Delgado is number 1.",
  "Yuki Sato is third of 3.",
  "1. Rosa Delgado: 31",
  "2. Ada Byron: 22",
  "3. Yuki Sato: 7",
  "7. Rosa Delgado: 31",
  "Rosa Delgado, Ada Byron and Yuki Sato share 60 deals.",
  "Rosa Delgado has more than 4 deals.",
  "All three of them have more than 4 deals.",
  "Rosa Delgado has 31 of the 60 deals.",
  "Rosa Delgado has 31, not 22.",
  "The 22 of Ada Byron are behind the 31 of Rosa Delgado.",
  "Ada Byron trails with 22 the 31 of Rosa Delgado.",
  "September had 12 meetings.",
  "In October there were 18 meetings.",
  "October had eighteen meetings, 50% more than before.",
  "November has 28 meetings so far.",
  "November 2026: 28",
  "2026-11: 28",
  "Meetings rose from 12 in September to 18 in October.",
  "In November it rose by 55.6%.",
  "In November it rose by 56%.",
  "There were 58 meetings in total.",
  "In the last 3 months you had 58 meetings.",
  "New York has 13 deals.",
  "New York has 13 deals, York 6.",
  "York has 6 deals.",
  "York has six deals, and its average is 71.25.",
  "The average in Boston is 90.",
  "Boston has 5 deals with an average of 90.",
  "On average a deal in New York stands at 46.5.",
  "24 of them are in one of the 3 cities.",
  "Among the deals that you can see, Rosa Delgado has the most.",
  "Does Rosa Delgado have 22 deals?",
  "Which owner do you mean?",
  "I can also divide them by month.",
  "Open deals are the largest group.",
  "The share of open deals in a city is 40% (24 of 60).",
  "97% (58 of 60) have a month.",
  "Mondays took 2,910 minutes, which is 48.5 hours.",
  "The sum of hours on Monday is 48.5.",
  "Tuesday has the lowest sum of hours: 24.17."
]

const run = (make: (found: Grounding) => ReplyGuard, text: string, size: number): string | undefined => {
  const guard = make(grounding())
  for (let at = 0; at < text.length; at += size) {
    const { fault } = guard.push(text.slice(at, at + size))
    if (fault !== undefined) return fault
  }
  const { fault } = guard.end()
  return fault ?? (guard.removedText() ? "removed" : undefined)
}

describe("a reply about groups", () => {
  it("is held in 60 false sentences", () => {
    expect(FALSE.length).toBeGreaterThanOrEqual(60)
    for (const guard of [strictGuard, lenientGuard])
      for (const size of [3, 1000])
        expect(FALSE.filter((one) => run(guard, `${one} That is all.`, size) === undefined)).toEqual([])
  })

  it("is held where its last sentence asks whether a made-up percentage is true", () => {
    for (const guard of [strictGuard, lenientGuard])
      for (const size of [3, 1000]) expect(run(guard, "Is the share of open deals 31%?", size)).toBeDefined()
  })

  it("may name the year of an earlier question, but no amount of it", () => {
    const problem = (earlier: string, sentence: string) => {
      const { figures, locale } = grounding()
      figures.addYears(earlier)
      return figures.problem(sentence, locale)
    }
    const sentence = "The total of the 60 deals in the second quarter of 2022 is 60."
    expect(problem("How many deals are there?", sentence)).toBeDefined()
    for (const period of ["in the second quarter of 2022", "Q2 2022", "in June 2022", "since 2022"])
      expect([period, problem(`How many deals were there ${period}?`, sentence)]).toEqual([period, undefined])
    expect(problem("Which deals are over 2000 euros?", "The total of the deals is 2000.")).toBeDefined()
  })

  it("is shown in 60 true sentences", () => {
    expect(TRUE.length).toBeGreaterThanOrEqual(60)
    for (const guard of [strictGuard, lenientGuard])
      for (const size of [3, 1000])
        expect(TRUE.filter((one) => run(guard, `${one} That is all.`, size) !== undefined)).toEqual([])
  })
})
