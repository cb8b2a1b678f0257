/**
 * Reads a policy file against an organization's catalog. It reports every problem with its path and, where one is known,
 * the corrected text.
 */
import type { Catalog } from "../domain/EntityType.ts"
import { isJsonObject, isNestedDeeper } from "../domain/json.ts"
import { quoted } from "../domain/text.ts"
import { POLICY } from "./limits.ts"
import type { Policy, PolicyTest, Problem } from "./Policy.ts"
import { PolicyProblems } from "./PolicyProblems.ts"
import { readPolicyTest } from "./policyTest.ts"
import { readConfirm } from "./readConfirm.ts"
import { readRoles } from "./readRoles.ts"
import { readRules } from "./readRules.ts"
import { repeatedKey } from "./repeatedKey.ts"

export type PolicyReading =
  | { readonly policy: Policy; readonly tests: ReadonlyArray<PolicyTest> }
  | { readonly problems: ReadonlyArray<Problem> }

/** The largest policy file that is read, in characters. */
export const MAX_POLICY_LENGTH = POLICY.characters

/** Reads the text of a policy file. */
export const readPolicy = (text: string, catalog: Catalog): PolicyReading => {
  if (text.length > MAX_POLICY_LENGTH) return unreadable(`The file must be at most ${MAX_POLICY_LENGTH / 1000} kB.`)
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    return unreadable(`The file is not valid JSON: ${(error as Error).message.slice(0, 120)}.`)
  }
  if (isNestedDeeper(document, POLICY.nesting))
    return unreadable(
      `The file must be nested at most ${POLICY.nesting} levels deep, its conditions nested at most ${POLICY.conditions} levels deep.`
    )
  const repeated = repeatedKey(text)
  if (repeated !== undefined)
    return unreadable(`Duplicate key ${quoted(repeated)} in one object: only its last value would count.`)
  if (!isJsonObject(document))
    return unreadable("The policy must be an object.", `{ "version": 1, "roles": {}, "rules": [] }`)

  const problems = new PolicyProblems()
  const property = (key: string) => (Object.hasOwn(document, key) ? document[key] : undefined)
  problems.unknownProperties(document, ["$schema", "version", "roles", "rules", "confirm", "tests"], "policy")
  if (document["version"] !== 1) problems.report("version", "`version` must be 1.", `"version": 1`)
  const read = readRoles(property("roles"), problems)
  const { administering, closures, powers } = read
  const roles = [...closures.keys()]
  const rules = readRules(property("rules"), roles, catalog, problems)
  const confirm = Object.hasOwn(document, "confirm") ? readConfirm(document["confirm"], read, catalog, problems) : {}
  const tests = Object.hasOwn(document, "tests") ? readTests(document["tests"], catalog, roles, problems) : []
  if (problems.count > 0) return { problems: problems.list }
  return {
    tests,
    policy: {
      roles: Object.fromEntries([...closures].map(([role, closure]) => [role, [...closure]])),
      ...(administering.length === 0 ? {} : { administering }),
      ...(Object.keys(powers).length === 0 ? {} : { powers }),
      rules,
      ...confirm
    }
  }
}

const unreadable = (message: string, fix?: string): PolicyReading => ({
  problems: [{ path: "policy", message, ...(fix === undefined ? {} : { fix }) }]
})

const readTests = (
  value: unknown,
  catalog: Catalog,
  roles: ReadonlyArray<string>,
  problems: PolicyProblems
): ReadonlyArray<PolicyTest> => {
  if (!Array.isArray(value)) {
    problems.report("tests", "`tests` must be a list.", `"tests": []`)
    return []
  }
  if (value.length > POLICY.tests) {
    problems.report("tests", `\`tests\` must have at most ${POLICY.tests} entries.`)
    return []
  }
  return value.flatMap(
    (test: unknown, index) => readPolicyTest(test, `tests[${index}]`, catalog, roles, problems) ?? []
  )
}
