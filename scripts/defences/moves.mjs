// What prevents loss, difference, a wrong answer and a stuck move while an organization moves between databases (our own review).
const fenceTest = "test/services/operations/move/fence.test.ts"
const sidesTest = "test/services/operations/move/sides.test.ts"
const move = "src/services/operations/Move.ts"
const fence = "src/services/operations/move/fence.ts"
const checksums = "src/services/operations/move/checksums.ts"
const replicate = "src/services/operations/move/replicate.ts"
const preflight = "src/services/operations/move/preflight.ts"
const undo = "src/services/operations/move/undo.ts"
const state = "src/services/catalog/OrganizationState.ts"

const cutOver =
  "refuses its writes behind the fence, answers none of its requests, and goes on when the target has all of its rows"
const published = "copies no other organization's row, and empties no table of the target"
const differing = "stays where it is if a row differs at the target, and is in use again"
const free =
  "begins only if the target has neither the organization, its slug nor its number, and changes nothing otherwise"
const imports = "waits for an import that runs, and imports wait for it"

export const moves = [
  {
    name: "A move of an organization: a write that its target never got",
    test: [fenceTest, cutOver],
    defence: "fence.ts `close`: a trigger on each table refuses every write of the organization",
    removed: "the condition of the triggers",
    patches: [
      [
        fence,
        "FOR EACH ROW WHEN (NEW.organization_id = ${id})",
        "FOR EACH ROW WHEN (false AND NEW.organization_id = ${id})"
      ],
      [
        fence,
        "FOR EACH ROW WHEN (OLD.organization_id = ${id})",
        "FOR EACH ROW WHEN (false AND OLD.organization_id = ${id})"
      ]
    ]
  },
  {
    name: "A move of an organization: a process went on answering from plans of before",
    test: [fenceTest, cutOver],
    defence: "fence.ts `close`: a new epoch",
    removed: "the new epoch",
    patches: [
      [
        fence,
        `yield* raiseEpoch(owner, id, [
      { actor: OPERATOR, action: "organization.moving", subject: "database", details: { to: target.place } }
    ])`,
        "void [raiseEpoch, target]"
      ]
    ]
  },
  {
    name: "A move of an organization: rows answered from the database that it left, or before they had all arrived",
    test: [fenceTest, cutOver],
    defence: "OrganizationState.ts, Credentials.ts: a closed organization is unavailable",
    removed: "both conditions",
    patches: [
      [state, "if (row.closed) return", "if (false as boolean) return"],
      ["src/services/access/Credentials.ts", "if (row?.closed === true)", "if (false as boolean)"]
    ]
  },
  {
    name: "A move of an organization: in force before the target had stored what the source had committed",
    test: [fenceTest, cutOver],
    defence: "replicate.ts `awaitAll`: waits for the slot's confirmed position",
    removed: "the wait",
    patches: [[replicate, "until: (done) => done, schedule", "until: () => true, schedule"]]
  },
  {
    name: "A move of an organization: unavailable as long as its target lagged",
    test: [fenceTest, "opens the organization here again if the target doesn't catch up within 30 seconds"],
    defence: "replicate.ts `awaitAll`: at most 30 seconds, and then the organization is opened again",
    removed: "the bound",
    patches: [[replicate, "duration: CATCH_UP,", 'duration: "1 hour",']]
  },
  {
    name: "A move of an organization: rows that differ at the target",
    test: [fenceTest, differing],
    defence: "Move.ts: nothing is put in force while a checksum differs",
    removed: "the condition",
    patches: [[move, "if (different.length > 0)", "if (different.length < 0)"]]
  },
  {
    name: "A move of an organization: rows that changed after their checksum",
    test: [fenceTest, "compares rows again that changed after they had been compared"],
    defence: "checksums.ts `compareFenced`: parts whose row versions differ are compared again",
    removed: "the comparison of row versions",
    patches: [[checksums, "before.get(bucket) !== now.get(bucket)?.versions || ", ""]]
  },
  {
    name: "A move of an organization: closed for good after a failure behind the fence",
    test: [fenceTest, differing],
    defence: "Move.ts `stay`: the organization is opened at the source again",
    removed: "the opening",
    patches: [
      [move, "Exit.isFailure(exit) ? stay(moving) : Effect.void", "Exit.isFailure(exit) ? Effect.void : Effect.void"]
    ]
  },
  {
    name: "A move of an organization: other organizations' rows copied to its target",
    test: [fenceTest, published],
    defence: "replicate.ts `publicationStatement`: row filters",
    removed: "the filters",
    patches: [[replicate, "`${qualified(shape)} WHERE (organization_id = ${id})`", "`${qualified(shape)}`"]]
  },
  {
    name: "A move of an organization: a TRUNCATE at the source that emptied the target's table for everyone",
    test: [fenceTest, published],
    defence: "replicate.ts `publicationStatement`: TRUNCATE isn't published",
    removed: "the restriction",
    patches: [[replicate, "publish = 'insert, update, delete'", "publish = 'insert, update, delete, truncate'"]]
  },
  {
    name: "A move of an organization: all writers waited behind a long transaction of one",
    test: [
      fenceTest,
      "holds up other organizations' writers for less than a second at a time while it waits for its own"
    ],
    defence: "fence.ts `PATIENCE`: an attempt at the locks ends after 0.8 seconds",
    removed: "the bound",
    patches: [[fence, 'PATIENCE = "800ms"', 'PATIENCE = "60000ms"']]
  },
  {
    name: "A move of an organization: put in force by a command that a later one had replaced",
    test: [fenceTest, "ends, if a later command has begun, before it puts anything in force"],
    defence: "Move.ts `putInForce`: only the last command's number",
    removed: "the comparison of numbers",
    patches: [
      [
        move,
        "AND incoming AND closed AND run = ${run} RETURNING",
        "AND incoming AND closed AND ${run}::bigint > 0 RETURNING"
      ]
    ]
  },
  {
    name: "A move of an organization: an undo that deleted the only rows in force",
    test: [fenceTest, "is not undone once the organization is in force at the target, and the same command ends it"],
    defence: "undo.ts: an organization in force at the target isn't undone, by its row as read, changed and deleted",
    removed: "the three conditions",
    patches: [
      [
        undo,
        "if (here?.moved === true || isInForceThere(there))",
        "if (here?.moved === true || isInForceThere(undefined))"
      ],
      [undo, "AND incoming AND closed RETURNING", "AND incoming RETURNING"],
      [undo, "AND incoming AND closed AND run", "AND incoming AND run"]
    ]
  },
  {
    name: "A move of an organization: begun while an import wrote",
    test: [fenceTest, imports],
    defence: "Move.ts `begin`: takes the lock of imports, or ends",
    removed: "the condition",
    patches: [[move, "if (!lock!.free)", "if (!lock!.free && Number.NaN)"]]
  },
  {
    name: "A move of an organization: an import during it made a table that stayed behind",
    test: [fenceTest, imports],
    defence: "EntityTypeCatalog.ts `holdImports`: imports are refused while a move is recorded",
    removed: "the condition",
    patches: [["src/services/EntityTypeCatalog.ts", "moves.length === 0", "moves.length >= 0"]]
  },
  {
    name: "A move of an organization: a table that isn't published stayed behind",
    test: [fenceTest, "ends at a type that got a table during the move, and moves with it after an undo"],
    defence: "fence.ts `close`: the organization's tables are those that are published",
    removed: "the comparison",
    patches: [[fence, "some((table) => !known.has(table))", "some((table) => !known.has(table) && false)"]]
  },
  {
    name: "A move of an organization: one closed organization stopped the work for all",
    test: [fenceTest, "leaves out what has moved away in statements over all organizations, which go on"],
    defence: "SmsOutbox.ts: statements over all organizations leave closed ones out",
    removed: "the condition",
    patches: [
      [
        "src/services/texting/SmsOutbox.ts",
        'app.literal(`NOT ${isClosed("x.organization_id")}`)',
        'app.literal(`TRUE OR ${isClosed("x.organization_id")}`)'
      ]
    ]
  },
  {
    name: "A move of an organization: rows deleted here before they were in force there",
    test: [sidesTest, "deletes no row here before it is in force there"],
    defence: "undo.ts `cleanAfterMove`: only after the move",
    removed: "the condition",
    patches: [[undo, "here === undefined || here.incoming || !here.moved", "here === undefined || here.incoming"]]
  },
  {
    name: "A move of an organization: an undo that deleted rows which arrived from another database",
    test: [sidesTest, "is undone only at the database that it goes to: what arrives there from elsewhere stays"],
    defence: "undo.ts: the row at the target names this database",
    removed: "the comparison",
    patches: [[undo, "there?.incoming === true && there.place === source.place", "there?.incoming === true"]]
  },
  {
    name: "A move of an organization: onto a restored copy of it",
    test: [sidesTest, free],
    defence: "preflight.ts `checkTarget`: the target has no organization of the same id",
    removed: "the condition",
    patches: [[preflight, "if (found!.same && move === undefined)", "if (found!.same && move !== undefined)"]]
  },
  {
    name: "A move of an organization: another organization's text messages, by the same number",
    test: [sidesTest, free],
    defence: "preflight.ts `checkTarget`: the target has none of its numbers and providers",
    removed: "the comparison",
    patches: [[preflight, "for (const { mend } of taken)", "for (const { mend } of taken.slice(taken.length))"]]
  },
  {
    name: "A move of an organization: in force where no request is led",
    test: [sidesTest, "begins only if the directory can be written"],
    defence: "Move.ts: the map and haproxy's socket are tried before anything moves",
    removed: "the check",
    patches: [
      [move, "if (request.directory !== undefined) yield* checkDirectory(request.directory)", "void checkDirectory"]
    ]
  },
  {
    name: "A move of an organization: the source's password in the log of the target's server",
    test: [sidesTest, "shows the source's password in no log of either server"],
    defence: "replicate.ts `subscribe`: the connection string is a bound value",
    removed: "the binding",
    patches: [
      [
        replicate,
        "define(owner, [subscriptionStatement(id)])",
        `define(owner, [subscriptionStatement(id).replace("current_setting('max.connection')", literal(Redacted.value(connection)))])`
      ]
    ]
  },
  {
    name: "A move of an organization: a copy that never ends, because a row can't be stored",
    test: [sidesTest, "ends when the target can't store a row, and is undone"],
    defence: "replicate.ts `awaitCopy`: five errors of the subscription end the command",
    removed: "the bound",
    patches: [[replicate, "if (row.errors - before >= MAX_ERRORS)", "if (row.errors - before >= Number.MAX_VALUE)"]]
  },
  {
    name: "A move of an organization: a migration of one side changed its tables",
    test: [sidesTest, "lets no migration begin"],
    defence: "migrate.ts `refuseWhileMoving`: no migration while a move is recorded",
    removed: "the refusal",
    patches: [["src/database/migrate.ts", "if (move !== undefined)", "if (move !== undefined && false)"]]
  }
]
