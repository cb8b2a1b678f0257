/**
 * Administering one's own organization, declared: members, the policy in words, the audit log and texts. Identifiers are
 * in bodies and never in addresses, which others write down.
 */
import { Schema } from "effect"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Admitted, Need } from "./admitted.ts"
import { InvalidInput, NotFound, NotPossible, Unavailable } from "../../wire/problems.ts"

const { optionalKey } = Schema
const text = (maximum: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maximum))
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** How many of a list in an address. */
const PageSize = optionalKey(
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 200 }))
)

/** An entity id, of Max's or of a mapped table. */
const Id = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._:-]{1,64}$/))
const Texts = Schema.Array(Schema.String)
const State = Schema.Literals(["active", "suspended"])
const Moment = Schema.String.annotate({ description: "ISO 8601, UTC" })
const Attributes = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))

const person = {
  id: Schema.String,
  name: Schema.String.annotate({ description: "Empty where you may not see it." }),
  identifiers: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(["email", "phone", "subject"]),
      text: Schema.String.annotate({ description: "Masked, unless you may see the person's own." })
    })
  ),
  roles: Texts,
  state: State,
  isSelf: Schema.Boolean,
  tokens: Schema.Int.annotate({ description: "Tokens in force." }),
  memberSince: Moment,
  suspendedSince: optionalKey(Moment),
  lastCall: optionalKey(Moment.annotate({ description: "The minute of the last call, as far as it is known." }))
}

const Person = Schema.Struct(person)

const Token = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Texts,
  createdAt: Moment,
  expiresAt: Moment,
  state: Schema.Literals(["active", "revoked", "expired"])
})

const PersonWithTokens = Schema.Struct({ ...person, attributes: Attributes, held: Schema.Array(Token) })

const People = Schema.Struct({
  people: Schema.Array(Person),
  total: Schema.Int.annotate({ description: "How many match." }),
  next: optionalKey(Schema.String.annotate({ description: "Where the next page begins: its `after`." }))
})

const Extent = Schema.Literals(["all", "some", "none"]).annotate({
  description: "Every row's, those of the rows that a condition names, or none"
})

const PolicyInForce = Schema.Struct({
  version: Schema.Int,
  roles: Schema.Array(
    Schema.Struct({
      role: Schema.String,
      inherits: Texts,
      administers: Schema.Boolean,
      members: Schema.Int.annotate({ description: "Active members that have it." }),
      rules: Schema.Array(
        Schema.Struct({ id: Schema.String, effect: Schema.Literals(["allow", "deny"]), words: Schema.String })
      ),
      reach: Schema.Array(
        Schema.Struct({
          type: Schema.String,
          typeName: Schema.String,
          rows: Extent,
          columns: Schema.Array(Schema.Struct({ column: Schema.String, name: Schema.String, extent: Extent }))
        })
      )
    })
  )
})

const Versions = Schema.Struct({
  versions: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      author: Schema.String,
      authorName: optionalKey(Schema.String),
      publishedAt: Schema.String.annotate({ description: "In the organization's time zone" }),
      sha256: Schema.String,
      rules: Schema.Int,
      inForce: Schema.Boolean
    })
  )
})

const Changes = Schema.Struct({
  changes: Schema.Array(Schema.Struct({ mark: Schema.Literals(["+", "-", "~"]), what: Schema.String }))
})

const Explanation = Schema.Struct({
  who: Schema.String,
  roles: Texts,
  type: Schema.String,
  total: Schema.Int.annotate({ description: "Rows of the type that you see yourself." }),
  visible: Schema.Int.annotate({ description: "Those of them that the person sees." }),
  denied: optionalKey(Schema.String),
  rules: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      role: Schema.String,
      effect: Schema.Literals(["allow", "deny"]),
      words: Schema.String,
      rows: Schema.Int
    })
  ),
  notInForce: Texts,
  columns: Schema.Array(Schema.Struct({ column: Schema.String, rows: Schema.Int, because: Schema.String }))
})

const Refused = Schema.Struct({
  type: Schema.String,
  refused: Schema.String.annotate({ description: "Why nothing is explained of this type." })
})

const Truth = Schema.Literals(["yes", "no", "unknown"])

const RowExplanation = Schema.Struct({
  who: Schema.String,
  roles: Texts,
  type: Schema.String,
  entityId: Schema.String,
  name: Schema.String,
  visible: Schema.Boolean,
  because: Schema.String,
  rules: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      role: Schema.String,
      effect: Schema.Literals(["allow", "deny"]),
      words: Schema.String,
      truth: Truth,
      hides: optionalKey(Schema.String),
      conditions: Schema.Array(
        Schema.Struct({ depth: Schema.Int, words: Schema.String, truth: Truth, column: optionalKey(Schema.String) })
      )
    })
  ),
  columns: Schema.Array(
    Schema.Struct({
      column: Schema.String,
      value: optionalKey(Schema.String.annotate({ description: "As text; nothing where you may not see it." })),
      visible: Schema.Boolean,
      because: Schema.String
    })
  )
})

const Chain = Schema.Literals(["changes", "reads"])

const AuditRecords = Schema.Struct({
  records: Schema.Array(
    Schema.Struct({
      sequence: Schema.Int,
      at: Moment,
      actor: Schema.String.annotate({ description: "An entity id, or `operator`" }),
      actorName: optionalKey(Schema.String),
      action: Schema.String,
      subject: Schema.String,
      subjectName: optionalKey(Schema.String),
      personName: optionalKey(Schema.String.annotate({ description: "Of `details.person`" })),
      details: Schema.Record(Schema.String, Schema.Unknown)
    })
  ),
  next: optionalKey(Schema.Int.annotate({ description: "Where the next page begins: its `before`." }))
})

const Verifications = Schema.Struct({
  chains: Schema.Array(
    Schema.Struct({
      chain: Chain,
      records: Schema.Int,
      head: optionalKey(Schema.String.annotate({ description: "NUMBER:HASH, to be kept somewhere else" })),
      broken: optionalKey(Schema.Int.annotate({ description: "The first record that isn't what was written" }))
    })
  )
})

const TextLog = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({
      number: Schema.String.annotate({ description: "The organization's own, in full" }),
      provider: Schema.String
    })
  ),
  openRole: optionalKey(
    Schema.String.annotate({ description: "What every identified person comes in as; nothing while only members do" })
  ),
  texts: Schema.Array(
    Schema.Struct({
      at: Moment,
      direction: Schema.Literals(["in", "out"]),
      number: Schema.String.annotate({ description: "The person's, masked" }),
      line: Schema.String.annotate({ description: "Of the organization's, masked" }),
      person: optionalKey(
        Schema.Struct({ id: Schema.String, name: Schema.String }).annotate({
          description: "Who was let in, where you may see the name."
        })
      ),
      state: Schema.String.annotate({ description: "What became of a message, or how far a text has come" }),
      kind: optionalKey(Schema.String),
      segments: optionalKey(Schema.Int),
      error: optionalKey(Schema.String.annotate({ description: "The provider's code, or ours" }))
    })
  ),
  next: optionalKey(Moment.annotate({ description: "Where the next page begins: its `before`." }))
})

/** A member by entity id, or anybody by e-mail address or phone number. */
const about = { id: optionalKey(Id), identifier: optionalKey(text(320)) }

/** What takes the database long counts as a call. */
const counted = { scope: "admin", calls: 1 } as const

export const admin = HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.post("people", "/v1/admin/people/search", {
      payload: Schema.Struct({
        search: optionalKey(Schema.String.check(Schema.isMaxLength(320))),
        role: optionalKey(text(63)),
        state: optionalKey(State),
        after: optionalKey(Id),
        limit: optionalKey(between(1, 200))
      }),
      success: People,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Members in order of name: by words of name, role or identifier, 50 at a time"),
    HttpApiEndpoint.get("person", "/v1/admin/people/:id", {
      params: { id: Id },
      success: PersonWithTokens,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "One member, with its tokens: never a secret"),
    HttpApiEndpoint.post("suspend", "/v1/admin/people/:id/suspend", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "End somebody's access at once; never one's own"),
    HttpApiEndpoint.post("resume", "/v1/admin/people/:id/resume", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotFound, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "Let a suspended member in again, with the same roles"),
    HttpApiEndpoint.delete("revoke", "/v1/admin/tokens/:id", {
      params: { id: Id },
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "End a token at once"),
    HttpApiEndpoint.get("policy", "/v1/admin/policy", {
      success: PolicyInForce,
      error: [NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "The policy in force, in words, and what each role reaches"),
    HttpApiEndpoint.get("versions", "/v1/admin/policy/versions", {
      success: Versions,
      error: Unavailable
    }).annotate(OpenApi.Summary, "Every version of the policy, the newest first"),
    HttpApiEndpoint.get("changes", "/v1/admin/policy/changes/:from/:to", {
      params: {
        from: Schema.FiniteFromString.check(Schema.isInt()),
        to: Schema.FiniteFromString.check(Schema.isInt())
      },
      success: Changes,
      error: [InvalidInput, NotPossible, Unavailable]
    }).annotate(OpenApi.Summary, "What differs between two versions, in words"),
    HttpApiEndpoint.post("explain", "/v1/admin/explain", {
      payload: Schema.Struct({ ...about, type: optionalKey(text(63)) }),
      success: Schema.Struct({ explanations: Schema.Array(Schema.Union([Explanation, Refused])) }),
      error: [InvalidInput, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "Why a person sees what it sees of a type, or of each; as far as you see it yourself")
      .annotate(Need, counted),
    HttpApiEndpoint.post("explainRow", "/v1/admin/explain/row", {
      payload: Schema.Struct({ ...about, type: text(63), row: text(200) }),
      success: RowExplanation,
      error: [InvalidInput, NotPossible, Unavailable]
    })
      .annotate(OpenApi.Summary, "Why a person sees one row and its cells, or doesn't; only for a row that you see")
      .annotate(Need, counted),
    HttpApiEndpoint.get("types", "/v1/admin/types", {
      success: Schema.Struct({ types: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })) }),
      error: Unavailable
    }).annotate(OpenApi.Summary, "The types that policies and explanations are about"),
    HttpApiEndpoint.get("audit", "/v1/admin/audit", {
      query: {
        chain: optionalKey(Chain),
        /** What the action begins with. */
        action: optionalKey(text(100)),
        /** Who did it or to whom it was done: an entity id, or `operator`. */
        who: optionalKey(Id),
        /** ISO 8601. */
        since: optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}(T[\d:.]{5,15}Z)?$/))),
        before: optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))),
        limit: PageSize
      },
      success: AuditRecords,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "What was changed, or what was refused; the newest first, 50 at a time"),
    HttpApiEndpoint.get("verify", "/v1/admin/audit/verification", { success: Verifications, error: Unavailable })
      .annotate(OpenApi.Summary, "Compute every hash of the audit log anew")
      .annotate(Need, counted),
    HttpApiEndpoint.get("texts", "/v1/admin/texts", {
      query: {
        /** The time of an entry, as it is told. */
        before: optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z$/))),
        limit: PageSize
      },
      success: TextLog,
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Who wrote by text and what became of it, never what was said; 50 at a time")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 0 })
  .annotate(
    OpenApi.Description,
    "For somebody whose role administers, about their own organization. What is safer as a command isn't here."
  )
