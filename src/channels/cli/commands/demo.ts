/** `max demo`: creates a sample organization and asks the same question as three people. */
import { Console, Effect, Layer, Result } from "effect"
import { Command } from "effect/cli"
import { join, relative } from "node:path"
import { Database } from "../../../database/Database.ts"
import type { Organization } from "../../../domain/EntityType.ts"
import { OperatorError } from "../../../domain/errors.ts"
import type { Page } from "../../../domain/Page.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import type { FindQuery } from "../../../domain/Query.ts"
import { Env } from "../../../env.ts"
import { ConfiguredDatabase, Services } from "../../../layers.ts"
import { EntityQueryService } from "../../../services/EntityQueryService.ts"
import { IdentityResolver } from "../../../services/members/IdentityResolver.ts"
import { readIdentifier } from "../../../services/members/identifier.ts"
import { Importer } from "../../../services/import/Importer.ts"
import { STAFF } from "../../../services/import/sample/generate.ts"
import { loadSample } from "../../../services/import/sample/loadSample.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { Organizations } from "../../../services/organizations/Organizations.ts"
import { Policies } from "../../../services/policies/Policies.ts"
import { toolDefinitions } from "../../../tools/definitions.ts"
import policy from "../demo/policy.json" with { type: "json" }
import { bold, dim } from "../output.ts"

const SLUG = "harbor"
const FOLDER = ".max-demo"
const WIDTH = 118

/** Always an embedded database, even when DATABASE_URL is set. */
const Connected = Services.pipe(
  Layer.provideMerge(ConfiguredDatabase),
  Layer.provideMerge(Env.layerWith({ databaseUrl: undefined, dataDir: join(process.cwd(), FOLDER) }))
)

export const demo = Command.make("demo", {}, () => Effect.provide(run, Connected)).pipe(
  Command.withDescription(
    "Try Max: create a sample organization in an embedded database and ask one question as three people"
  )
)

const run = Effect.gen(function* () {
  const started = Date.now()
  const organization = yield* sample
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  const { notice } = yield* Database
  const [rep, , manager] = STAFF
  const subject = yield* otherRepsCustomer(organization)

  const who: FindQuery = {
    entityTypeId: "people",
    filters: [{ columnId: "name", op: "eq", value: subject.name }],
    selectColumns: ["phone", "company"]
  }
  yield* Console.log(
    `Harbor Supply: 2,000 people, 414 companies, 1,200 meetings ${dim(`(ready in ${seconds} s, in ${FOLDER})`)}`
  )
  if (notice !== undefined) yield* Console.log(dim(notice))
  yield* Console.log(bold(`\nWho is ${subject.name}, and what is their phone number?`))
  yield* Console.log(`  ${rep.name}, rep`.padEnd(28) + answer(yield* ask(organization, rep.email, who)))
  yield* Console.log(`  ${manager.name}, manager`.padEnd(28) + answer(yield* ask(organization, manager.email, who)))
  yield* Console.log("  An outsider".padEnd(28) + answer(yield* ask(organization, "outsider@elsewhere.example", who)))

  const whose = (phone: string): FindQuery => ({
    entityTypeId: "people",
    filters: [{ columnId: "phone", op: "eq", value: phone }]
  })
  const hidden = yield* ask(organization, rep.email, whose(subject.phone))
  const unassigned = yield* ask(organization, rep.email, whose("999-555-0100"))
  yield* Console.log(bold(`\nWhose number is ${subject.phone}?`))
  yield* Console.log(`  ${rep.name}, rep`.padEnd(28) + answer(hidden))
  yield* Console.log(
    dim(
      "  An unassigned number".padEnd(28) +
        answer(unassigned) +
        (JSON.stringify(hidden) === JSON.stringify(unassigned) ? "  (the same answer, byte for byte)" : "")
    )
  )

  const { millis, text } = yield* statement(organization, rep.email, who)
  yield* Console.log(bold(`\nThe one statement behind the rep's answer, permission included: ${millis} ms`))
  yield* Console.log(
    dim(
      wrap(text, WIDTH - 2, 8)
        .map((line) => `  ${line}`)
        .join("\n")
    )
  )
  const cost = yield* tokenCost
  yield* Console.log(`\nA model gets three tools and no SQL: ${cost}`)
  // In a checkout, `max` is not on PATH.
  const max = process.argv[1]?.endsWith("/bin/max") === true ? relative(process.cwd(), process.argv[1]) : "npx max"
  yield* Console.log(bold("\nNext") + `  export MAX_DATA_DIR=${FOLDER} MAX_AS=${rep.email}`)
  yield* Console.log(`      ${max} chat`)
  yield* Console.log(`      ${max} find meetings "start>=today" --limit 3 --select start,company`)
  yield* Console.log(
    `      ${max} tool findEntities '{"entityTypeId":"people","filters":[{"columnId":"name","op":"ilike","value":"lovelace"}]}'`
  )
})

/** The sample organization; the first run creates it. */
const sample = Effect.gen(function* () {
  const organizations = yield* Organizations
  const existing = (yield* organizations.list).find((one) => one.slug === SLUG)
  const members = yield* Memberships
  if (existing !== undefined && (yield* members.list(existing)).length === STAFF.length) return existing
  const organization =
    existing ??
    (yield* organizations.create({
      slug: SLUG,
      name: "Harbor Supply",
      country: "US",
      timeZone: "America/New_York"
    }))
  const importer = yield* Importer
  yield* loadSample(importer, organization)
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify(policy), "max demo")
  for (const person of STAFF) yield* members.add(organization, { identifier: person.email, roles: [person.role] })
  return organization
})

/** A customer of another rep: the first rep may see the customer but not the phone number. */
const otherRepsCustomer = Effect.fnUntraced(function* (organization: Organization) {
  const [rep, other, manager] = STAFF
  const page = yield* asPerson(organization, manager.email, {
    entityTypeId: "people",
    limit: 25,
    selectColumns: ["phone", "owner"],
    filters: [
      { columnId: "owner", op: "ilike", value: other.name },
      { columnId: "status", op: "eq", value: "customer" }
    ]
  })
  for (const { columns, displayName } of page.entities) {
    const phone = columns?.["phone"]
    if (displayName === undefined || typeof phone !== "string") continue
    const seen = yield* asPerson(organization, rep.email, {
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "eq", value: displayName }]
    })
    if (seen.total === 1) return { name: displayName, phone }
  }
  return yield* OperatorError.of(`The sample data is incomplete. Remove ${FOLDER} and run max demo again.`)
})

const principalOf = Effect.fnUntraced(function* (organization: Organization, email: string) {
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(organization, readIdentifier(email, organization)!)
  return principal
})

const asPerson = Effect.fnUntraced(function* (organization: Organization, email: string, query: FindQuery) {
  const queries = yield* EntityQueryService
  const principal = yield* principalOf(organization, email)
  return yield* queries
    .findEntities({ ...query, organizationId: organization.id })
    .pipe(Effect.provideService(CurrentPrincipal, principal))
})

const ask = (organization: Organization, email: string, query: FindQuery) =>
  Effect.result(asPerson(organization, email, query))

const answer = (outcome: Result.Result<Page, { readonly message: string }>): string => {
  if (Result.isFailure(outcome)) return outcome.failure.message
  const [entity] = outcome.success.entities
  if (entity === undefined) return "Nothing found."
  const phone = entity.columns?.["phone"]
  const company = entity.columns?.["company"] as { readonly name?: string } | undefined
  return [
    `${entity.displayName ?? ""}, ${entity.status ?? ""}${company?.name === undefined ? "" : ` at ${company.name}`};`,
    phone === undefined ? "no phone number that you may see" : `phone ${String(phone)}`
  ].join(" ")
}

/** The statement that runs for a person, and its median time in milliseconds over nine runs. */
const statement = Effect.fnUntraced(function* (organization: Organization, email: string, query: FindQuery) {
  const queries = yield* EntityQueryService
  const { search } = yield* Database
  const principal = yield* principalOf(organization, email)
  const { parameters, text } = yield* queries
    .explain({ ...query, organizationId: organization.id })
    .pipe(Effect.provideService(CurrentPrincipal, principal))
  const times: Array<number> = []
  for (let round = 0; round < 9; round++) {
    const started = performance.now()
    yield* search.unsafe(text, parameters)
    times.push(performance.now() - started)
  }
  return { text, millis: times.sort((a, b) => a - b)[4]!.toFixed(1) }
})

/** Wraps text to `width` characters and at most `maxLines` lines; an ellipsis marks a cut. */
const wrap = (text: string, width: number, maxLines: number): ReadonlyArray<string> => {
  const lines: Array<string> = [""]
  for (const word of text.replace(/\s+/g, " ").split(" ")) {
    const last = lines.length - 1
    if (lines[last]!.length + word.length + 1 > width) lines.push(word)
    else lines[last] = lines[last] === "" ? word : `${lines[last]} ${word}`
  }
  return lines.length <= maxLines
    ? lines
    : [...lines.slice(0, maxLines - 1), `${lines[maxLines - 1]!.slice(0, width - 2)} …`]
}

/** The size of the tool definitions, in tokens if the tokenizer is installed; it is too large to ship with the package. */
const tokenCost = Effect.promise(async () => {
  const text = JSON.stringify(toolDefinitions)
  try {
    const { encode } = await import("gpt-tokenizer/encoding/o200k_base")
    return `${encode(text).length} tokens for all three (o200k).`
  } catch {
    return `${text.length} characters for all three.`
  }
})
