/** Changes of Chinook's mapped rows: its tables, triggers and constraints are another program's. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { applyAs, callerOf, confirmed, rowsIn, valuesOf, VIA } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { byHand, policyFor, runScript } from "../../support/mappedTables.ts"
import {
  customer,
  failing,
  JANE,
  mapShop,
  NOT_TAKEN,
  openedShop,
  POLICY,
  rightsOn,
  rule,
  STEVE,
  withTrigger,
  WRITES
} from "../../support/musicShop.ts"

layer(TestServices, { excludeTestServices: true })("a change of a mapped row", (it) => {
  const opened = openedShop()

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
