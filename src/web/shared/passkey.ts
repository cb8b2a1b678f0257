/** Passkeys in the browser: signing in with one, and what making one needs too. */
import type { PasskeyAnswer, PasskeyOptions } from "../../wire/session.ts"
import { request } from "./api.ts"

/** Whether this browser makes passkeys from JSON, as all do since 2024. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential

export const begin = async (path: string) => ((await (await request("POST", path)).json()) as PasskeyOptions).options

export const answerOf = (credential: Credential | null): Record<string, unknown> => ({
  ...(credential as PublicKeyCredential).toJSON()
})

export const signInWithPasskey = async (): Promise<void> => {
  const options = (await begin("/v1/session/passkey/begin")) as unknown as PublicKeyCredentialRequestOptionsJSON
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const answer: PasskeyAnswer = { response: answerOf(await navigator.credentials.get({ publicKey })) }
  await request("POST", "/v1/session/passkey", answer)
}

/** What to say about a failure; "" if the person closed the browser's own dialog. */
export const passkeyTrouble = (error: unknown): string => {
  if (!(error instanceof DOMException)) return error instanceof Error ? error.message : "That failed. Try again."
  if (error.name === "NotAllowedError" || error.name === "AbortError") return ""
  return error.name === "InvalidStateError"
    ? "This device has a passkey for Max already."
    : "This browser can't use a passkey here."
}
