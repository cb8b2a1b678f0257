/** A new identity provider: tried with a pasted token first, and trusted only with one that it has signed. */
import { useId, useState } from "preact/hooks"
import type { AddProvider, TriedToken } from "../../wire/admin/providers.ts"
import { addProvider, tryNewProvider } from "./api.ts"
import { Outcome } from "./Outcome.tsx"
import { ConfirmButton, Isolated } from "./parts.tsx"
import { Sending, useSending } from "./sending.tsx"
import { problemsOf, TextField } from "./TextField.tsx"

const EMPTY = { issuer: "", audience: "", roleClaim: "", signIn: "", clientSecret: "", token: "" }
type Written = typeof EMPTY

const addedOf = (written: Written): AddProvider => {
  const { audience, clientSecret, issuer, roleClaim, signIn, token } = Object.fromEntries(
    Object.entries(written).map(([name, text]) => [name, text.trim()])
  ) as Written
  return {
    issuer,
    audience,
    token,
    ...(roleClaim === "" ? {} : { roleClaim }),
    ...(signIn === "" ? {} : { signIn }),
    ...(signIn === "" || clientSecret === "" ? {} : { clientSecret })
  }
}

export const NewProvider = ({ reload }: { readonly reload: () => void }) => {
  const [written, write] = useState(EMPTY)
  const [tried, setTried] = useState<TriedToken>()
  const sending = useSending()
  const heading = useId()
  const problems = problemsOf(sending)
  const atFields = { busy: sending.busy, submit: sending.submit }
  const added = addedOf(written)
  /** What was tried counts for what is written, and for nothing else. */
  const field = (name: keyof Written) => ({
    value: written[name],
    problem: problems.find(({ field: at }) => at === name)?.message,
    give: (text: string) => {
      setTried(undefined)
      write({ ...written, [name]: text })
    }
  })
  const run = async () => {
    setTried(undefined)
    setTried(await tryNewProvider(added))
  }
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Add a provider</h2>
      <p>
        Max reads the provider's description and keys, and checks a token of your own from it. Only with a token that
        the provider has signed can it be trusted. Its addresses must be public, unless the operator lists the host.
      </p>
      <form class="stacked narrow" onSubmit={sending.submit(run, "The token was tried.", () => {})}>
        <TextField {...field("issuer")} label="Issuer" required placeholder="https://login.example.com" />
        <TextField {...field("audience")} label="Audience" required placeholder="max">
          The client's id at the provider, if people sign in with it.
        </TextField>
        <TextField {...field("roleClaim")} label="Role claim" placeholder="realm_access.roles">
          Its roles then replace those of the membership. Empty: those of the membership.
        </TextField>
        <TextField {...field("signIn")} label="Name on the sign-in page" placeholder="Example ID">
          People then sign in with it by a button. Empty: only its tokens count.
        </TextField>
        {written.signIn.trim() === "" ? null : (
          <TextField {...field("clientSecret")} label="Client secret" isSecret>
            It is sealed and never shown again. Empty, if the client has none.
          </TextField>
        )}
        <TextField {...field("token")} label="Token of the new provider" required rows={3} placeholder="eyJ…" />
        <Sending
          sending={problems.length === 0 ? sending : atFields}
          label="Try the provider"
          disabled={added.issuer === "" || added.token === ""}
        />
      </form>
      {tried === undefined ? null : (
        <div class="stacked after">
          <Outcome of={tried} />
          {tried.rolesFrom === undefined ? null : (
            <div>
              <ConfirmButton
                label="Trust the provider"
                title={`Trust ${added.issuer}?`}
                confirm="Trust it"
                act={() => addProvider(added)}
                done="The provider is trusted."
                reload={reload}
              >
                <p>
                  From now on it decides who comes in as which member
                  {added.roleClaim === undefined ? null : (
                    <>
                      , with the roles of <Isolated>{added.roleClaim}</Isolated>
                    </>
                  )}
                  . That you added it is recorded.
                </p>
              </ConfirmButton>
            </div>
          )}
        </div>
      )}
    </section>
  )
}
