/**
 * The policy as a file for administrators with the power `policy`, over the same services as the commands. Rows are counted
 * and named only within the administrator's own access; the reasons why a test fails name rows, so they are for
 * administrators who see everything.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { targetOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { describeConfirm, describePolicy } from "../../permissions/describe.ts"
import { rulesFor } from "../../permissions/PermissionEngine.ts"
import { Action, type Policy } from "../../permissions/Policy.ts"
import { problemLines } from "../../permissions/policyLines.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import type { PersonReference } from "../../wire/admin/people.ts"
import type { PolicyCheck, PolicyDocument, PolicySimulation } from "../../wire/admin/policyEditor.ts"
import type { GridEdit, PolicyGrid } from "../../wire/admin/policyGrid.ts"
import { type Admitted, IdentityResolver } from "../members/IdentityResolver.ts"
import { requirePower } from "../members/powers.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { roleSets } from "../policies/assignments.ts"
import { Policies, type Published } from "../policies/Policies.ts"
import { PolicyReview } from "../policies/PolicyReview.ts"
import { gridOf, withLines } from "./policyGrid.ts"
import { seesWhole } from "./reach.ts"
import { asAdmitted } from "./asAdmitted.ts"

/** Combinations of roles that one simulation compares. */
const MAX_ROLE_SETS = 12

type Fault = NotAdmitted | NotAllowed | OperatorError | Unavailable

export class PolicyEditor extends Context.Service<
  PolicyEditor,
  {
    /** The file of a version; by default of the policy in force. */
    readonly document: (administrator: Principal, version: number | undefined) => Effect.Effect<PolicyDocument, Fault>
    /** What a file says and changes, or why it can't be read, by line. */
    readonly check: (administrator: Principal, text: string) => Effect.Effect<PolicyCheck, Fault>
    /** A file as a grid of roles and columns of a type, after an edit of its cells; nothing is published. */
    readonly grid: (
      administrator: Principal,
      text: string,
      type: string | undefined,
      edit: GridEdit | undefined
    ) => Effect.Effect<PolicyGrid, Fault>
    /**
     * Which rows and cells a file gives and takes: for a person in every type, or for the first member with each combination
     * of roles that it concerns.
     */
    readonly simulate: (
      administrator: Principal,
      text: string,
      person: PersonReference | undefined
    ) => Effect.Effect<PolicySimulation, Fault>
    /** Publishes a file over the version from which it was made. */
    readonly publish: (administrator: Principal, text: string, replacing: number) => Effect.Effect<Published, Fault>
  }
>()("max/services/PolicyEditor") {
  static readonly layer = Layer.effect(
    PolicyEditor,
    Effect.gen(function* () {
      const { search } = yield* Database
      const identities = yield* IdentityResolver
      const asked = asAdmitted(identities)
      const policies = yield* Policies
      const review = yield* PolicyReview

      const current = Effect.fnUntraced(function* (administrator: Principal) {
        const asking = yield* identities.readmit(administrator)
        yield* requirePower(asking.state.policy, asking.principal, "policy")
        return { asking, organization: asking.state.catalog.organization }
      })

      const simulated = Effect.fnUntraced(function* (
        asking: Admitted,
        person: PersonReference,
        file: string,
        types: ReadonlyArray<EntityType>
      ) {
        const as = "id" in person ? { anchorId: person.id } : person.identifier
        return yield* Effect.forEach(types, ({ slug }) =>
          review
            .simulateAs(asking, { as, type: slug, file })
            .pipe(Effect.catchTag("OperatorError", (error) => Effect.succeed({ type: slug, refused: error.message })))
        )
      })

      const simulation = Effect.fnUntraced(function* (asking: Admitted, text: string, person?: PersonReference) {
        const { catalog, policy } = asking.state
        yield* requirePower(policy, asking.principal, "policy")
        const reading = readPolicy(text, catalog)
        if ("problems" in reading) return yield* OperatorError.of("This file has problems. Check it first.")
        if (person !== undefined) {
          const types = yield* simulated(asking, person, text, catalog.types)
          const [first] = types.filter((type) => "who" in type)
          return { people: [{ who: first?.who ?? "This person", roles: [], members: 1, types }], omitted: 0 }
        }
        const concerned = (yield* roleSets(search, catalog.organization.id)).flatMap((set) => {
          const types = changedTypes(policy, reading.policy, set.roles, catalog)
          return types.length === 0 ? [] : [{ ...set, types }]
        })
        const people = yield* Effect.forEach(
          concerned.slice(0, MAX_ROLE_SETS),
          Effect.fnUntraced(function* ({ anchorId, members, roles, types: changed }) {
            const types = yield* simulated(asking, { id: anchorId }, text, changed)
            const [first] = types.filter((type) => "who" in type)
            return { who: first?.who ?? "this person", roles, members, types }
          })
        )
        return { people, omitted: concerned.length - people.length }
      })

      return PolicyEditor.of({
        document: Effect.fn("PolicyEditor.document")(function* (administrator, version) {
          const { asking, organization } = yield* current(administrator)
          const { publishing } = asking.state.policy
          const found =
            version === undefined
              ? yield* policies.current(organization)
              : { version, document: (yield* policies.version(organization, version)).document }
          return publishing === undefined ? found : { ...found, approvers: publishing.approvers }
        }),

        check: Effect.fn("PolicyEditor.check")(function* (administrator, text) {
          const { asking, organization } = yield* current(administrator)
          const found = yield* policies.inspect(organization, text)
          if ("problems" in found) return { problems: withLines(text, found.problems) }
          const { catalog, changes, policy, tests, warnings } = found
          const isWhole = seesEverything(asking)
          const lines = problemLines(
            text,
            tests.map(({ path }) => ({ path, message: "" }))
          )
          return {
            roles: describePolicy(policy, catalog),
            confirm: describeConfirm(policy, catalog),
            changes,
            warnings: withLines(text, warnings),
            tests: tests.map(({ failures, path, title }, index) => ({
              path,
              title,
              line: lines[index]!,
              passes: failures.length === 0,
              failures: isWhole ? failures : []
            }))
          }
        }),

        grid: Effect.fn("PolicyEditor.grid")(function* (administrator, text, type, edit) {
          const { asking } = yield* current(administrator)
          return yield* gridOf(text, asking.state.catalog, type, edit)
        }),

        simulate: Effect.fn("PolicyEditor.simulate")((administrator, text, person) =>
          asked(administrator, (asking) => simulation(asking, text, person))
        ),

        publish: Effect.fn("PolicyEditor.publish")(function* (administrator, text, replacing) {
          const { asking, organization } = yield* current(administrator)
          const { principal } = asking
          const published = policies.publish(organization, text, principal.anchorEntityId, {
            replacing,
            administrator: principal
          })
          if (seesEverything(asking)) return yield* published
          return yield* Effect.catchTag(published, "OperatorError", ({ message }) =>
            Effect.fail(OperatorError.of(message))
          )
        })
      })
    })
  )
}

const seesEverything = ({ principal, state }: { readonly principal: Principal; readonly state: State }): boolean =>
  state.catalog.types.every((type) => seesWhole(state.policy, principal.roles, type))

/** The types about which two policies have different rules for these roles, and those that refer to one of them. */
const changedTypes = (
  from: Policy,
  to: Policy,
  roles: ReadonlyArray<string>,
  catalog: Catalog
): ReadonlyArray<EntityType> => {
  const rules = (policy: Policy, type: EntityType) =>
    JSON.stringify(Action.literals.map((action) => rulesFor(policy, roles, type, action)))
  const changed = new Set(catalog.types.filter((type) => rules(from, type) !== rules(to, type)))
  return catalog.types.filter(
    (type) =>
      changed.has(type) ||
      type.columns.some((column) => {
        const target = targetOf(catalog, column)
        return target !== undefined && changed.has(target)
      })
  )
}
