/** Rules of a sales company: representatives change their own people, managers all. */
export const RULES = [
  {
    id: "rep-reads",
    effect: "allow",
    role: "rep",
    action: "read",
    type: "people",
    columns: ["name", "status", "owner", "phone"],
    where: {}
  },
  {
    id: "rep-own",
    effect: "allow",
    role: "rep",
    action: "update",
    type: "people",
    columns: ["status", "phone"],
    where: { owner: "$me" }
  },
  ...["read", "update"].map((action) => ({
    id: `manager-${action}`,
    effect: "allow",
    role: "manager",
    action,
    type: "people",
    columns: ["name", "status", "owner", "phone"],
    where: {}
  }))
]
/** A second person approves a new owner; a deletion is confirmed twice. */
export const CONFIRM = {
  confirm: [
    { action: "update", type: "people", columns: ["owner"], by: "second", approvers: ["admin"] },
    { action: "delete", type: "people", by: "twice" }
  ]
}
