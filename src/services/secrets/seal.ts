/**
 * Seals a secret with AES-256-GCM. The key comes from the sealing key by HKDF; organization and name are associated data, so
 * that a sealed secret copied to another row or organization doesn't open.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

const ALGORITHM = "aes-256-gcm"
const INFO = "max seal v1"
/** The first byte of each sealed secret. */
const FORMAT = 1
const NONCE = 12
const TAG = 16

export interface Place {
  readonly organizationId: bigint
  readonly name: string
}

const keyOf = (sealingKey: Uint8Array) => Buffer.from(hkdfSync("sha256", sealingKey, "", INFO, 32))
const associated = ({ name, organizationId }: Place) => Buffer.from(`${organizationId}\0${name}`, "utf8")

export const seal = (sealingKey: Uint8Array, place: Place, secret: string): Buffer => {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(ALGORITHM, keyOf(sealingKey), nonce, { authTagLength: TAG }).setAAD(associated(place))
  const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()])
  return Buffer.concat([Buffer.from([FORMAT]), nonce, sealed, cipher.getAuthTag()])
}

/** The secret; undefined if it was sealed with another key or for another place, or was altered. */
export const unseal = (sealingKey: Uint8Array, place: Place, sealed: Uint8Array): string | undefined => {
  const bytes = Buffer.from(sealed)
  if (bytes[0] !== FORMAT || bytes.length < 1 + NONCE + TAG) return undefined
  try {
    const decipher = createDecipheriv(ALGORITHM, keyOf(sealingKey), bytes.subarray(1, 1 + NONCE), {
      authTagLength: TAG
    })
    decipher.setAAD(associated(place)).setAuthTag(bytes.subarray(-TAG))
    return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE, -TAG)), decipher.final()]).toString("utf8")
  } catch {
    return undefined
  }
}
