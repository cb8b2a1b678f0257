/** Policies as documents: an operator's commands to read, check, compare, publish and change them. */
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OPERATOR } from "../../../database/audit.ts"
import type { ConfigurationError, Unavailable } from "../../../domain/errors.ts"
import { OperatorError } from "../../../domain/errors.ts"
import type { Env } from "../../../env.ts"
import { diffPolicies } from "../../../permissions/policyDiff.ts"
import {
  type PolicyEdit,
  type EditResult,
  grantAccess as granted,
  revokeAccess as revoked
} from "../../../permissions/editPolicy.ts"
import { policySchema } from "../../../permissions/policySchema.ts"
import { MAX_POLICY_LENGTH } from "../../../permissions/readPolicy.ts"
import type { OrganizationState } from "../../../services/catalog/OrganizationState.ts"
import { Policies } from "../../../services/policies/Policies.ts"
import { PolicyReview } from "../../../services/policies/PolicyReview.ts"
import { currentOrganization, max, UsageError, wantsJson } from "../context.ts"
import { bold, columns, note, result } from "../output.ts"
import { changeLines, policyLines, testLines, warningLines } from "../policyOutput.ts"
import { readTextFile } from "../readTextFile.ts"

const fileArgument = Argument.String("file").pipe(Argument.withDescription("A policy, as JSON"))
const readPolicyFile = (path: string) => readTextFile(path, MAX_POLICY_LENGTH)

export const check = Command.make("check", { file: fileArgument }, (input) =>
  Effect.gen(function* () {
    const policies = yield* Policies
    const text = yield* readPolicyFile(input.file)
    const { catalog, changes, policy, tests, warnings } = yield* policies.check(yield* currentOrganization, text)
    const failed = tests.filter(({ failures }) => failures.length > 0)
    yield* result(
      yield* wantsJson,
      { rules: policy.rules.length, roles: Object.keys(policy.roles), tests, warnings, changes },
      [
        bold("What it says"),
        ...policyLines(policy, catalog).map((line) => `  ${line}`),
        "",
        bold("Against the version in force"),
        ...changeLines(changes).map((line) => `  ${line}`),
        ...(warnings.length === 0
          ? []
          : ["", bold("Worth a look"), ...warningLines(warnings).map((line) => `  ${line}`)]),
        ...(tests.length === 0 ? [] : ["", bold("Its tests"), ...testLines(tests).map((line) => `  ${line}`)]),
        "",
        failed.length > 0
          ? `It can't be published: ${failed.length} of ${tests.length} tests fail.`
          : `It can be published: max policy publish ${input.file}`
      ]
    )
    if (failed.length > 0)
      return yield* new OperatorError({ message: `${failed.length} of ${tests.length} tests fail.` })
  })
).pipe(
  Command.withDescription("Say in words what a policy does, what is wrong or odd about it, and whether its tests pass")
)

export const publish = Command.make(
  "publish",
  {
    file: fileArgument,
    replacing: Flag.Int("replacing").pipe(
      Flag.withDescription("Refuse if another version than this is in force: nobody's change gets lost"),
      Flag.optional
    )
  },
  (input) =>
    Effect.gen(function* () {
      const policies = yield* Policies
      const organization = yield* currentOrganization
      const text = yield* readPolicyFile(input.file)
      const { changes, warnings } = yield* policies.check(organization, text)
      const { policy, version } = yield* policies.publish(organization, text, OPERATOR, {
        replacing: Option.getOrUndefined(input.replacing)
      })
      const roles = Object.keys(policy.roles)
      yield* result(yield* wantsJson, { version, rules: policy.rules.length, roles, changes, warnings }, [
        `Version ${version} is in force: ${policy.rules.length} rules for ${roles.join(", ")}.`,
        ...changeLines(changes).map((line) => `  ${line}`)
      ])
      for (const line of warningLines(warnings)) yield* note(`Worth a look: ${line}`)
      yield* note('Columns that are added later start hidden, whatever "*" said.')
    })
).pipe(Command.withDescription("Put a policy in force if its tests pass, or say what is wrong with it"))

export const show = Command.make(
  "show",
  {
    version: Argument.Int("version").pipe(Argument.withDescription("The one in force, if left out"), Argument.optional)
  },
  (input) =>
    Effect.gen(function* () {
      const policies = yield* Policies
      const organization = yield* currentOrganization
      const { document, version } = Option.isNone(input.version)
        ? yield* policies.current(organization)
        : { ...(yield* policies.version(organization, input.version.value)), version: input.version.value }
      yield* result(yield* wantsJson, { version, policy: JSON.parse(document) }, [document.trimEnd()])
    })
).pipe(
  Command.withDescription("Print a policy as a file to edit and publish"),
  Command.withExamples([
    { command: "max policy show > policy.json", description: "Then edit it, and max policy publish policy.json" }
  ])
)

export const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const policies = yield* Policies
    const versions = yield* policies.list(yield* currentOrganization)
    yield* result(
      yield* wantsJson,
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
).pipe(Command.withDescription("List the versions: none is ever changed or removed"))

export const diffVersions = Command.make(
  "diff",
  {
    from: Argument.String("from").pipe(Argument.withDescription("A version, or a file")),
    to: Argument.String("to").pipe(
      Argument.withDescription("Another; the version in force, if left out"),
      Argument.optional
    )
  },
  (input) =>
    Effect.gen(function* () {
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
      yield* result(yield* wantsJson, changes, changeLines(changes))
    })
).pipe(
  Command.withDescription("Say in words what differs between two versions or files"),
  Command.withExamples([
    { command: "max policy diff 3 policy.json", description: "What the file changes about version 3" }
  ])
)

export const test = Command.make(
  "test",
  { file: fileArgument.pipe(Argument.withDescription("A policy; the one in force, if left out"), Argument.optional) },
  (input) =>
    Effect.gen(function* () {
      const policies = yield* Policies
      const organization = yield* currentOrganization
      const text = Option.isSome(input.file)
        ? yield* readPolicyFile(input.file.value)
        : (yield* policies.current(organization)).document
      const { tests } = yield* policies.check(organization, text)
      if (tests.length === 0) {
        return yield* new OperatorError({
          message: `This policy has no tests. One is: "tests": [{ "as": "ada@example.com", "read": "people", "expect": ["id-1"] }]`
        })
      }
      const failed = tests.filter(({ failures }) => failures.length > 0).length
      yield* result(yield* wantsJson, tests, [
        ...testLines(tests),
        `${tests.length - failed} passed, ${failed} failed.`
      ])
      if (failed > 0) return yield* new OperatorError({ message: `${failed} of ${tests.length} tests fail.` })
    })
).pipe(Command.withDescription("Run the tests that a policy carries"))

const edit = (
  name: "grant" | "revoke",
  change: (...args: Parameters<typeof granted>) => EditResult,
  description: string,
  example: { readonly command: string; readonly description: string }
) =>
  Command.make(
    name,
    {
      role: Argument.String("role").pipe(Argument.withDescription("A role of the policy")),
      what: Argument.String("what").pipe(
        Argument.withDescription("TYPE.COLUMN, or TYPE for all of it"),
        Argument.variadic({ min: 1 })
      ),
      where: Flag.String("where").pipe(
        Flag.withDescription(`Only on these rows, as in a rule: '{"owner":"$me"}'; makes a rule of its own`),
        Flag.optional
      ),
      dryRun: Flag.Boolean("dry-run").pipe(Flag.withDescription("Only show what would change"), Flag.withDefault(false))
    },
    (input) =>
      Effect.gen(function* () {
        const policies = yield* Policies
        if (Option.isSome(input.where) && name === "revoke")
          return yield* new UsageError({
            message: "What is revoked is revoked on every row: leave --where out, or write a rule that denies."
          })
        const where = yield* Option.match(input.where, {
          onNone: () => Effect.succeed(undefined),
          onSome: (text) =>
            Effect.try({
              try: (): unknown => JSON.parse(text),
              catch: () =>
                new UsageError({ message: `--where isn't JSON. Write it as in a rule: --where '{"owner":"$me"}'` })
            })
        })
        const wanted: PolicyEdit = { role: input.role, what: input.what, ...(where === undefined ? {} : { where }) }
        const { changes, version } = yield* policies.change(
          yield* currentOrganization,
          (document, policy, catalog) => change(document, policy, catalog, wanted),
          OPERATOR,
          { dryRun: input.dryRun }
        )
        yield* result(yield* wantsJson, { version: version ?? null, changes }, [
          ...changeLines(changes),
          ...(version !== undefined
            ? [`Version ${version} is in force.`]
            : changes.length > 0
              ? ["Nothing was published: this is what would change."]
              : [])
        ])
      })
  ).pipe(Command.withDescription(description), Command.withExamples([example]))

export const grant = edit("grant", granted, "Show a role a column, or all of a type: the smallest change, published", {
  command: "max policy grant member people.phone",
  description: "On every row that members see already"
})

export const revoke = edit("revoke", revoked, "Stop showing a role a column, or a type", {
  command: "max policy revoke member people.phone",
  description: "From every rule of the role that shows it"
})

/** Needs no database, unless it is to know an organization's own names. */
export const schema = (
  services: Layer.Layer<PolicyReview | OrganizationState | Env, ConfigurationError | Unavailable>
) =>
  Command.make("schema", {}, () =>
    Effect.gen(function* () {
      const { org } = yield* max
      const made = Option.isNone(org)
        ? policySchema()
        : yield* Effect.gen(function* () {
            const review = yield* PolicyReview
            const { catalog, roles } = yield* review.names(yield* currentOrganization)
            return policySchema(catalog, roles)
          }).pipe(Effect.provide(services))
      yield* result(true, made, [])
    })
  ).pipe(
    Command.withDescription("Print the JSON Schema of a policy file; with --org, with the organization's own names"),
    Command.withExamples([
      {
        command: "max policy schema --org atlas > atlas.schema.json",
        description: `Then "$schema": "./atlas.schema.json" in the file, and an editor completes real names`
      }
    ])
  )
