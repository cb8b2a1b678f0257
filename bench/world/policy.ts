/** The benchmarks' policy: its roles see from everything to almost nothing. */

/** The number of the person with each role. */
export const ROLES = { everything: 1, nearly: 2, company: 3, little: 4, masked: 5, nothing: 6 } as const

const people = (role: string, rule: object) => ({
  id: `${role}-people`,
  effect: "allow",
  role,
  action: "read",
  type: "people",
  columns: "*",
  ...rule
})
const all = (role: string, type: string) => ({
  id: `${role}-${type}`,
  effect: "allow",
  role,
  action: "read",
  type,
  columns: "*"
})

export const WORLD_POLICY = {
  version: 1,
  roles: Object.fromEntries(Object.keys(ROLES).map((role) => [role, { inherits: [] }])),
  rules: [
    all("everything", "people"),
    { ...all("everything", "people"), id: "everything-people-update", action: "update" },
    all("everything", "companies"),
    all("everything", "meetings"),
    people("nearly", { where: { status: { not: "Lost" } } }),
    all("nearly", "companies"),
    all("nearly", "meetings"),
    people("company", { where: { any: [{ owner: "$me" }, { company: { status: "Partner" } }] } }),
    all("company", "companies"),
    { ...all("company", "meetings"), where: { any: [{ owner: "$me" }, { attendees: "$me" }] } },
    people("little", { where: { any: [{ owner: "$me" }, { id: "$me" }] } }),
    all("little", "companies"),
    { ...all("little", "meetings"), where: { any: [{ owner: "$me" }, { attendees: "$me" }] } },
    people("masked", { columns: ["name", "status", "owner", "company"] }),
    {
      ...people("masked", { where: { any: [{ owner: "$me" }, { id: "$me" }] } }),
      id: "masked-contacts",
      columns: ["phone", "email"]
    },
    all("masked", "companies"),
    people("nothing", { where: { id: "$me" } })
  ]
}
