import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const SCOPE = ["src", "docs", "test", "README.md", "CONTRIBUTING.md", "CONTEXT.md"]

/** Pronouns that hide the noun: write caller, person, member, operator or process instead. */
const VAGUE = /whoever|somebody|nobody|anybody/gi

/** Files that may contain such words, with the number of occurrences and the reason. */
const ALLOWED: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "src/agents/basic/conditions.ts": [3, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/deeds/lexicon.ts": [11, "basic mode's vocabulary: words of a request"],
  "src/agents/basic/lexicon.ts": [10, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/readLookup.ts": [2, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/slots/readSlots.ts": [2, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/slots/words.ts": [2, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/spoken.ts": [14, "basic mode's vocabulary: patterns of a question"],
  "src/agents/basic/timeConditions.ts": [5, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/rules.ts": [2, "basic mode's vocabulary: patterns of a question"],
  "src/database/audit.ts": [1, "stored data: the audit log's actor of an unidentified caller"],
  "src/database/embedded/processes.ts": [2, "the name of a system user"],
  "src/agents/basic/deeds/rules.ts": [2, "basic mode's vocabulary: words of a request"],
  "src/agents/basic/deeds/groupWords.ts": [2, "basic mode's vocabulary: words of a request"],
  "src/agents/basic/deeds/reasons.ts": [2, "basic mode's vocabulary: words of a request"],
  "src/agents/basic/deeds/readSet.ts": [2, "basic mode's vocabulary: words of a request"],
  "test/agents/basic/deeds/declinedFrames.txt": [2, "quoted requests"],
  "test/agents/basic/deeds/fifteenthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/eighteenthTeam.jsonl": [3, "quoted requests"],
  "test/agents/basic/deeds/nineteenthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/sixteenthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/seventeenthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/fourteenthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirteenthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/twelfthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/declinedTeam.txt": [3, "quoted requests"],
  "test/agents/basic/deeds/tenthTeam.jsonl": [3, "quoted requests"],
  "test/agents/basic/deeds/eleventhTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/ninthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/eighthSales.jsonl": [1, "a quoted request"],
  "test/fixtures/office/ninth-harbor.txt": [1, "a quoted question"],
  "test/agents/basic/deeds/fifthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/fourthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/freshTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/seventhTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/thirtiethTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/thirtiethSales.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/thirtyfirstTeam.jsonl": [4, "quoted requests"],
  "test/agents/basic/deeds/thirtyfirstSales.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirtysecondTeam.jsonl": [4, "quoted requests"],
  "test/agents/basic/deeds/thirtysecondSales.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirtythirdTeam.jsonl": [3, "quoted requests"],
  "test/agents/basic/deeds/thirtythirdSales.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirtyfourthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirtyfourthSales.jsonl": [4, "quoted requests"],
  "test/agents/basic/deeds/thirtysixthTeam.jsonl": [4, "quoted requests"],
  "test/agents/basic/deeds/thirtyfifthTeam.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/thirtyfifthSales.jsonl": [3, "quoted requests"],
  "test/agents/basic/deeds/thirtiethDesk.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentyfifthDesk.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentysecondTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentythirdDesk.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/secondTeam.jsonl": [2, "a quoted request"],
  "test/agents/basic/questions.test.ts": [3, "a quoted question"],
  "test/fixtures/chinook/Chinook_PostgreSql.sql": [1, "the title of a song"],
  "test/fixtures/office/fresh-harbor.txt": [1, "a quoted question"],
  "test/fixtures/office/fortyfourth-chinook.txt": [1, "a quoted question"],
  "test/fixtures/office/fortyninth-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/fortythird-harbor.txt": [1, "a quoted question"],
  "test/fixtures/office/harbor.txt": [1, "a quoted question"],
  "test/fixtures/office/second-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/seventeenth-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/twentythird-calendar.txt": [1, "a quoted question"],
  "test/fixtures/office/twentyseventh-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/thirtieth-calendar.txt": [1, "a quoted question"],
  "test/fixtures/office/thirtieth-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/thirtieth-harbor.txt": [1, "a quoted question"],
  "test/fixtures/office/thirtyfirst-harbor.txt": [2, "quoted questions"],
  "test/fixtures/office/thirtysecond-crm.txt": [2, "quoted questions"],
  "test/fixtures/office/thirtysecond-harbor.txt": [1, "quoted questions"],
  "test/fixtures/office/thirtythird-crm.txt": [1, "quoted questions"],
  "test/fixtures/office/thirtyfourth-harbor.txt": [1, "quoted questions"],
  "test/fixtures/figures/thirtysixth.jsonl": [2, "quoted questions"],
  "test/fixtures/office/thirtyeighth-crm.txt": [2, "quoted questions"],
  "test/fixtures/office/thirtyseventh-crm.txt": [1, "quoted questions"],
  "test/fixtures/office/thirtyfifth-crm.txt": [1, "quoted questions"],
  "src/agents/basic/paraphrases/details.ts": [3, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/paraphrases/lists.ts": [3, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/paraphrases/table.ts": [2, "basic mode's vocabulary: words of a question"],
  "src/agents/basic/slots/readDetail.ts": [2, "basic mode's vocabulary: words of a question"],
  "test/fixtures/office/twentyeighth-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/twentyninth-calendar.txt": [1, "a quoted question"],
  "test/fixtures/office/twentyninth-crm.txt": [1, "a quoted question"],
  "test/fixtures/office/dropped-crm.txt": [3, "a quoted question"],
  "test/agents/basic/deeds/declinedVoices.txt": [1, "a quoted statement"],
  "test/agents/basic/deeds/twentysixthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentyeighthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentyninthTeam.jsonl": [1, "a quoted request"],
  "test/agents/basic/deeds/twentyninthSales.jsonl": [2, "quoted requests"],
  "test/agents/basic/deeds/declined.txt": [5, "quoted requests"],
  "test/agents/basic/deeds/declinedProbes.txt": [4, "quoted requests"],
  "test/services/audit/AuditLog.test.ts": [1, "stored data: the audit log's actor of an unidentified caller"],
  "test/web/admin.test.ts": [1, "a forged actor in the audit log"]
}

const filesIn = (path: string): ReadonlyArray<string> =>
  statSync(join(root, path)).isFile()
    ? [path]
    : readdirSync(join(root, path), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(css|html|json|jsonl|md|snap|sql|tsx?|txt)$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const occurrences = (file: string) => readFileSync(join(root, file), "utf8").match(VAGUE)?.length ?? 0

describe("the language of sources, tests and docs", () => {
  it("names people by nouns: vague pronouns occur only in the listed files, as often as listed", () => {
    const found = Object.fromEntries(
      SCOPE.flatMap(filesIn)
        .map((file) => [file, occurrences(file)] as const)
        .filter(([file, count]) => count > 0 && file !== "test/language.test.ts")
    )
    expect(found).toEqual(Object.fromEntries(Object.entries(ALLOWED).map(([file, [count]]) => [file, count])))
  })
})
