/**
 * Challenges of passkeys: random bytes and an expiry, authenticated by a key that all processes share. Nothing is stored for
 * a challenge until a signature over it is valid, so that unanswered ones cost nothing.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

const RANDOM = 16
const TIME = 6
const MAC = 32
/** Seconds in which a challenge can be answered, unless said. */
export const CHALLENGE_SECONDS = 300

/** The key, and the time of the clock that decides about expiry, in seconds since 1970. */
export interface ChallengeKey {
  readonly key: Uint8Array
  readonly now: number
}

/** The key, made by the first process that needs one. */
export const makeChallengeKey = (app: PgClient.PgClient) => {
  const read = Effect.map(
    orUnavailable(app<ChallengeKey>`
      SELECT key, extract(epoch FROM clock_timestamp())::float8 AS now FROM max.challenge_keys WHERE organization_id = 0`),
    ([row]) => row
  )
  return Effect.gen(function* () {
    const known = yield* read
    if (known !== undefined) return known
    yield* orUnavailable(
      app`INSERT INTO max.challenge_keys (organization_id, key) VALUES (0, ${randomBytes(32)}) ON CONFLICT DO NOTHING`
    )
    return (yield* read)!
  })
}

/** `purpose` is part of what the key authenticates: a challenge of one purpose, or session, is none of another. */
const macOf = ({ key }: ChallengeKey, head: Uint8Array, purpose: string): Buffer =>
  createHmac("sha256", key).update(head).update(purpose).digest()

export const makeChallenge = (key: ChallengeKey, purpose: string, seconds = CHALLENGE_SECONDS): Buffer => {
  const head = Buffer.concat([randomBytes(RANDOM), Buffer.alloc(TIME)])
  head.writeUIntBE(Math.ceil(key.now) + seconds, RANDOM, TIME)
  return Buffer.concat([head, macOf(key, head, purpose)])
}

/** Whether a challenge, in base64url, was made with this key for this purpose and hasn't expired. */
export const isChallenge = (key: ChallengeKey, purpose: string, text: string): boolean => {
  const bytes = Buffer.from(text, "base64url")
  if (bytes.length !== RANDOM + TIME + MAC) return false
  const head = bytes.subarray(0, RANDOM + TIME)
  return (
    timingSafeEqual(bytes.subarray(RANDOM + TIME), macOf(key, head, purpose)) && head.readUIntBE(RANDOM, TIME) > key.now
  )
}
