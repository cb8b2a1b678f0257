/** The 25 tools: the sentence that uses each, what it does, how often it is confirmed, and a part of the answer. */
interface Tool {
  readonly tool: string
  readonly sentence: string
  /** Absent for what only reads. */
  readonly action?: string
  readonly confirmations: 0 | 1 | 2
  /** A part of the reply, or of the receipt. */
  readonly answer: string
}

const read = (tool: string, sentence: string, answer: string): Tool => ({ tool, sentence, confirmations: 0, answer })
const write = (tool: string, sentence: string, action: string, answer: string): Tool => ({
  tool,
  sentence,
  action,
  confirmations: 1,
  answer
})

export const TOOLS: ReadonlyArray<Tool> = [
  read("listOrganizations", "List the organizations", "There are 2 organizations."),
  read("getOrganization", "Tell me about Northwind Robotics", "status Active, country US"),
  read("getOrganizationDashboard", "How many people by status?", "Employee: 2"),
  write(
    "updateOrganization",
    "Set the country of Northwind Robotics to Canada",
    "organizations.update",
    "1 organization changed"
  ),
  read("listMembers", "List the people", "There are 5 people."),
  read("getMember", "What is Noah Stein's email?", "noah@equity.example"),
  write("addMember", "Add Ada Lin as a new person with email ada@equity.example", "people.create", "1 person added"),
  write("updateMember", "Set Mia Torres' status to Admin", "people.update", "1 person changed"),
  {
    tool: "removeMember",
    sentence: "Delete Liam Wong",
    action: "people.delete",
    confirmations: 2,
    answer: "1 person deleted"
  },
  read("getCapTable", "Total shares of shareholdings by security", "Common Stock: 4,000,000"),
  read("getSecurityTypes", "List the securities", "There are 2 securities."),
  write(
    "createSecurityType",
    "Create a security called Series B Preferred with organization Northwind Robotics",
    "securities.create",
    "1 security added"
  ),
  write(
    "createShareholding",
    "Create a shareholding called CS-2 with security Common Stock and holder Noah Stein and shares 5000",
    "shareholdings.create",
    "1 shareholding added"
  ),
  read("listDocuments", "List the documents", "There are 2 documents."),
  read("getDocument", "Show Board minutes March", "status Final, folder Board"),
  write(
    "createFolder",
    "Create a folder called Grants with organization Northwind Robotics",
    "folders.create",
    "1 folder added"
  ),
  write("moveDocument", "Move Office lease to the Contracts folder", "documents.update", "1 document changed"),
  read("listPlans", "List the plans", "There is 1 plan: 2024 Equity Plan"),
  read("getPlan", "Tell me about 2024 Equity Plan", "reserved 1000000"),
  write(
    "createPlan",
    "Create a plan called 2026 Equity Plan with organization Northwind Robotics",
    "plans.create",
    "1 plan added"
  ),
  write(
    "createGrant",
    "Create a grant called G-2 with plan 2024 Equity Plan and holder Noah Stein and shares 500",
    "grants.create",
    "1 grant added"
  ),
  read("listRoles", "List the roles", "There is 1 role: Legal Counsel"),
  read("getRole", "Show the role Legal Counsel", "permissions View documents"),
  write(
    "createRole",
    "Create a role called Auditor with organization Northwind Robotics",
    "roles.create",
    "1 role added"
  ),
  write("updateRole", "Rename the role Legal Counsel to General Counsel", "roles.update", "1 role changed")
]
