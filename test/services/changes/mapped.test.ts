/** Chinook, a music shop's public sample database, mapped and changed: its tables, triggers and constraints are another program's. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import {
  type MappingFile,
  readMappingFile,
  type TypeEntry,
  type WriteEntry
} from "../../../src/services/mapping/mappingFile.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { applyAs, as, callerOf, confirmed, forgetLimits, rowsIn, valuesOf, VIA } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { fixture } from "../../support/fixtures.ts"
import { asExistingPerson, byHand, policyFor, runScript } from "../../support/mappedTables.ts"

const CHINOOK = readFileSync(fixture("chinook", "Chinook_PostgreSql.sql"), "utf8")
const JANE = "jane@chinookcorp.com"
const STEVE = "steve@chinookcorp.com"
const NOT_TAKEN = "The database doesn't take this value: nothing was changed."

const rule = (id: string, role: string, action: string, type: string, columns: unknown, where?: object) => ({
  id,
  effect: "allow",
  role,
  action,
  type,
  columns,
  ...(where === undefined ? {} : { where })
})

/** Agents see and change their own customers; the boss all. */
const POLICY = {
  version: 1,
  roles: { boss: {}, agent: {} },
  rules: [
    rule("people", "boss", "read", "people", "*"),
    rule("colleagues", "agent", "read", "people", ["name"]),
    rule("all", "boss", "read", "customers", "*"),
    rule("change-all", "boss", "update", "customers", "*"),
    rule("delete-all", "boss", "delete", "customers", "*"),
    rule("add-all", "boss", "create", "customers", ["first_name", "last_name", "email", "phone", "city"], {
      any: [{ city: null }, { not: { city: "Lima" } }]
    }),
    rule("invoices", "boss", "read", "invoices", "*"),
    rule("change-invoices", "boss", "update", "invoices", "*"),
    rule("own", "agent", "read", "customers", "*", { support_rep: "$me" }),
    rule("change-own", "agent", "update", "customers", ["phone", "email"], { support_rep: "$me" })
  ]
}

const WRITES: Readonly<Record<string, WriteEntry>> = {
  customers: { columns: ["phone", "email", "company", "city"] },
  invoices: { columns: ["total", "invoice_date", "billing_city"] }
}

let proposed: MappingFile | undefined

/** Maps the shop's tables, `writes` of them to be changed. */
const mapShop = Effect.fnUntraced(function* (
  organization: Organization,
  writes: Readonly<Record<string, WriteEntry>> = WRITES,
  wheres: Readonly<Record<string, NonNullable<TypeEntry["where"]>>> = {}
) {
  const mappings = yield* Mappings
  const tables = ["customer", "employee", "invoice"].map((table) => `public.${table}`)
  proposed ??= (yield* mappings.propose(organization, tables, true)).file
  const file = proposed
  const types = file.types.map((entry) => ({
    ...entry,
    // The name is put together from these.
    columns:
      entry.type === "customers"
        ? { ...entry.columns, first_name: { from: "first_name" }, last_name: { from: "last_name" } }
        : entry.columns,
    ...(wheres[entry.type] === undefined ? {} : { where: wheres[entry.type]! }),
    ...(writes[entry.type] === undefined ? {} : { write: writes[entry.type]! })
  }))
  return yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify({ ...file, types })))
})

const shop = Effect.fnUntraced(function* () {
  const identities = yield* IdentityResolver
  const organization = yield* makeOrganization("shop")
  yield* runScript(CHINOOK)
  yield* mapShop(organization)
  yield* policyFor(organization, POLICY)
  const member = Effect.fnUntraced(function* (email: string, role: string) {
    const reader = yield* asExistingPerson(organization, email, role)
    const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
    return { ...reader, ...(yield* as(principal)) }
  })
  return { organization, jane: yield* member(JANE, "boss"), steve: yield* member(STEVE, "agent") }
})

type Shop = Effect.Success<ReturnType<typeof shop>>

/** The text of a customer's row. */
const customer = (id: number) => byHand(`SELECT c::text AS id FROM customer c WHERE customer_id = ${id}`)

/** The rights on a relation, as `\dp` shows them, of the role that applies changes. */
const rightsOn = Effect.fnUntraced(function* (relation: string) {
  return yield* byHand(`SELECT x.line AS id FROM (
    SELECT '' || acl.privilege_type AS line FROM pg_class c, aclexplode(c.relacl) acl, pg_roles r
      WHERE c.oid = '${relation}'::regclass AND r.oid = acl.grantee AND r.rolname LIKE 'max\\_change\\_%'
    UNION ALL SELECT acl.privilege_type || ' (' || string_agg(a.attname::text, ', ' ORDER BY a.attname) || ')' FROM pg_attribute a, aclexplode(a.attacl) acl, pg_roles r
      WHERE a.attrelid = '${relation}'::regclass AND NOT a.attisdropped AND r.oid = acl.grantee AND r.rolname LIKE 'max\\_change\\_%' AND acl.privilege_type <> 'SELECT'
      GROUP BY acl.privilege_type) x ORDER BY 1`)
})

const failing = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.flip(effect) as Effect.Effect<{ _tag: string; message: string }, A, R>

layer(TestServices, { excludeTestServices: true })("a change of a mapped row", (it) => {
  let at: Shop | undefined
  const opened = Effect.gen(function* () {
    at ??= yield* shop()
    yield* forgetLimits(at.organization)
    return at
  })

  it.effect("is proposed as the reading role, applied with the granted columns and undone", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      const before = yield* customer(1)
      expect((yield* jane.actions).map(({ action }) => action.slug)).toEqual(["customers.update", "invoices.update"])
      const proposed = yield* jane.update("customers.update", ["1"], { phone: "+55 11 5555-0101", company: "" })
      expect(yield* customer(1)).toEqual(before)
      expect(proposed.preview.steps).toEqual([
        {
          actionId: "customers.update",
          action: "Change customer",
          entityTypeId: "customers",
          entityId: "1",
          displayName: "Luís Gonçalves",
          cells: [
            { columnId: "company", name: "Company", was: "Embraer - Empresa Brasileira de Aeronáutica S.A." },
            { columnId: "phone", name: "Phone", was: "+55 (12) 3923-5555", becomes: "+55 11 5555-0101" }
          ]
        }
      ])
      const done = yield* confirmed(jane, proposed)
      expect(done).toMatchObject({
        _tag: "Applied",
        receipt: { message: "Done: 1 customer changed.", entities: [{ entityId: "1", entityTypeId: "customers" }] }
      })
      expect(yield* byHand("SELECT phone AS id FROM customer WHERE customer_id = 1")).toEqual(["+55 11 5555-0101"])
      expect((yield* jane.history("customers", "1"))[0]).toMatchObject({ columnIds: ["company", "phone"] })
      yield* confirmed(jane, yield* jane.undo(proposed.changeId))
      expect(yield* customer(1)).toEqual(before)
    })
  )

  it.effect("writes numbers, times and cells without a value exactly, and undoes them", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      const row = byHand("SELECT i::text AS id FROM invoice i WHERE invoice_id = 1")
      const before = yield* row
      const proposed = yield* jane.update("invoices.update", ["1"], {
        total: "12.5",
        invoice_date: "2026-03-31 14:05",
        billing_city: ""
      })
      yield* confirmed(jane, proposed)
      expect(
        yield* byHand(
          "SELECT concat_ws(' ', total, invoice_date, billing_city IS NULL) AS id FROM invoice WHERE invoice_id = 1"
        )
      ).toEqual(["12.50 2026-03-31 14:05:00 t"])
      yield* confirmed(jane, yield* jane.undo(proposed.changeId))
      expect(yield* row).toEqual(before)
      // Its scale has two digits: what would be stored isn't what would be shown.
      expect(yield* failing(jane.update("invoices.update", ["1"], { total: "12.555" }))).toMatchObject({
        _tag: "InvalidInput",
        message: expect.stringContaining("total has at most 2 decimal places.")
      })
      expect(yield* row).toEqual(before)
    })
  )

  it.effect("is held to the policy before and after, like one of a managed row", () =>
    Effect.gen(function* () {
      const { organization, steve } = yield* opened
      const [own] = yield* byHand("SELECT customer_id AS id FROM customer WHERE support_rep_id = 5 ORDER BY 1 LIMIT 1")
      yield* confirmed(steve, yield* steve.update("customers.update", [own!], { phone: "555-0199" }))
      expect(yield* byHand(`SELECT phone AS id FROM customer WHERE customer_id = ${own}`)).toEqual(["555-0199"])
      expect(yield* failing(steve.update("customers.update", ["1"], { phone: "555-0100" }))).toEqual(
        yield* failing(steve.update("customers.update", ["99999"], { phone: "555-0100" })).pipe(
          Effect.map((error) =>
            expect.objectContaining({ _tag: error._tag, message: error.message.replace("99999", "1") })
          )
        )
      )
      expect(yield* failing(steve.update("customers.update", [own!], { city: "Lyon" }))).toMatchObject({
        _tag: "NotAllowed",
        message: "You may not change city of customers."
      })
      // A test of the policy reaches the same verdicts.
      const policies = yield* Policies
      const test = (as: string, values: object, allows: ReadonlyArray<string>, refuses: ReadonlyArray<string>) =>
        JSON.stringify({ ...POLICY, tests: [{ as, update: "customers", values, allows, refuses }] })
      yield* policies.publish(organization, test(STEVE, { phone: "555-0100" }, [own!], ["1"]), "test")
      yield* policies.publish(organization, test(JANE, { country: "Chile" }, [], [own!]), "test")
      yield* Effect.flip(policies.publish(organization, test(STEVE, { phone: "555-0100" }, ["1"], []), "test"))
      yield* policyFor(organization, POLICY)
    })
  )

  it.effect("is applied by a role that may write the declared columns and nothing else", () =>
    Effect.gen(function* () {
      const { organization } = yield* opened
      const rights = {
        "public.customer": ["UPDATE (city, company, email, phone)"],
        "public.invoice": ["UPDATE (billing_city, invoice_date, total)"]
      }
      for (const [table, expected] of Object.entries(rights)) expect(yield* rightsOn(table), table).toEqual(expected)
      expect(yield* rightsOn("public.employee")).toEqual([])
      const applied = yield* mapShop(organization, { customers: { columns: ["phone"] } })
      expect(applied.grants).toEqual([
        expect.stringMatching(/^GRANT UPDATE \("phone"\) ON "public"\."customer" TO "max_change_\w{8}"$/)
      ])
      expect(yield* rightsOn("public.customer")).toEqual(["UPDATE (phone)"])
      expect(yield* rightsOn("public.invoice")).toEqual([])
      yield* mapShop(organization)
    })
  )

  it.effect("is said to be stale when the row has changed since it was shown", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      const proposed = yield* jane.update("customers.update", ["8"], { phone: "555-0102" })
      yield* runScript("UPDATE public.customer SET phone = '555-0000' WHERE customer_id = 8;\n")
      expect(yield* failing(confirmed(jane, proposed))).toMatchObject({
        _tag: "Stale",
        message: "Phone was +32 02 219 03 03 when you looked; it is 555-0000 now. Nothing was changed."
      })
    })
  )

  it.effect("is refused whole where the server has no role that writes the tables of other programs", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      const firms = ["read", "create"].map((action) => rule(`firms-${action}`, "boss", action, "companies", "*"))
      yield* policyFor(organization, { ...POLICY, rules: [...POLICY.rules, ...firms] })
      const own = { actionId: "companies.create", values: valuesOf({ name: "Heron" }) }
      const phone = { actionId: "customers.update", entityIds: ["9"], values: valuesOf({ phone: "555-0112" }) }
      const before = yield* customer(9)
      for (const steps of [[phone], [own, phone]]) {
        const deciding = { via: VIA, writers: [yield* callerOf(jane)], started: performance.now() } as const
        expect(
          yield* failing(applyAs(yield* jane.propose({ steps }), deciding, { changeRole: undefined }))
        ).toMatchObject({
          _tag: "NotAllowed",
          message:
            "Rows of mapped tables can't be changed here: this database has no role that writes them. Nothing was changed."
        })
      }
      expect(yield* customer(9)).toEqual(before)
      expect(yield* rowsIn(organization, "companies")).toEqual([])
      yield* policyFor(organization, POLICY)
    })
  )

  const trigger = (body: string, when: string) =>
    `CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${body.replaceAll("'", "''")} RETURN NEW; END';\n` +
    `CREATE TRIGGER touch ${when} ON public.customer FOR EACH ROW EXECUTE FUNCTION public.touch();\n`
  const withTrigger = <A, E, R>(body: string, use: Effect.Effect<A, E, R>, when = "BEFORE UPDATE") =>
    Effect.acquireUseRelease(
      runScript(trigger(body, when)),
      () => use,
      () => Effect.orDie(runScript("DROP TRIGGER touch ON public.customer;\nDROP FUNCTION public.touch();\n"))
    )

  it.effect("isn't applied when a trigger makes something else of a value, which is said cell by cell", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      const before = yield* customer(3)
      const change = jane.update("customers.update", ["3"], {
        phone: "555-0103",
        email: "F@example.com",
        city: "Laval"
      })
      yield* withTrigger(
        "NEW.email := lower(NEW.email); NEW.city := NULL;",
        Effect.gen(function* () {
          expect(yield* failing(confirmed(jane, yield* change))).toMatchObject({
            _tag: "Stale",
            message: "The database made something else of City, Email: nothing was changed."
          })
          expect(yield* customer(3)).toEqual(before)
        })
      )
      // A column that wasn't set is the trigger's own business.
      yield* withTrigger(
        "NEW.fax := 'changed';",
        Effect.gen(function* () {
          yield* confirmed(jane, yield* jane.update("customers.update", ["3"], { phone: "555-0104" }))
          expect(yield* byHand("SELECT fax AS id FROM customer WHERE customer_id = 3")).toEqual(["changed"])
        })
      )
    })
  )

  it.effect("is refused with one sentence that tells of no other row", () =>
    Effect.gen(function* () {
      const { jane, organization, steve } = yield* opened
      const [own] = yield* byHand("SELECT customer_id AS id FROM customer WHERE support_rep_id = 5 ORDER BY 1 LIMIT 1")
      const before = yield* customer(Number(own))
      yield* runScript(
        "CREATE UNIQUE INDEX one_email ON public.customer (lower(email));\n" +
          "ALTER TABLE public.customer ADD CONSTRAINT short CHECK (length(phone) < 20) NOT VALID;\n"
      )
      yield* mapShop(organization)
      // The address of a customer that Steve doesn't see; a CHECK.
      for (const values of [{ email: "LUISG@embraer.com.br" }, { phone: "555-0105 555-0105 55" }]) {
        const proposed = yield* steve.update("customers.update", [own!], values)
        expect(yield* failing(confirmed(steve, proposed)), JSON.stringify(values)).toMatchObject({
          _tag: "NotAllowed",
          message: NOT_TAKEN
        })
        expect(yield* failing(confirmed(steve, proposed))).toMatchObject({ _tag: "Decided" })
      }
      yield* withTrigger(
        "RAISE EXCEPTION 'the secret of %', (SELECT email FROM public.customer WHERE customer_id = 1);",
        Effect.gen(function* () {
          const proposed = yield* steve.update("customers.update", [own!], { phone: "555-0106" })
          expect(yield* failing(confirmed(steve, proposed))).toMatchObject({ _tag: "NotAllowed", message: NOT_TAKEN })
        })
      )
      expect(yield* customer(Number(own))).toEqual(before)
      yield* runScript("DROP INDEX public.one_email;\nALTER TABLE public.customer DROP CONSTRAINT short;\n")
      yield* mapShop(organization)
      yield* confirmed(jane, yield* jane.update("customers.update", [own!], { phone: "555-0107" }))
    })
  )

  it.effect("runs deferred triggers of the table as the narrow role, before it is left", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      yield* runScript(
        "CREATE FUNCTION public.late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE max.organizations SET name = current_user; RETURN NULL; END';\n" +
          "CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON public.customer DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.late();\n"
      )
      const proposed = yield* jane.update("customers.update", ["4"], { phone: "555-0108" })
      const refusal = yield* failing(confirmed(jane, proposed))
      yield* runScript("DROP TRIGGER late ON public.customer;\nDROP FUNCTION public.late();\n")
      expect(refusal).toMatchObject({ _tag: "NotAllowed", message: NOT_TAKEN })
    })
  )

  it.effect("is refused while the table differs from its mapping, which is read all the same", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      const open = yield* jane.update("customers.update", ["5"], { phone: "555-0109" })
      const propose = jane.update("customers.update", ["5"], { phone: "555-0110" })
      const before = yield* customer(5)
      const drifts = {
        "a new column": [
          "ALTER TABLE public.customer ADD COLUMN since date",
          "ALTER TABLE public.customer DROP COLUMN since"
        ],
        "another type": [
          "ALTER TABLE public.customer ALTER COLUMN phone TYPE varchar(40)",
          "ALTER TABLE public.customer ALTER COLUMN phone TYPE varchar(24)"
        ],
        "a foreign key that passes updates on": [
          "ALTER TABLE public.customer ADD CONSTRAINT one_phone UNIQUE (phone);\nCREATE TABLE public.calls (phone text REFERENCES public.customer (phone) ON UPDATE CASCADE)",
          "DROP TABLE public.calls;\nALTER TABLE public.customer DROP CONSTRAINT one_phone"
        ],
        "row security": [
          "ALTER TABLE public.customer ENABLE ROW LEVEL SECURITY;\nCREATE POLICY reading ON public.customer FOR SELECT USING (true)",
          "DROP POLICY reading ON public.customer;\nALTER TABLE public.customer DISABLE ROW LEVEL SECURITY"
        ]
      }
      for (const [drift, [make, mend]] of Object.entries(drifts)) {
        yield* runScript(`${make};\n`)
        expect((yield* jane.find("customers", ["id=5"])).total, drift).toBe(1)
        expect(yield* failing(propose), drift).toMatchObject({
          _tag: "NotYet",
          message: expect.stringContaining("Customers can't be changed now")
        })
        yield* runScript(`${mend};\n`)
      }
      yield* runScript("ALTER TABLE public.customer ADD COLUMN since date;\n")
      expect(yield* failing(confirmed(jane, open))).toMatchObject({
        _tag: "NotYet",
        message: expect.stringContaining("Nothing was changed.")
      })
      yield* runScript("ALTER TABLE public.customer DROP COLUMN since;\n")
      expect(yield* customer(5)).toEqual(before)
      yield* confirmed(jane, open)
      expect(yield* byHand("SELECT phone AS id FROM customer WHERE customer_id = 5")).toEqual(["555-0109"])
      yield* mapShop(organization)
    })
  )

  it.effect("sets a reference to a row that the person sees, found by its name, and is undone", () =>
    Effect.gen(function* () {
      const { jane, organization, steve } = yield* opened
      yield* mapShop(organization, { customers: { columns: ["phone", "support_rep"] } })
      const rep = byHand("SELECT support_rep_id AS id FROM customer WHERE customer_id = 12")
      expect(yield* rep).toEqual(["3"])
      const proposed = yield* jane.update("customers.update", ["12"], { support_rep: "Steve Johnson" })
      expect(proposed.preview.steps[0]!.cells).toEqual([
        { columnId: "support_rep", name: "Support rep", was: "Jane Peacock", becomes: "Steve Johnson" }
      ])
      yield* confirmed(jane, proposed)
      expect(yield* rep).toEqual(["5"])
      // Steve's own customers are what he may change, and he may not move one out of them.
      expect(yield* failing(steve.update("customers.update", ["12"], { support_rep: "3" }))).toMatchObject({
        _tag: "NotAllowed"
      })
      yield* confirmed(jane, yield* jane.undo(proposed.changeId))
      expect(yield* rep).toEqual(["3"])
      for (const text of ["9999", "Zed Unknown", "x' OR true --"])
        expect(yield* failing(jane.update("customers.update", ["12"], { support_rep: text })), text).toMatchObject({
          _tag: "InvalidInput",
          message: expect.stringMatching(/^support_rep: there is no employee/)
        })
      const emptied = yield* jane.update("customers.update", ["12"], { support_rep: "" })
      yield* confirmed(jane, emptied)
      expect(yield* byHand("SELECT support_rep_id IS NULL AS id FROM customer WHERE customer_id = 12")).toEqual([
        "true"
      ])
      yield* confirmed(jane, yield* jane.undo(emptied.changeId))
      expect(yield* rep).toEqual(["3"])
      yield* mapShop(organization)
    })
  )

  it.effect("never sets a reference to a row that the person doesn't see, which reads like one that isn't there", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      yield* mapShop(organization, { ...WRITES, customers: { columns: ["phone", "support_rep"] } })
      const people = rule("some", "boss", "read", "people", "*", { title: { ne: "IT Manager" } })
      const hiding = { ...POLICY, rules: POLICY.rules.map((each) => (each.id === "people" ? people : each)) }
      yield* policyFor(organization, hiding)
      const told = (text: string) =>
        Effect.map(failing(jane.update("customers.update", ["12"], { support_rep: text })), ({ message }) =>
          message.replace(text, "…")
        )
      expect(yield* told("6")).toBe(yield* told("9999"))
      // Hidden between the preview and the confirmation.
      yield* policyFor(organization, POLICY)
      const refers = { actionId: "customers.update", entityIds: ["12"], values: valuesOf({ support_rep: "6" }) }
      // A row of another table has the same id, which the change updates: that makes the hidden one no less hidden.
      const named = { actionId: "invoices.update", entityIds: ["6"], values: valuesOf({ billing_city: "Oslo" }) }
      const open = [yield* jane.propose({ steps: [refers] }), yield* jane.propose({ steps: [named, refers] })]
      yield* policyFor(organization, hiding)
      for (const draft of open)
        expect(yield* failing(confirmed(jane, draft))).toMatchObject({
          _tag: "Stale",
          message: "What you looked at isn't there any more: nothing was changed."
        })
      expect(yield* byHand("SELECT support_rep_id AS id FROM customer WHERE customer_id = 12")).toEqual(["3"])
      yield* policyFor(organization, POLICY)
      yield* mapShop(organization)
    })
  )

  it.effect("that is a deletion counts what it takes along, however far, and is stale when that has changed", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      yield* runScript(
        "INSERT INTO public.customer (customer_id, first_name, last_name, email) SELECT n, 'Eve', 'Other', 'eve@example.com' FROM generate_series(201, 203) n;\n" +
          "CREATE TABLE public.memo (id serial PRIMARY KEY, customer_id int REFERENCES public.customer ON DELETE CASCADE, about_id int REFERENCES public.customer ON DELETE CASCADE);\n" +
          "CREATE TABLE public.memo_line (id serial PRIMARY KEY, memo_id int REFERENCES public.memo ON DELETE CASCADE);\n" +
          "CREATE TABLE public.visit (id serial PRIMARY KEY, customer_id int REFERENCES public.customer ON DELETE SET NULL);\n" +
          "INSERT INTO public.memo (customer_id, about_id) VALUES (201, 201), (201, NULL), (202, 201), (202, 202);\n" +
          "INSERT INTO public.memo_line (memo_id) SELECT id FROM public.memo, generate_series(1, 2);\n" +
          "INSERT INTO public.visit (customer_id) VALUES (201), (202);\n"
      )
      const deleting: WriteEntry = { columns: ["phone"], delete: "row" }
      const all = ["public.memo", "public.memo_line", "public.visit"]
      expect(
        yield* failing(mapShop(organization, { customers: { ...deleting, cascades: ["public.memo", "public.visit"] } }))
      ).toMatchObject({ details: [expect.stringContaining("rows of public.memo_line would go or change")] })
      yield* mapShop(organization, { customers: { ...deleting, cascades: all } })
      const said = (one: Effect.Success<ReturnType<typeof jane.remove>>) =>
        one.preview.steps[0]!.cells.filter(({ columnId }) => columnId.includes("."))
      const open = yield* jane.remove("customers.delete", ["201"])
      expect(said(open)).toEqual([
        { columnId: "public.memo", name: "Also deletes rows of public.memo", was: "3" },
        { columnId: "public.memo_line", name: "Also deletes rows of public.memo_line", was: "6" },
        { columnId: "public.visit", name: "Also changes rows of public.visit", was: "1" }
      ])
      const none = yield* jane.remove("customers.delete", ["203"])
      expect(said(none)).toEqual([])
      yield* runScript("INSERT INTO public.memo_line (memo_id) SELECT min(id) FROM public.memo;\n")
      expect(yield* failing(confirmed(jane, open))).toMatchObject({
        _tag: "Stale",
        message:
          "When you looked, 6 rows of public.memo_line would have gone along or changed; now 7 would. Nothing was changed."
      })
      // None when it was shown and one now, and the other way round; a change of the row itself takes nothing along.
      const one = yield* jane.remove("customers.delete", ["202"])
      yield* runScript("UPDATE public.visit SET customer_id = 203 WHERE customer_id = 202;\n")
      const visits = (was: number, now: number) => ({
        _tag: "Stale",
        message: `When you looked, ${was} rows of public.visit would have gone along or changed; now ${now} would. Nothing was changed.`
      })
      expect(yield* failing(confirmed(jane, none))).toMatchObject(visits(0, 1))
      expect(yield* failing(confirmed(jane, one))).toMatchObject(visits(1, 0))
      yield* runScript("UPDATE public.visit SET customer_id = NULL WHERE customer_id = 203;\n")
      yield* confirmed(jane, yield* jane.update("customers.update", ["202"], { phone: "555-0113" }))
      yield* forgetLimits(organization)
      const again = yield* jane.remove("customers.delete", ["201", "203"])
      expect(said(again)[1]).toMatchObject({ was: "7" })
      yield* confirmed(jane, again)
      expect(yield* byHand("SELECT count(*) AS id FROM memo")).toEqual(["1"])
      // A table that a deletion would reach through another one, made after the mapping.
      const late = yield* jane.remove("customers.delete", ["202"])
      yield* runScript("CREATE TABLE public.late (line_id int REFERENCES public.memo_line ON DELETE CASCADE);\n")
      expect(yield* failing(confirmed(jane, late))).toMatchObject({ _tag: "NotYet" })
      yield* runScript(
        "DROP TABLE public.late;\nDROP TABLE public.memo_line;\nDROP TABLE public.memo;\nDROP TABLE public.visit;\n"
      )
      yield* mapShop(organization)
    })
  )

  it.effect(
    "that deletes by setting a column leaves the row, which is read no more, and needs no right to delete",
    () =>
      Effect.gen(function* () {
        const { jane, organization } = yield* opened
        yield* runScript(
          "ALTER TABLE public.customer ADD COLUMN gone_at timestamptz, ADD COLUMN kept boolean NOT NULL DEFAULT true;\n"
        )
        yield* mapShop(
          organization,
          { customers: { columns: ["phone"], delete: { set: { gone_at: "now", kept: false } } } },
          { customers: { gone_at: null } }
        )
        expect(yield* rightsOn("public.customer")).toEqual(["UPDATE (gone_at, kept, phone)"])
        const removal = yield* jane.remove("customers.delete", ["3"])
        expect(removal.preview).toMatchObject({ level: "twice", destructive: true })
        expect(yield* confirmed(jane, removal)).toMatchObject({ receipt: { message: "Done: 1 customer deleted." } })
        const left =
          "SELECT concat_ws(' ', kept, gone_at > now() - interval '1 hour', first_name) AS id FROM customer WHERE customer_id = 3"
        expect(yield* byHand(left)).toEqual(["f t François"])
        expect((yield* jane.find("customers", ["id=3"])).total).toBe(0)
        expect(yield* failing(jane.remove("customers.delete", ["3"]))).toMatchObject({ _tag: "UnknownName" })
        expect(yield* failing(jane.undo(removal.changeId))).toMatchObject({ _tag: "Stale" })
        // A trigger keeps one of the rows: what would still be shown wasn't deleted.
        for (const kept of [4, 5])
          yield* withTrigger(
            `IF NEW.customer_id = ${kept} THEN NEW.gone_at := NULL; END IF;`,
            Effect.gen(function* () {
              expect(yield* failing(confirmed(jane, yield* jane.remove("customers.delete", ["4", "5"])))).toMatchObject(
                {
                  _tag: "Stale",
                  message: "The database made something else of it: nothing was changed."
                }
              )
            })
          )
        expect(yield* byHand("SELECT kept AS id FROM customer WHERE customer_id = 4")).toEqual(["true"])
        yield* runScript("ALTER TABLE public.customer DROP COLUMN gone_at, DROP COLUMN kept;\n")
        yield* mapShop(organization)
      })
  )

  it.effect("that is a deletion takes along only what the mapping names, and can't be undone", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      const count = (table: string) => byHand(`SELECT count(*) AS id FROM ${table}`)
      yield* runScript(
        "INSERT INTO public.customer (customer_id, first_name, last_name, email) SELECT n, 'Ann', 'Other', 'ann@example.com' FROM generate_series(101, 103) n;\n" +
          "CREATE TABLE public.note (id serial PRIMARY KEY, customer_id int REFERENCES public.customer ON DELETE CASCADE);\nINSERT INTO public.note (customer_id) VALUES (101);\n"
      )
      const deleting: WriteEntry = { columns: ["phone"], delete: "row" }
      expect(yield* failing(mapShop(organization, { customers: deleting }))).toMatchObject({
        details: [expect.stringContaining("rows of public.note would go or change with a deleted row")]
      })
      yield* mapShop(organization, { customers: { ...deleting, cascades: ["public.note"] } })
      expect(yield* rightsOn("public.customer")).toEqual(["DELETE", "UPDATE (phone)"])
      const removal = yield* jane.remove("customers.delete", ["101"])
      expect(removal.preview.level).toBe("twice")
      yield* confirmed(jane, removal)
      expect([yield* count("customer WHERE customer_id = 101"), yield* count("note")]).toEqual([["0"], ["0"]])
      expect(yield* failing(jane.undo(removal.changeId))).toMatchObject({
        _tag: "Stale",
        message: "A deleted row of a mapped table can't be brought back here, because Max doesn't read all of it."
      })
      // Her invoices lead to this one: another table's rows aren't named.
      expect(yield* failing(confirmed(jane, yield* jane.remove("customers.delete", ["1"])))).toMatchObject({
        _tag: "NotAllowed",
        message: "The database doesn't let this be deleted: nothing was changed."
      })
      const open = yield* jane.remove("customers.delete", ["102"])
      yield* runScript("CREATE TABLE public.call (customer_id int REFERENCES public.customer ON DELETE SET NULL);\n")
      expect(yield* failing(confirmed(jane, open))).toMatchObject({ _tag: "NotYet" })
      expect(yield* count("customer WHERE customer_id IN (1, 102)")).toEqual(["2"])
      yield* runScript("DROP TABLE public.call;\nDROP TABLE public.note;\n")
      yield* mapShop(organization)
    })
  )

  const NEW = { first_name: "Ida", last_name: "Lund", email: "ida@example.com", phone: "555-0120" }
  const ADDING: WriteEntry = { columns: ["first_name", "last_name", "email", "phone", "city"], create: true }
  const count = (table: string) => byHand(`SELECT count(*) AS id FROM ${table}`)

  it.effect("that adds a row gets the id that the database gives, and is undone while the row is as it was added", () =>
    Effect.gen(function* () {
      const { jane, organization, steve } = yield* opened
      expect(yield* failing(mapShop(organization, { customers: { columns: ["phone"], create: true } }))).toMatchObject({
        details: [
          expect.stringContaining('Postgres gives "customer_id" no value'),
          ...["first_name", "last_name", "email"].map((name) => expect.stringContaining(`every row needs "${name}"`))
        ]
      })
      yield* runScript(
        "CREATE SEQUENCE public.customer_number START 501;\n" +
          "ALTER TABLE public.customer ALTER customer_id SET DEFAULT nextval('public.customer_number'), ALTER country SET DEFAULT 'Norway';\n"
      )
      const applied = yield* mapShop(organization, { customers: ADDING })
      expect(applied.grants).toContainEqual(
        expect.stringMatching(
          /^GRANT INSERT \("city", "email", "first_name", "last_name", "phone"\) ON "public"\."customer" TO "max_change_\w{8}"$/
        )
      )
      expect(yield* rightsOn("public.customer_number")).toEqual(["USAGE"])
      expect(yield* rightsOn("public.customer")).toEqual([
        "INSERT (city, email, first_name, last_name, phone)",
        "UPDATE (city, email, first_name, last_name, phone)"
      ])
      expect(yield* failing(steve.create("customers.create", NEW))).toMatchObject({ _tag: "UnknownName" })
      expect(yield* failing(jane.create("customers.create", { first_name: "Ida" }))).toMatchObject({
        message: "customers.create needs email."
      })
      expect(yield* failing(jane.create("customers.create", { ...NEW, city: "Lima" }))).toMatchObject({
        _tag: "NotAllowed",
        message: "You may not add a customer like that."
      })
      const proposed = yield* jane.create("customers.create", NEW)
      expect(proposed.preview.steps).toMatchObject([
        { actionId: "customers.create", displayName: "Ida Lund", entityId: "" }
      ])
      expect(yield* count("customer WHERE customer_id > 500")).toEqual(["0"])
      const done = yield* confirmed(jane, proposed)
      expect(done).toMatchObject({
        receipt: { message: "Done: 1 customer added.", entities: [{ entityId: "501", entityTypeId: "customers" }] }
      })
      expect(
        yield* byHand("SELECT concat_ws(' ', first_name, country) AS id FROM customer WHERE customer_id = 501")
      ).toEqual(["Ida Norway"])
      expect((yield* jane.find("customers", ["id=501"])).total).toBe(1)
      expect((yield* jane.preview(proposed.changeId)).steps).toMatchObject([
        { entityId: "501", displayName: "Ida Lund" }
      ])
      expect((yield* jane.history("customers", "501"))[0]).toMatchObject({ actionId: "customers.create" })
      // The role that applies changes may not delete these rows yet.
      expect(yield* failing(jane.undo(proposed.changeId))).toMatchObject({
        _tag: "Stale",
        message: "Rows of this mapped table can't be deleted here, so one that was added can't be taken back."
      })
      yield* mapShop(organization, { customers: { ...ADDING, delete: "row" } })
      // What the database filled in counts as well.
      yield* runScript("UPDATE public.customer SET country = 'Chile' WHERE customer_id = 501;\n")
      expect(yield* failing(jane.undo(proposed.changeId))).toMatchObject({
        _tag: "Stale",
        message: "The customer has been changed since it was added. It wasn't undone."
      })
      yield* runScript("UPDATE public.customer SET country = 'Norway' WHERE customer_id = 501;\n")
      yield* confirmed(jane, yield* jane.undo(proposed.changeId))
      expect(yield* count("customer WHERE customer_id > 500")).toEqual(["0"])
      yield* forgetLimits(organization)
      // An identity needs no right on its sequence.
      yield* runScript(
        "ALTER TABLE public.customer ALTER customer_id DROP DEFAULT;\nALTER TABLE public.customer ALTER customer_id ADD GENERATED ALWAYS AS IDENTITY (START 601);\n"
      )
      yield* mapShop(organization, { customers: ADDING })
      expect(yield* rightsOn("public.customer_number")).toEqual([])
      const beside = yield* jane.propose({
        steps: [
          { actionId: "customers.update", entityIds: ["10"], values: valuesOf({ phone: "555-0121" }) },
          { actionId: "customers.create", values: valuesOf(NEW) }
        ]
      })
      const { receipt } = (yield* confirmed(jane, beside)) as { readonly receipt: { readonly entities: object } }
      expect(receipt.entities).toEqual([
        { actionId: "customers.update", entityTypeId: "customers", entityId: "10" },
        { actionId: "customers.create", entityTypeId: "customers", entityId: "601" }
      ])
      expect((yield* jane.preview(beside.changeId)).receipt).toEqual(receipt)
      yield* runScript(
        "DELETE FROM public.customer WHERE customer_id = 601;\nDROP SEQUENCE public.customer_number;\n" +
          "ALTER TABLE public.customer ALTER customer_id DROP IDENTITY, ALTER country DROP DEFAULT;\n"
      )
      yield* mapShop(organization)
    })
  )

  it.effect("that adds a row is refused by constraints with one sentence, and judged on what triggers made of it", () =>
    Effect.gen(function* () {
      const { jane, organization } = yield* opened
      yield* runScript(
        "DELETE FROM public.customer WHERE customer_id > 100;\nCREATE UNIQUE INDEX one_email ON public.customer (lower(email));\n" +
          "ALTER TABLE public.customer ADD CONSTRAINT short CHECK (length(phone) < 20) NOT VALID;\n" +
          "ALTER TABLE public.customer ALTER customer_id ADD GENERATED ALWAYS AS IDENTITY (START 701);\n"
      )
      yield* mapShop(organization, { customers: ADDING })
      // The address of another row; a CHECK.
      for (const values of [{ email: "LUISG@embraer.com.br" }, { phone: "555-0105 555-0105 55" }]) {
        const refused = yield* jane.create("customers.create", { ...NEW, ...values })
        expect(yield* failing(confirmed(jane, refused)), JSON.stringify(values)).toMatchObject({
          _tag: "NotAllowed",
          message: NOT_TAKEN
        })
      }
      const adding = "BEFORE INSERT"
      yield* forgetLimits(organization)
      const otherwise = yield* jane.create("customers.create", NEW)
      yield* withTrigger(
        "NEW.email := upper(NEW.email);",
        Effect.gen(function* () {
          expect(yield* failing(confirmed(jane, otherwise))).toMatchObject({
            _tag: "Stale",
            message: "The database made something else of Email: nothing was changed."
          })
        }),
        adding
      )
      // A trigger sets what wasn't confirmed, and the policy judges the row as it is.
      const judged = yield* jane.create("customers.create", { ...NEW, city: "Oslo" })
      const without = yield* jane.create("customers.create", NEW)
      yield* withTrigger(
        "IF NEW.city IS NULL THEN NEW.city := 'Lima'; END IF;",
        Effect.gen(function* () {
          expect(yield* failing(confirmed(jane, without))).toMatchObject({
            _tag: "NotAllowed",
            message: "You may not add a customer like that."
          })
          yield* confirmed(jane, judged)
        }),
        adding
      )
      const vanishes = yield* jane.create("customers.create", { ...NEW, email: "ida.lund@example.com" })
      yield* withTrigger(
        "RETURN NULL;",
        Effect.gen(function* () {
          expect(yield* failing(confirmed(jane, vanishes))).toMatchObject({ _tag: "Stale" })
        }),
        adding
      )
      expect(yield* byHand("SELECT city AS id FROM customer WHERE customer_id > 500")).toEqual(["Oslo"])
      // A table that isn't as it was mapped takes no new row.
      const waits = yield* jane.create("customers.create", { ...NEW, email: "ida.lund@example.com" })
      yield* runScript("ALTER TABLE public.customer ADD COLUMN since date;\n")
      expect(yield* failing(confirmed(jane, waits))).toMatchObject({ _tag: "NotYet" })
      yield* runScript(
        "ALTER TABLE public.customer DROP COLUMN since;\nCREATE RULE copies AS ON INSERT TO public.customer DO ALSO DELETE FROM public.invoice;\n"
      )
      expect(yield* failing(confirmed(jane, waits))).toMatchObject({ _tag: "NotYet" })
      yield* runScript(
        "DROP RULE copies ON public.customer;\nDELETE FROM public.customer WHERE customer_id > 500;\nDROP INDEX public.one_email;\n" +
          "ALTER TABLE public.customer DROP CONSTRAINT short, ALTER customer_id DROP IDENTITY;\n"
      )
      yield* mapShop(organization)
    })
  )

  it.effect("never reaches a table that took the name of the mapped one", () =>
    Effect.gen(function* () {
      const { jane } = yield* opened
      const proposed = yield* jane.update("customers.update", ["6"], { phone: "555-0111" })
      const before = yield* customer(6)
      yield* runScript(
        "ALTER TABLE public.customer RENAME TO former;\nCREATE TABLE public.customer (LIKE public.former INCLUDING ALL);\n" +
          "ALTER TABLE public.customer ADD CONSTRAINT customer_support_rep_id_fkey FOREIGN KEY (support_rep_id) REFERENCES public.employee (employee_id) ON DELETE NO ACTION ON UPDATE NO ACTION;\n" +
          "INSERT INTO public.customer SELECT * FROM public.former;\n"
      )
      const { owner } = yield* Database
      const [role] = yield* byHand(
        "SELECT rolname AS id FROM pg_roles WHERE rolname LIKE 'max\\_change\\_%' ORDER BY 1 LIMIT 1"
      )
      yield* owner.unsafe(`GRANT ALL ON public.customer TO "${role}"`)
      expect(yield* failing(confirmed(jane, proposed))).toMatchObject({ _tag: "Unavailable" })
      expect(yield* customer(6)).toEqual(before)
      yield* runScript("DROP TABLE public.customer;\nALTER TABLE public.former RENAME TO customer;\n")
      yield* confirmed(jane, proposed)
      expect(yield* byHand("SELECT phone AS id FROM customer WHERE customer_id = 6")).toEqual(["555-0111"])
    })
  )
})
