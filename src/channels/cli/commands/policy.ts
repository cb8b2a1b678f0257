/** The commands that read, check, compare, publish and edit policies. */
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OPERATOR } from "../../../database/audit.ts"
import type { ConfigurationError, Unavailable } from "../../../domain/errors.ts"
import { OperatorError } from "../../../domain/errors.ts"
import type { Env } from "../../../env.ts"
import { diffPolicies } from "../../../permissions/policyDiff.ts"
import { type PolicyEdit, type EditResult, grantAccess, revokeAccess } from "../../../permissions/editPolicy.ts"
import { policySchema } from "../../../permissions/policySchema.ts"
import { MAX_POLICY_LENGTH } from "../../../permissions/readPolicy.ts"
import type { OrganizationState } from "../../../services/catalog/OrganizationState.ts"
import { Changes, type Publishable } from "../../../services/changes/Changes.ts"
import { Policies } from "../../../services/policies/Policies.ts"
import { PolicyReview } from "../../../services/policies/PolicyReview.ts"
import { changeLines } from "../changeView.ts"
import { asPrincipal, currentOrganization, max, UsageError } from "../context.ts"
import { TERMINAL, waitingLine } from "../deciding.ts"
import { argument, optional, toggle } from "../flags.ts"
import { bold, columns, json, note, result } from "../output.ts"
import { diffLines, policyLines, testLines, warningLines } from "../policyOutput.ts"
import { readTextFile } from "../readTextFile.ts"

const fileArgument = argument("file", "A policy file (JSON)")
const readPolicyFile = (path: string) => readTextFile(path, MAX_POLICY_LENGTH)

export const check = Command.make(
  "check",
  { file: fileArgument },
  Effect.fnUntraced(function* (input) {
    const policies = yield* Policies
    const text = yield* readPolicyFile(input.file)
    const { catalog, changes, policy, tests, warnings } = yield* policies.check(yield* currentOrganization, text)
    const failed = tests.filter(({ failures }) => failures.length > 0)
    yield* result({ rules: policy.rules.length, roles: Object.keys(policy.roles), tests, warnings, changes }, [
      bold("Rules"),
      ...policyLines(policy, catalog).map((line) => `  ${line}`),
      "",
      bold("Changes to the version in force"),
      ...diffLines(changes).map((line) => `  ${line}`),
      ...(warnings.length === 0 ? [] : ["", bold("Warnings"), ...warningLines(warnings).map((line) => `  ${line}`)]),
      ...(tests.length === 0 ? [] : ["", bold("Tests"), ...testLines(tests).map((line) => `  ${line}`)]),
      "",
      failed.length > 0
        ? `The policy can't be published: ${failed.length} of ${tests.length} tests fail.`
        : `The policy can be published: max policy publish ${input.file}`
    ])
    if (failed.length > 0) return yield* OperatorError.of(`${failed.length} of ${tests.length} tests fail.`)
  })
).pipe(Command.withDescription("Describe a policy in words, report problems and warnings, and run its tests"))

/** Proposes a file, and shows the change that waits for another person. */
const proposed = Effect.fnUntraced(function* (publication: Publishable) {
  const { changeId, preview } = yield* asPrincipal(() =>
    Effect.flatMap(Changes, (service) => service.proposePolicy({ ...publication, via: TERMINAL }))
  )
  yield* result({ changeId, preview }, [...changeLines(preview), waitingLine(changeId, preview.approvers)])
})

export const publish = Command.make(
  "publish",
  {
    file: fileArgument,
    replacing: Flag.Int("replacing").pipe(
      Flag.withDescription("Publish only if this version is in force, so that no other change is overwritten"),
      Flag.optional
    ),
    propose: toggle("propose", "As --as: propose the file as a change, which another person approves in max inbox"),
    withoutApproval: toggle("without-approval", "Publish though a second person approves each publication here")
  },
  Effect.fnUntraced(function* (input) {
    const policies = yield* Policies
    const organization = yield* currentOrganization
    const text = yield* readPolicyFile(input.file)
    const { changes, tests, warnings } = yield* policies.check(organization, text)
    if (input.propose) {
      if (tests.some(({ failures }) => failures.length > 0))
        return yield* OperatorError.of("The policy was not proposed: not all of its tests pass.", testLines(tests))
      if (input.withoutApproval) return yield* UsageError.of("Pass --propose or --without-approval, not both.")
      const replaces =
        Option.getOrElse(input.replacing, () => undefined) ?? (yield* policies.current(organization)).version
      return yield* proposed({ text, replaces })
    }
    const { policy, version } = yield* policies.publish(organization, text, OPERATOR, {
      replacing: Option.getOrUndefined(input.replacing),
      withoutApproval: input.withoutApproval
    })
    const roles = Object.keys(policy.roles)
    yield* result({ version, rules: policy.rules.length, roles, changes, warnings }, [
      `Version ${version} is in force: ${policy.rules.length} rules for ${roles.join(", ")}.`,
      ...diffLines(changes).map((line) => `  ${line}`)
    ])
    for (const line of warningLines(warnings)) yield* note(`Warning: ${line}`)
    yield* note('Columns added later start hidden, even from rules with "*".')
  })
).pipe(Command.withDescription("Put a policy in force if it is valid and its tests pass"))

export const show = Command.make(
  "show",
  {
    version: Argument.Int("version").pipe(Argument.withDescription("Default: the version in force"), Argument.optional)
  },
  Effect.fnUntraced(function* (input) {
    const policies = yield* Policies
    const organization = yield* currentOrganization
    const { document, version } = Option.isNone(input.version)
      ? yield* policies.current(organization)
      : { ...(yield* policies.version(organization, input.version.value)), version: input.version.value }
    yield* result({ version, policy: JSON.parse(document) }, [document.trimEnd()])
  })
).pipe(
  Command.withDescription("Print a policy file, to edit and publish"),
  Command.withExamples([
    { command: "max policy show > policy.json", description: "To edit, then publish: max policy publish policy.json" }
  ])
)

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const policies = yield* Policies
    const versions = yield* policies.list(yield* currentOrganization)
    yield* result(
      versions,
      columns(
        versions.map(({ author, inForce, publishedAt, rules, sha256, version }) => [
          String(version),
          publishedAt,
          author,
          String(rules),
          sha256.slice(0, 12),
          inForce ? "in force" : ""
        ]),
        ["version", "published", "by", "rules", "sha256", ""]
      )
    )
  })
).pipe(Command.withDescription("List all versions, which are immutable"))

export const diffVersions = Command.make(
  "diff",
  {
    from: argument("from", "A version or a file"),
    to: Argument.String("to").pipe(
      Argument.withDescription("Another version or file; default: the version in force"),
      Argument.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const policies = yield* Policies
    const review = yield* PolicyReview
    const organization = yield* currentOrganization
    const { catalog } = yield* review.names(organization)
    const read = Effect.fnUntraced(function* (text: string) {
      if (/^\d{1,9}$/.test(text)) return (yield* policies.version(organization, Number(text))).policy
      return (yield* policies.check(organization, yield* readPolicyFile(text))).policy
    })
    const from = yield* read(input.from)
    const to = yield* read(
      Option.isSome(input.to) ? input.to.value : String((yield* policies.current(organization)).version)
    )
    const changes = diffPolicies(from, to, catalog)
    yield* result(changes, diffLines(changes))
  })
).pipe(
  Command.withDescription("Describe the differences between two versions or files"),
  Command.withExamples([
    { command: "max policy diff 3 policy.json", description: "The changes that the file makes to version 3" }
  ])
)

export const test = Command.make(
  "test",
  {
    file: fileArgument.pipe(Argument.withDescription("A policy file; default: the policy in force"), Argument.optional)
  },
  Effect.fnUntraced(function* (input) {
    const policies = yield* Policies
    const organization = yield* currentOrganization
    const text = Option.isSome(input.file)
      ? yield* readPolicyFile(input.file.value)
      : (yield* policies.current(organization)).document
    const { tests } = yield* policies.check(organization, text)
    if (tests.length === 0) {
      return yield* OperatorError.of(
        `This policy has no tests. Example: "tests": [{ "as": "ada@example.com", "read": "people", "expect": ["id-1"] }]`
      )
    }
    const failed = tests.filter(({ failures }) => failures.length > 0).length
    yield* result(tests, [...testLines(tests), `${tests.length - failed} passed, ${failed} failed.`])
    if (failed > 0) return yield* OperatorError.of(`${failed} of ${tests.length} tests fail.`)
  })
).pipe(Command.withDescription("Run the tests in a policy"))

const edit = (
  name: "grant" | "revoke",
  change: (...args: Parameters<typeof grantAccess>) => EditResult,
  description: string,
  ...examples: ReadonlyArray<{ readonly command: string; readonly description: string }>
) =>
  Command.make(
    name,
    {
      role: argument("role", "A role of the policy"),
      what: Argument.String("what").pipe(
        Argument.withDescription("TYPE.COLUMN, or TYPE for all columns; with :update, :create or :delete for changes"),
        Argument.variadic({ min: 1 })
      ),
      where: optional("where", `Only on these rows, as in a rule: '{"owner":"$me"}'; creates a new rule`),
      dryRun: toggle("dry-run", "Show the changes without publishing them")
    },
    Effect.fnUntraced(function* (input) {
      const policies = yield* Policies
      if (Option.isSome(input.where) && name === "revoke")
        return yield* UsageError.of("revoke applies to every row. Omit --where, or write a deny rule.")
      const where = yield* Option.match(input.where, {
        onNone: () => Effect.succeed(undefined),
        onSome: (text) =>
          Effect.try({
            try: (): unknown => JSON.parse(text),
            catch: () => UsageError.of(`--where must be JSON, as in a rule: --where '{"owner":"$me"}'`)
          })
      })
      const wanted: PolicyEdit = { role: input.role, what: input.what, ...(where === undefined ? {} : { where }) }
      const { changes, version } = yield* policies.change(
        yield* currentOrganization,
        (document, policy, catalog) => change(document, policy, catalog, wanted),
        OPERATOR,
        { dryRun: input.dryRun }
      )
      yield* result({ version: version ?? null, changes }, [
        ...diffLines(changes),
        ...(version !== undefined
          ? [`Version ${version} is in force.`]
          : changes.length > 0
            ? ["Nothing was published (--dry-run)."]
            : [])
      ])
    })
  ).pipe(Command.withDescription(description), Command.withExamples(examples))

export const grant = edit(
  "grant",
  grantAccess,
  "Grant a role a column or a type, and publish the edited policy",
  {
    command: "max policy grant member people.phone",
    description: "On every row that the role already sees"
  },
  {
    command: `max policy grant member people.phone:update --where '{"owner":"$me"}'`,
    description: "To change it, on the rows that they own"
  }
)

export const revoke = edit(
  "revoke",
  revokeAccess,
  "Revoke a column or a type from a role, and publish the edited policy",
  {
    command: "max policy revoke member people.phone",
    description: "From every rule of the role"
  }
)

/** Needs a database only for an organization's own names. */
export const schema = (
  services: Layer.Layer<PolicyReview | OrganizationState | Env, ConfigurationError | Unavailable>
) =>
  Command.make(
    "schema",
    {},
    Effect.fnUntraced(function* () {
      const { org } = yield* max
      const schema = Option.isNone(org)
        ? policySchema()
        : yield* Effect.gen(function* () {
            const review = yield* PolicyReview
            const { catalog, roles } = yield* review.names(yield* currentOrganization)
            return policySchema(catalog, roles)
          }).pipe(Effect.provide(services))
      yield* json(schema)
    })
  ).pipe(
    Command.withDescription("Print the JSON Schema of a policy file; with --org, including the organization's names"),
    Command.withExamples([
      {
        command: "max policy schema --org atlas > atlas.schema.json",
        description: `For completion in an editor: "$schema": "./atlas.schema.json"`
      }
    ])
  )
