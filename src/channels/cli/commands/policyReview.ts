/** The commands that explain access, simulate a policy file and create a first policy. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { open } from "node:fs/promises"
import { OPERATOR } from "../../../database/audit.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { printPolicy } from "../../../permissions/policyDocument.ts"
import { type Draft, draftPolicy, type DraftRole, REACHES } from "../../../permissions/draftPolicy.ts"
import { MAX_POLICY_LENGTH } from "../../../permissions/readPolicy.ts"
import { Policies } from "../../../services/policies/Policies.ts"
import { PolicyReview } from "../../../services/policies/PolicyReview.ts"
import { currentOrganization, typedAttributes, UsageError } from "../context.ts"
import { argument, optional, pairs, required, toggle } from "../flags.ts"
import { bold, dim, note, result } from "../output.ts"
import { explanationLines, previewLines, rowLines, simulationLines } from "../policyOutput.ts"
import { readTextFile } from "../readTextFile.ts"

const who = {
  for: required("for", "The person: an e-mail address or phone number"),
  role: Flag.String("role").pipe(Flag.withDescription("Replaces the person's roles; may be repeated"), Flag.atMost(20)),
  attr: pairs("attr", "With --role: an attribute, name=value; may be repeated")
}

const wanted = Effect.fnUntraced(function* (input: {
  readonly for: string
  readonly role: ReadonlyArray<string>
  readonly attr: Readonly<Record<string, string>>
}) {
  const attributes = yield* typedAttributes(input.attr)
  if (input.role.length === 0 && Object.keys(attributes).length > 0)
    return yield* UsageError.of("--attr needs --role: without --role, the member's own attributes apply.")
  return { as: input.for, ...(input.role.length === 0 ? {} : { roles: input.role, attributes }) }
})

export const explain = Command.make(
  "explain",
  {
    ...who,
    type: argument("type", "The type to look up"),
    id: Argument.String("id").pipe(
      Argument.withDescription("One row, by its imported id or its id in max find"),
      Argument.optional
    ),
    file: optional("file", "A policy file to use instead of the policy in force"),
    scope: Flag.String("scope").pipe(
      Flag.withDescription("Narrows access to a tool scope: TYPE or TYPE.COLUMN; may be repeated"),
      Flag.atMost(100)
    ),
    sql: toggle("sql", "Also show the SQL statement")
  },
  Effect.fnUntraced(function* (input) {
    const review = yield* PolicyReview
    const organization = yield* currentOrganization
    const question = {
      ...(yield* wanted(input)),
      type: input.type,
      ...(input.scope.length === 0 ? {} : { scope: input.scope }),
      ...(Option.isSome(input.file) ? { file: yield* readTextFile(input.file.value, MAX_POLICY_LENGTH) } : {})
    }
    const statement = input.sql ? yield* review.statement(organization, question) : undefined
    const sql =
      statement === undefined
        ? input.sql
          ? ["", bold("Statement"), "  none: the type is denied"]
          : []
        : ["", bold("Statement"), dim(statement.text), dim(`with ${JSON.stringify(statement.parameters, plain)}`)]
    const explanation = Option.isSome(input.id)
      ? yield* review.explainRow(organization, { ...question, id: input.id.value })
      : yield* review.explain(organization, question)
    const lines = "entityId" in explanation ? rowLines(explanation) : explanationLines(explanation)
    yield* result({ ...explanation, ...(input.sql ? { statement: statement ?? null } : {}) }, [...lines, ...sql])
  })
).pipe(
  Command.withDescription("Explain a person's access to a type or to one row"),
  Command.withExamples([
    { command: "max policy explain --for lena@atlas.com people", description: "The whole type" },
    { command: "max policy explain --for lena@atlas.com people c-2", description: "One row and each of its cells" }
  ])
)

const plain = (_: string, part: unknown) => (typeof part === "bigint" ? part.toString() : part)

export const simulate = Command.make(
  "simulate",
  {
    ...who,
    file: argument("file", "The policy file to simulate"),
    type: required("type", "The type to look up")
  },
  Effect.fnUntraced(function* (input) {
    const review = yield* PolicyReview
    const file = yield* readTextFile(input.file, MAX_POLICY_LENGTH)
    const simulation = yield* review.simulate(yield* currentOrganization, {
      ...(yield* wanted(input)),
      type: input.type,
      file
    })
    yield* result(simulation, simulationLines(simulation))
  })
).pipe(
  Command.withDescription("Show the rows and cells that a person would gain and lose under another policy"),
  Command.withExamples([
    {
      command: "max policy simulate policy.json --type people --for lena@atlas.com",
      description: "Before publishing the file"
    }
  ])
)

const REACH_TITLES = {
  all: "all records",
  own: "their own: the records that they own or attend, and their own record",
  company: "their own and their company's (the member's attribute company)"
} as const

export const newPolicy = Command.make(
  "new",
  {
    role: Flag.String("role").pipe(
      Flag.withDescription("Without prompts: ROLE=all, ROLE=own or ROLE=company; may be repeated"),
      Flag.atMost(50)
    ),
    private: Flag.String("private").pipe(
      Flag.withDescription("A column (TYPE.COLUMN) shown only on a person's own rows; may be repeated"),
      Flag.atMost(200)
    ),
    out: Flag.String("out").pipe(Flag.withDescription("The file to write"), Flag.withDefault("policy.json")),
    publish: toggle("publish", "Also put the policy in force")
  },
  Effect.fnUntraced(function* (input) {
    const review = yield* PolicyReview
    const policies = yield* Policies
    const organization = yield* currentOrganization
    const { catalog } = yield* review.names(organization)
    const columns = catalog.types.flatMap((type) =>
      type.columns.filter(({ key }) => key !== "name").map(({ slug }) => `${type.slug}.${slug}`)
    )
    const draft =
      input.role.length > 0
        ? { roles: yield* Effect.forEach(input.role, readRole), private: input.private }
        : process.stdin.isTTY === true
          ? yield* Effect.catchTag(ask(columns), "QuitError", () => Effect.interrupt)
          : yield* UsageError.of(
              "Prompts need a terminal. Use flags: max policy new --role member=all --private people.phone --private people.email"
            )
    const known = new Set([...columns, ...columns.map((name) => name.split(".")[1]!)])
    const unknown = draft.private.find((name) => !known.has(name))
    if (unknown !== undefined) {
      return yield* OperatorError.of(
        `There is no column ${quoted(unknown)}. Columns are: ${columns.slice(0, 20).join(", ")}${columns.length > 20 ? ", …" : ""}.`
      )
    }
    const text = printPolicy(draftPolicy(draft, catalog))
    const preview = yield* review.preview(organization, text)
    yield* writeNew(input.out, text)
    const published = input.publish ? yield* policies.publish(organization, text, OPERATOR) : undefined
    yield* result({ file: input.out, version: published?.version ?? null, preview }, [
      bold("What each role would see of the current data"),
      ...previewLines(preview).map((line) => `  ${line}`),
      "",
      published === undefined
        ? `Wrote ${input.out}. To put it in force: max policy publish ${input.out}`
        : `Wrote ${input.out}, and version ${published.version} is in force.`
    ])
    yield* note(`To see its rules in words: max policy check ${input.out}`)
  })
).pipe(
  Command.withDescription("Create a first policy from three questions, and preview it for each role"),
  Command.withExamples([
    { command: "max policy new", description: "Prompts for the answers" },
    {
      command: "max policy new --role member=all --private people.phone --publish",
      description: "Members see everything except the phone numbers of other members' people"
    }
  ])
)

const readRole = (text: string): Effect.Effect<DraftRole, UsageError> => {
  const [, role, word] = /^([a-z][a-z0-9_-]{0,62})=(.*)$/.exec(text) ?? []
  const reach = REACHES.find((candidate) => candidate === word)
  return role === undefined || reach === undefined || role === "admin"
    ? Effect.fail(
        UsageError.of(
          `${quoted(text)} is not ROLE=all, ROLE=own or ROLE=company. Example: --role member=own (the role admin always exists and sees everything)`
        )
      )
    : Effect.succeed({ role, reach })
}

const ask = Effect.fnUntraced(function* (columns: ReadonlyArray<string>) {
  const names = yield* Prompt.run(
    Prompt.String({
      message: "Which roles exist besides admin, which sees everything? (comma-separated)",
      default: "member",
      validate: (text) =>
        splitNames(text).every((name) => /^[a-z][a-z0-9_-]{0,62}$/.test(name) && name !== "admin") &&
        splitNames(text).length > 0
          ? Effect.succeed(text)
          : Effect.fail("Enter lower-case names, such as: member, manager")
    })
  )
  const roles = yield* Effect.forEach(
    splitNames(names),
    Effect.fnUntraced(function* (role) {
      const reach = yield* Prompt.run(
        Prompt.Select({
          message: `Which records does a ${role} see?`,
          choices: REACHES.map((value) => ({ title: REACH_TITLES[value], value }))
        })
      )
      return { role, reach } satisfies DraftRole
    })
  )
  const privateColumns = roles.some(({ reach }) => reach === "all")
    ? yield* Prompt.run(
        Prompt.MultiSelect({
          message:
            "Which columns are private, that is, visible only on a person's own records? (space selects, return confirms)",
          choices: columns.map((value) => ({ title: value, value }))
        })
      )
    : []
  return { roles, private: privateColumns } satisfies Draft
})

const splitNames = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** Creates a file, and fails if it exists. */
const writeNew = (path: string, text: string) =>
  Effect.tryPromise({
    try: async () => {
      const file = await open(path, "wx")
      try {
        await file.writeFile(text)
      } finally {
        await file.close()
      }
    },
    catch: (error) =>
      OperatorError.of(
        (error as NodeJS.ErrnoException).code === "EEXIST"
          ? `${quoted(path)} already exists. Choose another file: --out FILE`
          : `${quoted(path)} can't be written.`
      )
  })
