/** Simulates an inbound message: it takes the path of a real one, on a separate line, and nothing is sent. */
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { SenderLeases } from "../../services/texting/SenderLeases.ts"
import { SIMULATION, SmsAdmission } from "../../services/texting/SmsAdmission.ts"
import { type Outcome, SmsInbox } from "../../services/texting/SmsInbox.ts"
import { SmsLog } from "../../services/texting/SmsLog.ts"
import { type Segments, segmentsOf } from "./gsm.ts"
import { makeLoopback } from "./loopbackProvider.ts"
import { SmsProcessor } from "./SmsProcessor.ts"

const NO_MERGING = { quiet: 0, most: 0 }
const LEASE_SECONDS = 30

export interface Simulated {
  /** The people who have the number. */
  readonly identified: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly admitted: "membership" | "opened channel" | undefined
  readonly refused: "no access" | "shared" | "dormant" | undefined
  readonly outcome: Outcome
  /** What would be sent. */
  readonly texts: ReadonlyArray<Segments & { readonly body: string }>
}

/** Processes a simulated message from a number in E.164. */
export const simulateMessage = Effect.fnUntraced(function* (organization: Organization, phone: string, body: string) {
  const admission = yield* SmsAdmission
  const inbox = yield* SmsInbox
  const leases = yield* SenderLeases
  const log = yield* SmsLog
  const processor = yield* SmsProcessor
  const people = yield* admission.identify(organization, phone)
  const names = yield* log.names(organization, people)
  const admitted = yield* admission.admit(organization, phone)

  const provider = makeLoopback()
  const id = randomBytes(16).toString("hex")
  const message = { provider: provider.name, id, from: phone, to: SIMULATION, body, media: 0, receivedAt: new Date() }
  yield* inbox.receive(organization.id, message, NO_MERGING)
  const lease = yield* leases.claim({ organizationId: organization.id, line: SIMULATION, phone }, LEASE_SECONDS)
  if (lease === undefined) {
    return yield* OperatorError.of("Another simulation for this number is running. Try again.")
  }
  const secret = Redacted.make("")
  yield* processor.handle(lease, {
    organization,
    phone: SIMULATION,
    provider,
    account: "",
    secret,
    merging: NO_MERGING
  })
  const outcome = yield* inbox.outcomeOf(organization.id, message)
  if (outcome === undefined) {
    return yield* OperatorError.of("There is no answer yet. Try again: the message is stored.")
  }
  const simulated: Simulated = {
    identified: people.map((one) => ({ id: one, name: names.get(one) ?? "" })),
    admitted: admitted._tag === "Admitted" ? admitted.by : undefined,
    refused: admitted._tag === "Refused" ? admitted.why : undefined,
    outcome,
    texts: provider.sent.map((sent) => ({ body: sent.body, ...segmentsOf(sent.body) }))
  }
  return simulated
})
