/** Imports the sample data: 2,000 people, 414 companies and 1,200 meetings, from a fixed seed. */
import { Effect } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import type { Organization } from "../../../domain/EntityType.ts"
import { OperatorError } from "../../../domain/errors.ts"
import type { Principal } from "../../../domain/Principal.ts"
import type { Importer } from "../Importer.ts"
import { generate, STAFF } from "./generate.ts"

/** Rows refer to each other, so people come first without their companies, and again with them. Running it again changes nothing. */
export const loadSample = Effect.fnUntraced(function* (
  importer: Importer["Service"],
  organization: Organization,
  administrator?: Principal
) {
  const { companies, meetings, people } = generate(new Date())
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "max-sample-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const load = Effect.fnUntraced(function* (
    type: string,
    rows: ReadonlyArray<object>,
    map: Record<string, string> = {},
    ignore: ReadonlyArray<string> = []
  ) {
    const file = join(folder, `${type}.jsonl`)
    yield* Effect.promise(() => writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n")))
    yield* importer.import(organization, { files: [file], type, map, ignore, administrator })
  })
  const owner = "owner:people.email"
  yield* load("people", people.slice(0, STAFF.length), {}, ["owner", "company"])
  yield* load("companies", companies, { owner })
  yield* load("people", people, { owner, company: "company:companies.id" })
  yield* load("meetings", meetings, { owner, company: "company:companies.id", attendees: "attendees:people.email" })
  return { people: people.length, companies: companies.length, meetings: meetings.length }
}, Effect.scoped)

/** Adds the sample data to an organization without imported rows, for an operator or an administrator. */
export const addSample = Effect.fn("sample.add")(function* (
  { app }: Database["Service"],
  importer: Importer["Service"],
  organization: Organization,
  administrator?: Principal
) {
  const imported = yield* orUnavailable(
    app`SELECT 1 FROM max.audit_log WHERE organization_id = ${organization.id} AND chain = 'changes'
      AND action = 'data.imported' LIMIT 1`
  )
  if (imported.length > 0)
    return yield* OperatorError.of("Sample data is for an organization without data, and files were imported here.")
  return yield* loadSample(importer, organization, administrator)
})
