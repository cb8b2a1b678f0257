/** The English words of questions for figures. Patterns are written as in `patterns.ts`, with these words as parts. */
import { byWord } from "../../../domain/text.ts"
import type { Bucket } from "../../../domain/Query.ts"

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))
const list = (phrases: string): ReadonlyArray<string> => phrases.split("|")

/** Words before a question for figures that add nothing to it. */
export const LEADS = list(
  "how is|how are|what is|what are|what was|what were|what would be|which is|which are|who is|who are|show|show me|give|give me|list|name|tell me|calculate|compute|work out|find|find out|get|get me|display|i want to see|let me see|report|break down|split|split up|the|our|a list of|an overview of|a breakdown of|breakdown of|i would like to know|i want to know|i need to know|do you know|can you count|count up"
)
/** Words that may precede any of them. */
export const PARTS = {
  per: "per|by|for each|for every|in each|in every|at each|of each|on each|each|every|across|by each|grouped by|group by|broken down by|split by|split up by|according to|for the different|depending on",
  sum: "sum up|add up|sum total|total sum|grand total|sum of|total of|the sum of|total|sum|combined|overall|gross",
  avg: "average|mean|avg|average of|mean of|typical",
  max: "highest|largest|biggest|maximum|max|greatest|longest",
  min: "lowest|smallest|minimum|min|shortest",
  over: "of|for|in|from|over|across|on|among|of all|of the|of our|for all|for the|of all the|of all our|of my|of a|of an|in the|of any|in all",
  count:
    "how many|number of|the number of|no of|nr of|count of|count|numbers of|total number of|total count of|the total number of|how many of",
  most: "most|highest number of|largest number of|greatest number of|biggest number of|largest count of",
  fewest:
    "fewest|least|lowest number of|smallest number of|lowest count of|smallest amount of|least number of|fewest number of",
  highest: "highest|biggest|largest|greatest|best|top|maximum|strongest",
  lowest: "lowest|smallest|worst|minimum|weakest|poorest|slowest",
  revenue:
    "revenue|revenues|sales|spending|spend|spent|total spending|total spend|amount spent|money spent|turnover|earnings|takings|sales revenue|sales volume|money|total sales|total revenue|income",
  have: "has|have|had|has got|have got|having|is having|are having|gets|get|got|saw|sees|made|makes|make|brings in|bring in|brought in|brought|brings|generated|generates|generate|owns|own|owned|holds|hold|handles|handle|handled|received|receives|contains|contain|earned|earns|are|is|was|were|with|has recorded|has released|has written|has placed|has made|recorded|released|looks after|look after|looked after|manages|manage|placed|supports|support|serves|serve",
  does: "do|does|did|are|is|was|were|have|has",
  we: "we|our|the|there|you|they",
  top: "top|best|leading|highest|biggest|largest|greatest|strongest",
  bottom: "bottom|worst|lowest|smallest|fewest|weakest|poorest",
  ranking:
    "by|in terms of|according to|ranked by|based on|measured by|sorted by|ordered by|for|in order of|with the most|having the most",
  share: "percentage|percent|share|proportion|fraction|portion|part",
  earned:
    "make|made|earn|earned|sell|sold|bill|billed|invoice|invoiced|take in|taken in|turn over|turned over|bring in|brought in|receive|received|took in",
  spent: "bought|buys|purchased|spent|spend|paid|pay|spending|bought for"
} as const

/** Types whose rows are money that came in. */
export const REVENUE_TYPES = set(
  "sales sale invoices invoice orders order payments payment receipts receipt bills bill transactions transaction purchases purchase"
)

/** Words for a whole amount, which can be added up as revenue; a price can't. */
export const WHOLE_AMOUNTS = list(
  "total|amount|revenue|value|total amount|amount total|grand total|sum|net total|gross total|net amount|gross amount|total price|total value|invoice total|order total|sales|subtotal|worth"
)

/** What people call the column that they measure: the first word of a family is its name. Labels follow, most likely first. */
export const MEASURES: ReadonlyArray<{ readonly words: ReadonlySet<string>; readonly labels: ReadonlyArray<string> }> =
  [
    {
      words: set("amount amounts value values worth size sizes volume total totals sum money"),
      labels: list(
        "amount|total|value|total amount|deal value|deal size|contract value|sum|worth|revenue|budget|volume|total value|invoice total|order total|size"
      )
    },
    {
      words: set("price prices cost costs rate"),
      labels: list("price|unit price|cost|unit cost|rate|list price|sale price|total price")
    },
    {
      words: set("length lengths duration durations long time runtime"),
      labels: list(
        "duration|length|minutes|duration minutes|hours|seconds|milliseconds|runtime|running time|time spent|days"
      )
    },
    { words: set("minutes minute"), labels: list("minutes|duration minutes|minutes spent|duration in minutes") },
    { words: set("hours hour"), labels: list("hours|duration hours|hours spent|hours worked|duration in hours") },
    { words: set("seconds second"), labels: list("seconds|duration seconds|duration in seconds") },
    { words: set("salary salaries pay wage wages"), labels: list("salary|wage|pay|annual salary|base salary") },
    { words: set("quantity quantities units pieces copies"), labels: list("quantity|units|qty|pieces|count") },
    { words: set("size"), labels: list("bytes|file size|employees|headcount") },
    { words: set("age ages"), labels: list("age") }
  ]

/** Adjectives of rows: what they are about, and whether the lowest come first. */
export const ADJECTIVES = byWord<readonly [of: string, upwards: boolean]>({
  biggest: ["amount", false],
  largest: ["amount", false],
  highest: ["amount", false],
  greatest: ["amount", false],
  top: ["amount", false],
  smallest: ["amount", true],
  lowest: ["amount", true],
  "most expensive": ["price", false],
  priciest: ["price", false],
  dearest: ["price", false],
  "most costly": ["price", false],
  cheapest: ["price", true],
  "least expensive": ["price", true],
  longest: ["length", false],
  shortest: ["length", true],
  youngest: ["born", false],
  oldest: ["born", true],
  "most valuable": ["amount", false],
  "least valuable": ["amount", true]
})

/** Periods as groups. */
export const BUCKET_WORDS = byWord<Bucket>({
  hour: "hour",
  "hour of the day": "hour",
  "hour of day": "hour",
  "time of day": "hour",
  hours: "hour",
  weekday: "weekday",
  "day of the week": "weekday",
  "day of week": "weekday",
  weekdays: "weekday",
  "days of the week": "weekday",
  day: "day",
  days: "day",
  date: "day",
  week: "week",
  weeks: "week",
  month: "month",
  months: "month",
  "calendar month": "month",
  quarter: "quarter",
  quarters: "quarter",
  year: "year",
  years: "year",
  "calendar year": "year"
})

/** Adverbs and adjectives for periods. */
export const EVERY = byWord<string>({
  hourly: "hour",
  daily: "day",
  weekly: "week",
  monthly: "month",
  quarterly: "quarter",
  yearly: "year",
  annual: "year",
  annually: "year"
})

/** Words of figures, which are no quality of rows: "the median deals". */
export const FIGURE_WORDS = set(
  "total totals sum average mean avg median mode running cumulative moving number count percentage percent share proportion ratio growth trend rate rates highest lowest biggest largest smallest top bottom best worst most fewest least rank ranked ranking by per each every different distinct unique compared versus vs combined overall typical maximum minimum max min projected predicted forecast expected busiest quietest"
)

/** Endings that say the order which groups have anyway. */
export const ORDERS = list(
  "longest first|biggest first|longest at the top|sorted|ordered|ranked|descending|sorted please|ranked please|in descending order|highest first|largest first|most first|sorted by count|in order|only|we ever had|we have ever had|ever|of all time|on record"
)

const EACH =
  "(is it|was it|is that|was that|are there|were there|are they|do they have|did they have|does it have|each|for each|of each|of them|for each of them|for each one|in each|are in each|that is|that was)?"
/** Endings that ask for the figure of a group or a row, which the answer has anyway: "which genre has the most tracks, and how many?" */
export const AGAIN = {
  // "With numbers" can mean telephone numbers.
  count: `(and|plus) (the|its|their|that)? (how many|number|numbers|count|counts|what is the number|what is the count) ${EACH}`,
  counted:
    "(and|with|plus) how many {noun} (is it|is that|was that|are there|are they|each has|each have|it has|they have|does it have|do they have|each|in total)?",
  value: `(and|with|plus) (the|its|their|that|what is the|what is its|what was the)? (amount|amounts|total|totals|value|values|sum|sums) ${EACH}`,
  money: `(and|plus) how much ${EACH}`,
  figure: `(and|with|plus) (the|its|their|that)? (figure|figures) ${EACH}`
}

/** Words of which every question for figures has one. */
export const CUES = new Set([
  ...Object.keys(ADJECTIVES).flatMap((words) => words.split(" ")),
  ...Object.keys(EVERY),
  ...set(
    "last latest recently first earliest mix breakdown distribution spread quietest time minutes hours add count per by each every across grouped broken split total sum combined overall average mean avg typical most fewest least highest lowest biggest largest greatest maximum minimum max min top bottom best worst revenue revenues sales turnover earnings takings income share percentage percent proportion fraction portion part spent spend sold sell different distinct unique many much worth long more over fewer under exactly above below sort order rank sorted ordered ranked busiest common popular weakest poorest slowest strongest with have has in from value amount only just"
  )
])
