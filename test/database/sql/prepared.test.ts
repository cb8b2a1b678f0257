/** A cached statement equals a freshly compiled one, for generated policies, callers and queries. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compileFind } from "../../../src/database/sql/find.ts"
import { Parameter } from "../../../src/database/sql/Parameter.ts"
import { prepare } from "../../../src/database/sql/prepared.ts"
import type { ResolvedQuery, Statement } from "../../../src/database/sql/ResolvedQuery.ts"
import type { FindQuery } from "../../../src/domain/Query.ts"
import { plan } from "../../../src/permissions/PermissionEngine.ts"
import { resolve, resolveLiterals } from "../../../src/services/lookup/resolve.ts"
import type { Visible } from "../../../src/services/lookup/visible.ts"
import { catalog } from "../../conformance/catalog.ts"
import { generousPolicy, member, NOW, query } from "../../conformance/generators.ts"
import { principalOf, storedPolicy } from "../../conformance/memory.ts"
import { floorOf, partOf } from "../../conformance/setting.ts"

type GeneratedQuery = typeof query extends fc.Arbitrary<infer A> ? A : never

const toFindQuery = ({ filters, limit, select, type }: GeneratedQuery): FindQuery => ({
  entityTypeId: type,
  filters,
  limit,
  selectColumns: select
})

/** Whether every parameter is filled and has a placeholder. */
const isComplete = ({ parameters, text }: { readonly text: string; readonly parameters: ReadonlyArray<unknown> }) =>
  !parameters.some((parameter) => parameter instanceof Parameter) &&
  parameters.every((_, index) => text.includes(`$${index + 1}::`))

/** A statement's comparable content, with its batch form. */
const contentOf = ({ batch, parameters, text }: Statement) => ({ text, parameters, batch: batch?.() })

const withoutCache = (resolved: ResolvedQuery) => prepare({ ...resolved, statements: undefined }, catalog)

describe("prepare", () => {
  it("gives a cached statement the text and parameters of a fresh compilation, whatever ran before", () => {
    let reused = 0
    let compared = 0
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
        (file, who, generated, values) => {
          const [stored, principal] = [storedPolicy(file), principalOf(who)]
          const plans = new Map(
            catalog.types.map((type) => [type.key, plan(stored, catalog, principal, type, "read", NOW)] as const)
          )
          const visible: Visible = {
            state: { catalog, policy: stored, policyHash: "" },
            planOf: (type) => {
              const planned = plans.get(type.key)
              return planned?._tag === "Granted" ? planned : undefined
            }
          }
          // The same names with different values, limits and cursors: the queries that a cache could confuse.
          const queries = generated.map(toFindQuery).flatMap((one) => [
            one,
            ...values.map((value, index) => ({
              ...one,
              filters: one.filters.map((filter) => ({ ...filter, value })),
              limit: index % 3 === 0 ? index : one.limit,
              cursorEntityId: index % 2 === 0 ? "bcd" : undefined
            })),
            one
          ])
          for (const find of queries) {
            const resolved = resolve(find, visible)
            const plain = resolveLiterals(find, visible)
            expect(Result.isFailure(resolved) ? resolved.failure : undefined).toEqual(
              Result.isFailure(plain) ? plain.failure : undefined
            )
            if (Result.isFailure(resolved) || Result.isFailure(plain)) continue
            const { statements } = resolved.success
            let cached = false
            const watched = statements && {
              get: (shape: string) => {
                const hit = statements.get(shape)
                cached = hit !== undefined
                return hit
              },
              set: statements.set.bind(statements)
            }
            const statement = prepare({ ...resolved.success, statements: watched }, catalog)
            if (cached) reused += 1
            expect(contentOf(statement)).toEqual(contentOf(withoutCache(resolved.success)))
            expect(isComplete(statement)).toBe(true)
            expect(statement.batch?.().text.startsWith("/* max ")).toBe(
              resolved.success.pool === "lookup" ? true : undefined
            )
            // Compiled with literals, it has the same parameters, possibly in another order.
            const literal = compileFind(plain.success, catalog)
            expect(statement.parameters.map(String).toSorted()).toEqual(literal.parameters.map(String).toSorted())
            compared += 1
          }
        }
      ),
      { numRuns: partOf(400), seed: 11 }
    )
    expect(compared).toBeGreaterThanOrEqual(floorOf(3000))
    expect(reused).toBeGreaterThanOrEqual(floorOf(compared / 4))
  })
})
