/** Proofs of identity, and the principal that each admits. */
import { Effect, Result } from "effect"
import type { Organization } from "./domain/EntityType.ts"
import { InvalidInput, NotAdmitted, NotInScope } from "./domain/errors.ts"
import type { Principal } from "./domain/Principal.ts"
import { Vouched } from "./domain/Vouched.ts"
import { reading } from "./MaxInput.ts"
import { Admission, type AdmissionError } from "./services/access/Admission.ts"
import type { Scope } from "./services/access/Credentials.ts"
import { IdentityResolver } from "./services/members/IdentityResolver.ts"
import { readIdentifier } from "./services/members/identifier.ts"

/** Proof of identity: a verified identifier, a token, or the assertion of the host program. */
export type Proof = { readonly email: string } | { readonly phone: string } | { readonly token: string } | Vouched

const PROOFS = ["email", "phone", "token"] as const

/** Accepts exactly one known field, so that a request body passed as a proof fails when it has other fields. */
const readProof = (
  proof: unknown
): Effect.Effect<{ readonly kind: (typeof PROOFS)[number]; readonly text: string }, InvalidInput> =>
  reading(() => {
    const [entry, second] = typeof proof === "object" && proof !== null ? Object.entries(proof) : []
    const kind = PROOFS.find((one) => one === entry?.[0])
    const text: unknown = entry?.[1]
    return kind === undefined || second !== undefined || typeof text !== "string" || text.length > 8192
      ? Result.fail(
          InvalidInput.of("A proof must be { email }, { phone } or { token }, or the result of Max.principal.")
        )
      : Result.succeed({ kind, text })
  })

/** The principal of a proof and, of a token, its id. The host says of a vouched person whether it decides on changes. */
export const admitted = Effect.fnUntraced(function* (
  organization: Organization,
  proof: Proof,
  scope: Scope
): Effect.fn.Return<
  { readonly principal: Principal; readonly credentialId?: string | undefined },
  AdmissionError | InvalidInput,
  IdentityResolver | Admission
> {
  const identities = yield* IdentityResolver
  if (Vouched.is(proof)) {
    if (scope === "confirm" && !proof.confirms) return yield* new NotInScope({ message: NOT_CONFIRMING })
    return yield* identities.vouch(organization, proof)
  }
  const { kind, text } = yield* readProof(proof)
  if (kind === "token") {
    const admission = yield* Admission
    const caller = yield* admission.admit({ by: "bearer", secret: text }, { scope, calls: 0 })
    return caller.principal.organizationId === organization.id ? caller : yield* NotAdmitted.error
  }
  const identifier = readIdentifier(text, organization)
  if (identifier?.kind !== kind) return yield* InvalidInput.of(`The ${kind} is invalid.`)
  return yield* identities.admit(organization, identifier)
})

const NOT_CONFIRMING = "This person decides on changes only if the host says so: Max.principal({ …, confirms: true })."
