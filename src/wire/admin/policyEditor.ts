/** The policy as a file on the administration page: what a file would mean and change, before it is published. */
import { Schema } from "effect"
import { ChangeSummary, Preview } from "../../domain/Change.ts"
import { Strings, textUpTo } from "../scalars.ts"
import { personReference } from "./people.ts"
import { PolicyChanges, Rules } from "./policy.ts"

const { optionalKey } = Schema

/** Characters of a policy file. */
const MAX_DOCUMENT = 1_000_000

export const policyText = textUpTo(MAX_DOCUMENT).annotate({ description: "The text of a policy file (JSON)." })

export const VersionParameter = { version: Schema.FiniteFromString.check(Schema.isInt()) }

export const PolicyDocument = Schema.Struct({
  version: Schema.Int,
  document: Schema.String.annotate({ description: "Publishing it again changes nothing." }),
  approvers: optionalKey(
    Strings.annotate({ description: "Present where a second person with one of these roles approves a publication." })
  )
})
export type PolicyDocument = typeof PolicyDocument.Encoded

export const CheckPolicy = Schema.Struct({ document: policyText })

export const Remark = Schema.Struct({
  path: Schema.String,
  message: Schema.String,
  fix: optionalKey(Schema.String),
  line: Schema.Int.annotate({ description: "Of the text, from 1." })
})
export type Remark = typeof Remark.Encoded

const CheckedPolicy = Schema.Struct({
  roles: Schema.Array(
    Schema.Struct({
      role: Schema.String,
      inherits: Strings,
      administers: Schema.Boolean,
      powers: Strings,
      rules: Rules
    })
  ),
  confirm: Strings.annotate({ description: "Which changes need whose confirmation, in words." }),
  changes: PolicyChanges.fields.changes.annotate({ description: "From the version in force." }),
  warnings: Schema.Array(Remark),
  tests: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      title: Schema.String,
      line: Schema.Int,
      passes: Schema.Boolean,
      failures: Strings.annotate({ description: "Only for administrators who see every row and column." })
    })
  )
})
export type CheckedPolicy = typeof CheckedPolicy.Encoded

export const PolicyCheck = Schema.Union([Schema.Struct({ problems: Schema.Array(Remark) }), CheckedPolicy])
export type PolicyCheck = typeof PolicyCheck.Encoded

export const SimulatePolicy = Schema.Struct({ ...personReference, document: policyText })
export type SimulatePolicy = typeof SimulatePolicy.Encoded

const Difference = Schema.Struct({
  count: Schema.Int,
  examples: Strings.annotate({ description: "Names of the first of these rows." })
})
export type Difference = typeof Difference.Encoded

const SimulatedType = Schema.Struct({
  type: Schema.String,
  total: Schema.Int.annotate({ description: "Rows of the type that you see yourself; nothing else is counted." }),
  before: Schema.Int,
  after: Schema.Int,
  examples: Strings,
  columns: Schema.Array(Schema.Struct({ column: Schema.String, rows: Schema.Int })),
  denied: optionalKey(Schema.String),
  rows: Schema.Struct({ gained: Difference, lost: Difference }),
  cells: Schema.Array(Schema.Struct({ column: Schema.String, gained: Difference, lost: Difference })),
  gainedColumns: Strings,
  changes: optionalKey(
    Schema.Struct({
      rows: Schema.Array(
        Schema.Struct({
          action: Schema.Literals(["update", "delete"]),
          column: optionalKey(Schema.String),
          before: Schema.Int,
          after: Schema.Int
        })
      ),
      rules: Strings
    })
  )
})
export type SimulatedType = typeof SimulatedType.Encoded

const RefusedType = Schema.Struct({
  type: Schema.String,
  refused: Schema.String.annotate({ description: "Why nothing of this type is counted." })
})

const SimulatedPerson = Schema.Struct({
  who: Schema.String,
  roles: Strings,
  members: Schema.Int.annotate({ description: "Active members with these roles, of whom this person is the first." }),
  types: Schema.Array(Schema.Union([SimulatedType, RefusedType]))
})
export type SimulatedPerson = typeof SimulatedPerson.Encoded

export const PolicySimulation = Schema.Struct({
  people: Schema.Array(SimulatedPerson),
  omitted: Schema.Int.annotate({ description: "Combinations of roles that change and aren't listed." })
})
export type PolicySimulation = typeof PolicySimulation.Encoded

export const PublishPolicy = Schema.Struct({
  document: policyText,
  replacing: Schema.Int.annotate({ description: "The version that the text was made from; it must be in force." })
})
export type PublishPolicy = typeof PublishPolicy.Encoded

export const ProposedPolicy = Schema.Struct({ changeId: Schema.String })
export type ProposedPolicy = typeof ProposedPolicy.Encoded

export const PolicyProposal = Schema.Struct({
  preview: Preview,
  document: Schema.String
})
export type PolicyProposal = typeof PolicyProposal.Encoded

export const PolicyProposals = Schema.Struct({
  proposals: Schema.Array(ChangeSummary).annotate({
    description: "Those that wait for your approval, and yours that wait for another person's"
  })
})
export type PolicyProposals = typeof PolicyProposals.Encoded

export const PublishedPolicy = Schema.Struct({ version: Schema.Int })
export type PublishedPolicy = typeof PublishedPolicy.Encoded
