/** An authenticator in software, with one ES256 passkey: what a device answers to WebAuthn's options. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto"

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest()
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")

/** A head of CBOR: the kind of an item and its number, which is a value or a length. */
const head = (kind: number, number: number): Buffer =>
  number < 24
    ? Buffer.from([(kind << 5) | number])
    : number < 256
      ? Buffer.from([(kind << 5) | 24, number])
      : Buffer.from([(kind << 5) | 25, number >> 8, number & 255])

type Item = number | string | Uint8Array | ReadonlyMap<number | string, Item>

/** The part of CBOR that authenticators write: whole numbers, texts, bytes and maps. */
const cbor = (item: Item): Buffer => {
  if (typeof item === "number") return item < 0 ? head(1, -1 - item) : head(0, item)
  if (typeof item === "string") return Buffer.concat([head(3, Buffer.byteLength(item)), Buffer.from(item)])
  if (item instanceof Uint8Array) return Buffer.concat([head(2, item.length), item])
  return Buffer.concat([head(5, item.size), ...[...item].flatMap(([key, value]) => [cbor(key), cbor(value)])])
}

const PRESENT_AND_VERIFIED = 0x05
const HAS_KEY = 0x40

interface Options {
  readonly challenge: string
  readonly [name: string]: any
}

export const authenticator = (origin: string) => {
  const rpId = new URL(origin).hostname
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x, y } = publicKey.export({ format: "jwk" })
  const id = randomBytes(16)
  const key = new Map<number, Item>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x!, "base64url")],
    [-3, Buffer.from(y!, "base64url")]
  ])
  let counter = 0
  let userHandle = ""
  const dataOf = (flags: number, more: ReadonlyArray<Uint8Array> = [], site = rpId) => {
    const state = Buffer.alloc(5)
    state.writeUInt8(flags)
    state.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(site), state, ...more])
  }
  const clientData = (type: string, challenge: string, changed: object) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...changed }))
  const answer = <A extends object>(response: A) => ({
    id: text(id),
    rawId: text(id),
    type: "public-key",
    clientExtensionResults: {},
    response
  })
  return {
    /** The answer to the options of adding a passkey; `changed` replaces parts of the client's data. */
    make: ({ challenge, user }: Options, { changed = {}, flags = PRESENT_AND_VERIFIED } = {}) => {
      userHandle = user.id
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = [Buffer.alloc(16), length, id, cbor(key)]
      const attestation = new Map<string, Item>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", dataOf(flags | HAS_KEY, attested)]
      ])
      return answer({
        clientDataJSON: text(clientData("webauthn.create", challenge, changed)),
        attestationObject: text(cbor(attestation))
      })
    },
    /** The signed answer to the options of a sign-in. */
    sign: (
      { challenge }: Options,
      {
        changed = {},
        flags = PRESENT_AND_VERIFIED,
        site = rpId,
        step = 1
      }: { changed?: object; flags?: number; site?: string; step?: number } = {}
    ) => {
      counter += step
      const [data, client] = [dataOf(flags, [], site), clientData("webauthn.get", challenge, changed)]
      const signature = createSign("sha256")
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      return answer({
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(signature),
        userHandle
      })
    }
  }
}
