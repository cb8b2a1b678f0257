/** Asking about policies: why somebody sees something, what a file would change, and a first policy out of three questions. */
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
import { currentOrganization, typedAttributes, UsageError, wantsJson } from "../context.ts"
import { bold, dim, note, result } from "../output.ts"
import { explanationLines, previewLines, rowLines, simulationLines } from "../policyOutput.ts"
import { readTextFile } from "../readTextFile.ts"

const who = {
  for: Flag.String("for").pipe(Flag.withDescription("Whom it is about: an e-mail address or phone number")),
  role: Flag.String("role").pipe(
    Flag.withDescription("As if the person had this role instead of its own; may be repeated"),
    Flag.atMost(20)
  ),
  attr: Flag.KeyValuePair("attr").pipe(
    Flag.withDescription("With --role: an attribute, name=value; may be repeated"),
    Flag.withDefault({})
  )
}

const wanted = Effect.fnUntraced(function* (input: {
  readonly for: string
  readonly role: ReadonlyArray<string>
  readonly attr: Readonly<Record<string, string>>
}) {
  const attributes = yield* typedAttributes(input.attr)
  if (input.role.length === 0 && Object.keys(attributes).length > 0)
    return yield* new UsageError({
      message: "--attr goes with --role: a member's own attributes are used as they are."
    })
  return { as: input.for, ...(input.role.length === 0 ? {} : { roles: input.role, attributes }) }
})

export const explain = Command.make(
  "explain",
  {
    ...who,
    type: Argument.String("type").pipe(Argument.withDescription("What is looked up")),
    id: Argument.String("id").pipe(
      Argument.withDescription("One row, by the id that it was imported with or that max find shows"),
      Argument.optional
    ),
    file: Flag.String("file").pipe(
      Flag.withDescription("Ask about this file instead of the policy in force"),
      Flag.optional
    ),
    scope: Flag.String("scope").pipe(
      Flag.withDescription("Look through a tool scope: TYPE, TYPE.COLUMN; may be repeated"),
      Flag.atMost(100)
    ),
    sql: Flag.Boolean("sql").pipe(Flag.withDescription("Show the statement, too"), Flag.withDefault(false))
  },
  (input) =>
    Effect.gen(function* () {
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
            ? ["", bold("The statement"), "  none: the type is denied before any statement"]
            : []
          : ["", bold("The statement"), dim(statement.text), dim(`with ${JSON.stringify(statement.parameters, plain)}`)]
      const found = Option.isSome(input.id)
        ? yield* review.explainRow(organization, { ...question, id: input.id.value })
        : yield* review.explain(organization, question)
      const lines = "entityId" in found ? rowLines(found) : explanationLines(found)
      yield* result(yield* wantsJson, { ...found, ...(input.sql ? { statement: statement ?? null } : {}) }, [
        ...lines,
        ...sql
      ])
    })
).pipe(
  Command.withDescription("Say why somebody sees a type or one row of it, or doesn't"),
  Command.withExamples([
    { command: "max policy explain --for lena@atlas.com people", description: "All of it" },
    { command: "max policy explain --for lena@atlas.com people c-2", description: "One row and each of its cells" }
  ])
)

const plain = (_: string, part: unknown) => (typeof part === "bigint" ? part.toString() : part)

export const simulate = Command.make(
  "simulate",
  {
    ...who,
    file: Argument.String("file").pipe(Argument.withDescription("The policy that might be published")),
    type: Flag.String("type").pipe(Flag.withDescription("What is looked up"))
  },
  (input) =>
    Effect.gen(function* () {
      const review = yield* PolicyReview
      const file = yield* readTextFile(input.file, MAX_POLICY_LENGTH)
      const found = yield* review.simulate(yield* currentOrganization, {
        ...(yield* wanted(input)),
        type: input.type,
        file
      })
      yield* result(yield* wantsJson, found, simulationLines(found))
    })
).pipe(
  Command.withDescription("Say which rows and cells somebody would gain and lose under another policy"),
  Command.withExamples([
    {
      command: "max policy simulate policy.json --type people --for lena@atlas.com",
      description: "Before publishing it"
    }
  ])
)

const REACH_WORDS = {
  all: "everybody's",
  own: "those that they own, attend or are",
  company: "those, and those of their company (the member's attribute company)"
} as const

export const newPolicy = Command.make(
  "new",
  {
    role: Flag.String("role").pipe(
      Flag.withDescription("Instead of being asked: ROLE=all, ROLE=own or ROLE=company; may be repeated"),
      Flag.atMost(50)
    ),
    private: Flag.String("private").pipe(
      Flag.withDescription("A column, as TYPE.COLUMN, that is shown on one's own rows only; may be repeated"),
      Flag.atMost(200)
    ),
    out: Flag.String("out").pipe(Flag.withDescription("The file to write"), Flag.withDefault("policy.json")),
    publish: Flag.Boolean("publish").pipe(Flag.withDescription("Put it in force, too"), Flag.withDefault(false))
  },
  (input) =>
    Effect.gen(function* () {
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
            : yield* new UsageError({
                message:
                  "There is nobody to ask here. Say it with flags: max policy new --role member=all --private people.phone --private people.email"
              })
      const known = new Set([...columns, ...columns.map((name) => name.split(".")[1]!)])
      const unknown = draft.private.find((name) => !known.has(name))
      if (unknown !== undefined) {
        return yield* new OperatorError({
          message: `There is no column ${quoted(unknown)}. Columns are: ${columns.slice(0, 20).join(", ")}${columns.length > 20 ? ", …" : ""}.`
        })
      }
      const text = printPolicy(draftPolicy(draft, catalog))
      const preview = yield* review.preview(organization, text)
      yield* writeNew(input.out, text)
      const published = input.publish ? yield* policies.publish(organization, text, OPERATOR) : undefined
      yield* result(yield* wantsJson, { file: input.out, version: published?.version ?? null, preview }, [
        bold("What each role would see of what is there now"),
        ...previewLines(preview).map((line) => `  ${line}`),
        "",
        published === undefined
          ? `${input.out} is written. Put it in force: max policy publish ${input.out}`
          : `${input.out} is written, and version ${published.version} is in force.`
      ])
      yield* note("Its rules in words: max policy check " + input.out)
    })
).pipe(
  Command.withDescription("Make a first policy out of three questions, and see what each role would see"),
  Command.withExamples([
    { command: "max policy new", description: "Asks" },
    {
      command: "max policy new --role member=all --private people.phone --publish",
      description: "Members see everything, but phone numbers of their own people only"
    }
  ])
)

const readRole = (text: string): Effect.Effect<DraftRole, UsageError> => {
  const [, role, word] = /^([a-z][a-z0-9_-]{0,62})=(.*)$/.exec(text) ?? []
  const reach = REACHES.find((one) => one === word)
  return role === undefined || reach === undefined || role === "admin"
    ? Effect.fail(
        new UsageError({
          message: `${quoted(text)} isn't a role with what it sees. Write: --role member=all, --role member=own or --role member=company (admin is made by itself and sees everything)`
        })
      )
    : Effect.succeed({ role, reach })
}

const ask = Effect.fnUntraced(function* (columns: ReadonlyArray<string>) {
  const names = yield* Prompt.run(
    Prompt.String({
      message: "Which roles are there besides admin, who sees everything? (with commas between them)",
      default: "member",
      validate: (text) =>
        splitNames(text).every((name) => /^[a-z][a-z0-9_-]{0,62}$/.test(name) && name !== "admin") &&
        splitNames(text).length > 0
          ? Effect.succeed(text)
          : Effect.fail("Lower-case words, such as: member, manager")
    })
  )
  const roles = yield* Effect.forEach(
    splitNames(names),
    Effect.fnUntraced(function* (role) {
      const reach = yield* Prompt.run(
        Prompt.Select({
          message: `Whose records does a ${role} see?`,
          choices: REACHES.map((value) => ({ title: REACH_WORDS[value], value }))
        })
      )
      return { role, reach } satisfies DraftRole
    })
  )
  const asked = roles.some(({ reach }) => reach === "all")
    ? yield* Prompt.run(
        Prompt.MultiSelect({
          message:
            "Which columns are private, so that people see them on their own records only? (space selects, return ends)",
          choices: columns.map((value) => ({ title: value, value }))
        })
      )
    : []
  return { roles, private: asked } satisfies Draft
})

const splitNames = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** A file that wasn't there before: nobody's work is written over. */
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
      new OperatorError({
        message:
          (error as NodeJS.ErrnoException).code === "EEXIST"
            ? `${quoted(path)} is there already. Take another name: --out FILE`
            : `${quoted(path)} can't be written.`
      })
  })
