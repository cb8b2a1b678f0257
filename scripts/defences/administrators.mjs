// Replays of what administrators could learn or be told wrongly, in the form of replays.mjs.
const testTexts = "src/services/texting/TestTexts.ts"
const testTextsTest = "test/channels/sms/testTexts.test.ts"
const importsTest = "test/channels/http/imports.test.ts"

export const administrators = [
  {
    name: "Counts of an import told, on the page Audit, whether hidden rows exist (our own review)",
    test: [importsTest, "tells an administrator who doesn't see the whole type nothing about rows that exist"],
    defence: "importRuns.ts `countsFor`: new and changed rows are counted for those who see the whole type",
    removed: "the comparison with their plan",
    patches: [
      [
        "src/services/administration/importRuns.ts",
        "type !== undefined && seesWhole(policy, roles, type)",
        "policy !== roles"
      ]
    ]
  },
  {
    name: "Test texts that an administrator sent to a phone again and again (our own review)",
    test: [testTextsTest, "is sent once a minute, however many ask at the same time"],
    defence: "TestTexts.ts `write`: one test a minute, compared under the organization's lock",
    removed: "the comparison with the last test",
    patches: [[testTexts, "if (recent.length > 0)", "if (recent.length > 99)"]]
  },
  {
    name: "Test texts beyond the limits of all others (our own review)",
    test: [testTextsTest, "count a test: the messages of a number in an hour, which questions use up, too"],
    defence: "TestTexts.ts `write`: a test counts as a message of the number in this hour",
    removed: "the hour's limit",
    patches: [[testTexts, "s.in_hour < ${perHour}::int RETURNING", "true RETURNING"]]
  },
  {
    name: "A test text to the number of a suspended member (our own review)",
    test: [testTextsTest, "by command goes to an active member only"],
    defence: "TestTexts.ts `phoneOf`: the number of an active membership",
    removed: "the condition on the membership",
    patches: [[testTexts, " AND m.suspended_at IS NULL", ""]]
  }
]
