/** Another secret for a provider's client: it counts only if the provider takes it, and it is never shown. */
import { useState } from "preact/hooks"
import type { Providers } from "../../wire/admin/providers.ts"
import { setProviderSecret } from "./api.ts"
import { Sending, useSending } from "./sending.tsx"
import { problemsOf, TextField } from "./TextField.tsx"

type Provider = Providers["providers"][number]

const HOLDERS = { none: "none", sealed: "sealed", operator: "kept by the operator" } as const

export const secretInWords = ({ clientSecret = "none" }: Provider): string => HOLDERS[clientSecret]

export const ClientSecret = ({
  of: { audience, clientSecret: kept, issuer },
  reload
}: {
  readonly of: Provider
  readonly reload: () => void
}) => {
  const [clientSecret, setSecret] = useState("")
  const sending = useSending()
  const [problem] = problemsOf(sending)
  const atField = { busy: sending.busy, submit: sending.submit }
  const saved = () => {
    setSecret("")
    reload()
  }
  return (
    <>
      <h3>Replace the client's secret</h3>
      <p>
        Max asks the provider whether it takes the new secret, seals it, and forgets the old one.
        {kept === "operator" ? " The operator's own then no longer counts." : ""}
      </p>
      <form
        class="stacked narrow"
        onSubmit={sending.submit(
          () => setProviderSecret({ issuer, audience, clientSecret: clientSecret.trim() }),
          "The provider took the new secret.",
          saved
        )}
      >
        <TextField
          label="New client secret"
          value={clientSecret}
          give={setSecret}
          problem={problem?.message}
          required
          isSecret
        >
          It counts from the next sign-in on, and is never shown.
        </TextField>
        <Sending
          sending={problem === undefined ? sending : atField}
          label="Try and save the secret"
          disabled={clientSecret.trim() === ""}
        />
      </form>
    </>
  )
}
