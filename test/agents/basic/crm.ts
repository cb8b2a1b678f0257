/** A small sales organization with custom types; dates are relative to today. */
import { Effect } from "effect"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { todayIn } from "../../../src/domain/values.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { zoneAtNoon } from "../../support/atlas.ts"
import { ADMIN, load, openTo } from "../../support/basic.ts"

/** The zone of the organization, whose day doesn't end while the tests run. */
export const CRM_ZONE = zoneAtNoon()

const day = (away: number): string =>
  new Date(Date.parse(`${todayIn(CRM_ZONE)}T00:00:00Z`) + away * 86_400_000).toISOString().slice(0, 10)

const companies = [
  { id: "co1", name: "Amber Marine", status: "customer", city: "Boston", phone: "617-555-0201" },
  { id: "co2", name: "Cedar Labs", status: "lead", city: "Denver", phone: "303-555-0202" },
  { id: "co3", name: "Bank of Alder", status: "customer", city: "Boston" }
]
const people = [
  { id: "me", name: "Rosa Delgado", email: ADMIN, phone: "617-555-0001", status: "staff", city: "Boston", company: "" },
  { id: "p1", name: "Ada Lovelace", email: "ada@amber.example", phone: "512-555-0142", status: "customer", city: "Boston", company: "co1" },
  { id: "p2", name: "Ada Byron", email: "byron@cedar.example", phone: "512-555-0143", status: "lead", city: "Denver", company: "co2" },
  { id: "p3", name: "Ada Byron", email: "ab@alder.example", status: "lost", city: "Boston", company: "co3" },
  { id: "p4", name: "Søren Æbelø", email: "soren@cedar.example", phone: "303-555-0144", status: "customer", city: "Denver", company: "co2" },
  { id: "p5", name: "James Brooks", email: "james@amber.example", phone: "617-555-0145", status: "customer", city: "Boston", company: "co1" }
] // prettier-ignore
const meetings = [
  { id: "m1", name: "Kick-off", start: `${day(1)}T14:00`, attendees: "ada@amber.example;" + ADMIN, company: "co1", status: "planned" },
  { id: "m2", name: "Pricing call", start: `${day(1)}T09:30`, attendees: "soren@cedar.example;" + ADMIN, company: "co2", status: "planned" },
  { id: "m3", name: "Quarterly review", start: `${day(-3)}T11:00`, attendees: "ada@amber.example", company: "co1", status: "held" },
  { id: "m4", name: "Site visit", start: `${day(9)}T10:00`, attendees: "james@amber.example;" + ADMIN, company: "co1", status: "planned" },
  { id: "m5", name: "Standup", start: `${day(0)}T23:30`, attendees: ADMIN, company: "co1", status: "planned" }
] // prettier-ignore
const deals = [
  { id: "d1", name: "Hull coating", stage: "open", amount: 12000, owner: ADMIN, company: "co1", close_date: day(20) },
  { id: "d2", name: "Lab benches", stage: "won", amount: 48000, owner: ADMIN, company: "co2", close_date: day(-40) },
  {
    id: "d3",
    name: "Vault doors",
    stage: "open",
    amount: 90500,
    owner: "ada@amber.example",
    company: "co3",
    close_date: day(5)
  }
]
const invoices = [
  { id: "i1", name: "INV-1001", status: "paid", due_date: "2024-02-10", total: 100.5, customer: "Amber Marine" },
  { id: "i2", name: "INV-1002", status: "open", due_date: "2024-03-15", total: 220, customer: "Amber Marine" },
  { id: "i3", name: "INV-1003", status: "open", due_date: day(30), total: 75, customer: "Cedar Labs" }
]

/** Creates the organization; the admin is Rosa Delgado. */
export const crm = Effect.fnUntraced(function* (organization: Organization) {
  yield* load(organization, "companies", companies)
  yield* load(organization, "people", people, { map: { company: "company:companies.id" } })
  yield* load(organization, "meetings", meetings, {
    map: { attendees: "attendees:people.email", company: "company:companies.id" }
  })
  yield* load(organization, "deals", deals, { map: { owner: "owner:people.email", company: "company:companies.id" } })
  yield* load(organization, "invoices", invoices)
  const members = yield* Memberships
  yield* members.add(organization, { identifier: ADMIN, roles: ["admin"] })
  yield* openTo(organization, "people", "companies", "meetings", "deals", "invoices")
})
