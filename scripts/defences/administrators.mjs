// Replays of what administrators could learn or be told wrongly, in the form of replays.mjs.
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
  }
]
