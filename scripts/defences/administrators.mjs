// Replays of what administrators could learn or be told wrongly, in the form of replays.mjs.
const testTexts = "src/services/texting/TestTexts.ts"
const testTextsTest = "test/channels/sms/testTexts.test.ts"
const setupTest = "test/channels/http/setup.test.ts"
const link = "src/channels/cli/setupLink.ts"
const linkTest =
  "is in a file that only its owner reads where there is no terminal, in the part of the address that no server gets"
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
  },
  {
    name: "An invitation that was said to be mailed while the mail server was down (our own review)",
    test: [
      "test/channels/http/invitations.test.ts",
      "that can't be sent, because the mail server is down, leaves the invitation, and a link to oneself is answered as ever"
    ],
    defence: "Mailer.ts `send`: a mail counts as sent once the server has accepted it",
    removed: "the outcome of a failure",
    patches: [
      [
        "src/services/mail/Mailer.ts",
        `cause: typeof cause === "string" ? cause : "timeout"
                }),
                false`,
        `cause: typeof cause === "string" ? cause : "timeout"
                }),
                true`
      ]
    ]
  },
  {
    name: "An upload of 200 MB that was read before it was refused (our own review)",
    test: [importsTest, "is a file above the limit, by its announced and by its real length, and another kind of body"],
    defence: "edge.ts: a length above the route's limit is refused by the headers alone",
    removed: "the comparison with the announced length",
    patches: [
      [
        "src/channels/http/edge.ts",
        "if (length !== undefined && Number(length) > maximum) return tooLarge",
        "if (length === tooLarge) return tooLarge"
      ]
    ]
  },
  {
    name: "A model's key that its provider refuses, which was stored (our own review)",
    test: ["test/channels/http/connections.test.ts", "is not saved:"],
    defence: "ModelSettings.ts `setKey`: a key is tried with the provider before it is sealed",
    removed: "the trial",
    patches: [
      [
        "src/services/models/ModelSettings.ts",
        "yield* tryKey(yield* secrets.take(organization, given), model ?? limits.defaultModel)",
        "yield* secrets.take(organization, given)"
      ]
    ]
  },
  {
    name: "Conversations that an organization keeps longer than its operator (our own review)",
    test: [
      "test/channels/http/office.test.ts",
      "keeps conversations for a time of its own, with the power policy, and never longer than the operator"
    ],
    defence: "Organizations.ts `checkSettings`: an organization's time is at most the operator's",
    removed: "the comparison",
    patches: [["src/services/organizations/Organizations.ts", "days >= 1 && days <= most", "days >= 1 && most > 0"]]
  },
  {
    name: "Conversations that are kept longer after the operator has shortened the time (our own review)",
    test: [
      "test/services/conversations/Sessions.test.ts",
      "is removed after the organization's own days, which are never more than the operator's"
    ],
    defence: "retention.ts `keptDays`: the shorter of both times counts when conversations are deleted",
    removed: "the shorter of both",
    patches: [["src/database/retention.ts", "least(${days}::int, (", "coalesce(nullif(${days}::int, ${days}::int), ("]]
  },
  {
    name: "Conversations that are kept as long as the operator has it, though the organization wants a shorter time (our own review)",
    test: [
      "test/services/conversations/Sessions.test.ts",
      "is removed after the organization's own days, which are never more than the operator's"
    ],
    defence: "Sessions.ts `removeOlderThan`: the organization's own time counts",
    removed: "the organization's time",
    patches: [
      [
        "src/services/conversations/Sessions.ts",
        "make_interval(days => ${keptDays(app, organizationId, days)})",
        "make_interval(days => ${days}::int + 0 * ${keptDays(app, organizationId, days)})"
      ]
    ]
  },
  {
    name: "Text messages whose content is kept longer than the organization's conversations (our own review)",
    test: [
      "test/channels/sms/delivery.test.ts",
      "loses its bodies after the organization's own days, if these are fewer"
    ],
    defence: "SmsOutbox.ts `prune`: the organization's own time counts for text messages",
    removed: "the organization's time",
    patches: [
      [
        "src/services/texting/SmsOutbox.ts",
        'const owning = app.literal("x.organization_id")',
        'const owning = app.literal("0::bigint")'
      ]
    ]
  },
  {
    name: "Conversations of all colleagues deleted by an administrator who may not set the organization's time (our own review)",
    test: [
      "test/channels/http/office.test.ts",
      "keeps conversations for a time of its own, with the power policy, and never longer than the operator"
    ],
    defence: "OrganizationSettings.ts `set`: what changes the organization needs the power `policy`",
    removed: "the power",
    patches: [
      [
        "src/services/administration/OrganizationSettings.ts",
        'yield* requirePower(state.policy, principal, "policy")',
        ""
      ]
    ]
  },
  {
    name: "The first visitor of a fresh server who set it up without its link (our own review)",
    test: [setupTest, "is refused when it is made up, has expired, or is a challenge for something else"],
    defence: "Setup.ts `finish`: a set-up needs a link that this server has made, and that is in time",
    removed: "the comparison",
    patches: [["src/services/onboarding/Setup.ts", "if (!(yield* isLink(wanted.code))) return yield* INVALID", ""]]
  },
  {
    name: "A set-up link in the log of a service (our own review)",
    test: [setupTest, linkTest],
    defence: "setupLink.ts `offerSetup`: a link is printed at a terminal of this machine only",
    removed: "the question whether there is a terminal",
    patches: [[link, "process.stdout.isTTY === true && LOOPBACK", "LOOPBACK"]]
  },
  {
    name: "A set-up link that other users of the machine read (our own review)",
    test: [setupTest, linkTest],
    defence: "setupLink.ts `intoFile`: the file is new, and only its owner reads it",
    removed: "the mode",
    patches: [[link, "mode: 0o600, ", ""]]
  },
  {
    name: "A set-up link in a proxy's log, a history or a referrer (our own review)",
    test: [setupTest, linkTest],
    defence: "setupLink.ts `setupLink`: the code is in the fragment, which a browser sends to no server",
    removed: "the fragment",
    patches: [[link, "url.hash = code", "url.search = code"]]
  },
  {
    name: "Another site's page that signed a visitor in as its own author (login CSRF, our own review)",
    test: ["test/channels/http/admission.test.ts", "that is expired, invented or sent from another origin is refused"],
    defence: "routes.ts: a sign-in link is used by Max's own page",
    removed: "the comparison of origins",
    patches: [
      [
        "src/channels/http/routes.ts",
        "isOwnChange(request, settings)\n          ? throttle.attempt(credentials.redeemLink",
        "settings.cookie !== request.method\n          ? throttle.attempt(credentials.redeemLink"
      ]
    ]
  },
  {
    name: "A set-up or a sign-in under another host's name, as with DNS rebinding (our own review)",
    test: [setupTest, "is used, and a person signs in, under Max's own names only"],
    defence: "edge.ts `rejection`: a request names a host of Max's",
    removed: "the comparison",
    patches: [
      [
        "src/channels/http/edge.ts",
        'if (!settings.isHost(headers["host"]) && ',
        'if (headers["host"] === undefined && '
      ]
    ]
  },
  {
    name: "The last administrator who suspended themselves (our own review)",
    test: [
      "test/channels/http/admin.test.ts",
      "is impossible for oneself, and one of two administrators who suspend each other remains"
    ],
    defence: "suspension.ts: an administrator never suspends themselves",
    removed: "the comparison",
    patches: [
      [
        "src/services/members/suspension.ts",
        "member.anchorId === administrator?.anchorEntityId",
        'member.anchorId === ""'
      ]
    ]
  }
]
