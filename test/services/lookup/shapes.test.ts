/** What is kept by shape is what would be compiled anew: for generated policies, callers and pairs of questions. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compileFind, type Statement, statementOf } from "../../../src/database/sql/find.ts"
import { Slot } from "../../../src/domain/Predicate.ts"
import type { FindQuery, ResolvedQuery } from "../../../src/domain/Query.ts"
import { plan } from "../../../src/permissions/PermissionEngine.ts"
import { resolveQuery, resolveShaped } from "../../../src/services/lookup/resolve.ts"
import type { Visible } from "../../../src/services/lookup/visible.ts"
import { catalog } from "../../conformance/catalog.ts"
import { generousPolicy, member, NOW, query } from "../../conformance/generators.ts"
import { principalOf, storedPolicy } from "../../conformance/memory.ts"
import { floorOf, partOf } from "../../conformance/setting.ts"

type Asked = typeof query extends fc.Arbitrary<infer A> ? A : never

const asFind = ({ filters, limit, select, type }: Asked): FindQuery => ({
  entityTypeId: type,
  filters,
  limit,
  selectColumns: select
})

/** With as many placeholders as parameters, and no slot left in them. */
const isWhole = ({ parameters, text }: { readonly text: string; readonly parameters: ReadonlyArray<unknown> }) =>
  !parameters.some((parameter) => parameter instanceof Slot) &&
  parameters.every((_, index) => text.includes(`$${index + 1}::`))

/** What a statement says, alone and for several. */
const written = ({ parameters, several, text }: Statement) => ({ text, parameters, several: several?.() })

const fresh = (resolved: ResolvedQuery) =>
  statementOf({ ...resolved, given: { ...resolved.given!, shape: undefined } }, catalog)

describe("a statement kept by shape", () => {
  it("has the text and the parameters that it would have if it were compiled anew, whatever was asked before", () => {
    let reused = 0
    let answered = 0
    const words = fc.constantFrom(
      "42",
      "ann",
      "a",
      "12",
      "true",
      "2026-03",
      "2026-03-01T10:00",
      "2026-03-01T10:00Z",
      "today"
    )
    fc.assert(
      fc.property(
        generousPolicy,
        member,
        fc.array(query, { minLength: 1, maxLength: 4 }),
        fc.array(words, { minLength: 8, maxLength: 8 }),
        (file, who, asked, values) => {
          const [stored, principal] = [storedPolicy(file), principalOf(who)]
          const plans = new Map(
            catalog.types.map((type) => [type.key, plan(stored, catalog, principal, type, "read", NOW)] as const)
          )
          const visible: Visible = {
            state: { catalog, policy: stored, policyHash: "" },
            planOf: (type) => {
              const made = plans.get(type.key)
              return made?._tag === "Granted" ? made : undefined
            }
          }
          // The same names again and again, with other values, limits and pages: what could be mistaken for one another.
          const questions = asked.map(asFind).flatMap((one) => [
            one,
            ...values.map((value, index) => ({
              ...one,
              filters: one.filters.map((filter) => ({ ...filter, value })),
              limit: index % 3 === 0 ? index : one.limit,
              cursorEntityId: index % 2 === 0 ? "bcd" : undefined
            })),
            one
          ])
          for (const question of questions) {
            const resolved = resolveShaped(question, visible)
            const plain = resolveQuery(question, visible)
            expect(Result.isFailure(resolved) ? resolved.failure : undefined).toEqual(
              Result.isFailure(plain) ? plain.failure : undefined
            )
            if (Result.isFailure(resolved) || Result.isFailure(plain)) continue
            const { given } = resolved.success
            if (given!.shape !== undefined && given!.statements.get(given!.shape) !== undefined) reused += 1
            const statement = statementOf(resolved.success, catalog)
            expect(written(statement)).toEqual(written(fresh(resolved.success)))
            expect(isWhole(statement)).toBe(true)
            expect(statement.several?.().text.startsWith("/* max ")).toBe(
              resolved.success.pool === "lookup" ? true : undefined
            )
            // And with the values in their places from the start: the same parameters, in another order at most.
            const literal = compileFind(plain.success, catalog)
            expect(statement.parameters.map(String).toSorted()).toEqual(literal.parameters.map(String).toSorted())
            answered += 1
          }
        }
      ),
      { numRuns: partOf(400), seed: 11 }
    )
    expect(answered).toBeGreaterThanOrEqual(floorOf(3000))
    expect(reused).toBeGreaterThanOrEqual(floorOf(answered / 4))
  }, 60_000)
})
