/** Makes a passkey for this site. */
import type { NewPasskey, Passkey } from "../../wire/session.ts"
import { request } from "./api.ts"
import { answerOf, begin } from "./passkey.ts"

export const addPasskey = async (name: string): Promise<Passkey> => {
  const options = (await begin("/v1/passkeys/begin")) as unknown as PublicKeyCredentialCreationOptionsJSON
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const made: NewPasskey = { name, response: answerOf(await navigator.credentials.create({ publicKey })) }
  return (await (await request("POST", "/v1/passkeys", made)).json()) as Passkey
}
