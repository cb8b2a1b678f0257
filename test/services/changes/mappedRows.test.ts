/** Rows of Chinook's mapped tables that are deleted and added. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import type { WriteEntry } from "../../../src/services/mapping/mappingFile.ts"
import { confirmed, forgetLimits, valuesOf } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { byHand, runScript } from "../../support/mappedTables.ts"
import { failing, mapShop, NOT_TAKEN, openedShop, rightsOn, withTrigger } from "../../support/musicShop.ts"

layer(TestServices, { excludeTestServices: true })("a change of a mapped row", (it) => {
  const opened = openedShop()

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
})
