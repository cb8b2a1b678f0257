/** Max over existing tables: they are mapped once, and then read where they are. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { Mappings, Max, Memberships, Organizations } from "max-agent"

const databaseUrl = process.env["DATABASE_URL"]!

/** The shop's tables; yours exist already. */
const shop = Effect.gen(function* () {
  const sql = yield* PgClient.make({ url: Redacted.make(databaseUrl), maxConnections: 1 })
  yield* sql`CREATE TABLE public.staff (id int PRIMARY KEY, name text NOT NULL, email text NOT NULL)`
  yield* sql`CREATE TABLE public.orders (id int PRIMARY KEY, name text NOT NULL, staff_id int REFERENCES public.staff)`
  yield* sql`INSERT INTO public.staff VALUES (1, 'Jane Peacock', 'jane@shop.example'), (2, 'Steve Johnson', 'steve@shop.example')`
  yield* sql`INSERT INTO public.orders VALUES (1, 'Lamp', 1), (2, 'Chair', 2)`
}).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** The equivalent of `max init`, `max map --exclusive`, `max map --apply` and `max member add`. */
const mapped = Effect.gen(function* () {
  const organizations = yield* Organizations
  const mappings = yield* Mappings
  const members = yield* Memberships
  const organization = yield* organizations.create({ slug: "shop", country: "US", timeZone: "America/New_York" })
  const { file } = yield* mappings.propose(organization, ["public.staff", "public.orders"], true)
  yield* mappings.apply(organization, file)
  yield* members.add(organization, { identifier: "jane@shop.example", roles: ["admin"] })
})

await Effect.runPromise(Effect.andThen(shop, mapped).pipe(Effect.provide(Max.layer({ databaseUrl }))))

const max = await Max.open({ databaseUrl, organization: "shop" })
const jane = max.as({ email: "jane@shop.example" })
const page = await jane.findEntities({
  entityTypeId: "orders",
  filters: [{ columnId: "name", op: "eq", value: "lamp" }],
  selectColumns: ["staff"]
})
console.log(JSON.stringify(page.entities))
await max.close()
