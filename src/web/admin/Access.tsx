/** Identity providers: whose tokens admit members, and what a pasted token would do before anyone relies on it. */
import { useId, useState } from "preact/hooks"
import type { Power } from "../../wire/session.ts"
import type { Providers, TriedToken } from "../../wire/admin/providers.ts"
import { providers, removeProvider, tryToken } from "./api.ts"
import { ClientSecret, secretInWords } from "./ClientSecret.tsx"
import { NewProvider } from "./NewProvider.tsx"
import { Outcome } from "./Outcome.tsx"
import { Command, ConfirmButton, Fact, Isolated, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { Sending, useSending } from "./sending.tsx"
import { may, useLoaded } from "./state.ts"

type Provider = Providers["providers"][number]

/** A provider can admit any member with any role. */
const ALL: ReadonlyArray<Power> = ["members", "policy", "data", "secrets"]

export const AccessPage = () => {
  useTitle("Access")
  const { loaded, reload } = useLoaded(providers, [])
  return (
    <>
      <Title note="People who sign in at your identity provider get in without a link of Max's, if they are members.">
        Access
      </Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {({ providers: all }) => (
          <>
            {all.length === 0 ? <p class="empty">No identity provider is trusted yet.</p> : null}
            {all.map((one) => (
              <ProviderPart key={`${one.issuer} ${one.audience}`} of={one} reload={reload} />
            ))}
            {ALL.every(may) ? (
              <NewProvider key={all.length} reload={reload} />
            ) : (
              <p class="soft">Adding a provider needs every power: members, policy, data and secrets.</p>
            )}
            <Command text="max idp add --issuer https://login.example.com --audience max">
              An operator adds one without a token, also at a private address:
            </Command>
          </>
        )}
      </WhenLoaded>
    </>
  )
}

const ProviderPart = ({ of, reload }: { readonly of: Provider; readonly reload: () => void }) => {
  const { addedBy, audience, issuer, keys, roleClaim, signIn } = of
  const heading = useId()
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>
        <Isolated>{signIn ?? issuer}</Isolated>
      </h2>
      <dl class="facts wide">
        <Fact name="Issuer">
          <code>{issuer}</code>
        </Fact>
        <Fact name="Audience">
          <code>{audience}</code>
        </Fact>
        <Fact name="Keys">
          <code>{keys}</code>
        </Fact>
        <Fact name="Roles">
          {roleClaim === undefined ? (
            "those of the membership"
          ) : (
            <>
              those of the token's claim <code>{roleClaim}</code>
            </>
          )}
        </Fact>
        <Fact name="On the sign-in page">{signIn === undefined ? "no" : <Isolated>{signIn}</Isolated>}</Fact>
        {signIn === undefined ? null : <Fact name="Client secret">{secretInWords(of)}</Fact>}
        <Fact name="Added by">
          {addedBy === undefined ? (
            "the operator"
          ) : (
            <a href={to(["people", addedBy.id])}>
              <Isolated>{addedBy.name ?? addedBy.id}</Isolated>
            </a>
          )}
        </Fact>
      </dl>
      <Trial of={of} />
      {signIn !== undefined && ALL.every(may) ? <ClientSecret of={of} reload={reload} /> : null}
      {ALL.every(may) ? (
        <ConfirmButton
          label="Remove the provider"
          title={`Stop trusting ${signIn ?? issuer}?`}
          confirm="Stop trusting it"
          danger
          act={() => removeProvider({ issuer, audience })}
          done="The provider is removed."
          reload={reload}
        >
          <p>
            Its tokens are refused from now on, also those of programs. Sessions that began with it last until they end:
            suspend a person whose access can't wait.
          </p>
        </ConfirmButton>
      ) : (
        <p class="soft">Removing it needs every power: members, policy, data and secrets.</p>
      )}
    </section>
  )
}

const Trial = ({ of: { audience, issuer, roleClaim } }: { readonly of: Provider }) => {
  const [token, setToken] = useState("")
  const [claim, setClaim] = useState(roleClaim ?? "")
  const [tried, setTried] = useState<TriedToken>()
  const sending = useSending()
  const id = useId()
  const run = async () => {
    setTried(undefined)
    const wanted = claim.trim()
    const found = await tryToken({
      issuer,
      audience,
      token: token.trim(),
      ...(wanted === "" ? {} : { roleClaim: wanted })
    })
    setToken("")
    setTried(found)
  }
  return (
    <>
      <h3>Try a token</h3>
      <p>
        Paste a token of your own from the provider, for this audience. Max checks it as if it had come with a request,
        says whom it would admit, and keeps nothing of it.
      </p>
      <form class="stacked narrow" onSubmit={sending.submit(run, "The token was tried.", () => {})}>
        <label for={`${id}-token`}>Token</label>
        <textarea
          id={`${id}-token`}
          rows={3}
          required
          maxLength={20_000}
          autocomplete="off"
          spellcheck={false}
          placeholder="eyJ…"
          value={token}
          onInput={({ currentTarget: { value } }) => setToken(value)}
        />
        <label for={`${id}-claim`}>Claim with the roles</label>
        <input
          id={`${id}-claim`}
          maxLength={200}
          spellcheck={false}
          value={claim}
          placeholder="realm_access.roles"
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget: { value } }) => setClaim(value)}
        />
        <p id={`${id}-hint`} class="soft fine">
          Another claim than the provider's shows which roles it would give, and changes nothing. Empty: as the provider
          is set.
        </p>
        <Sending sending={sending} label="Try the token" disabled={token.trim() === ""} />
      </form>
      {tried === undefined ? null : <Outcome of={tried} />}
    </>
  )
}
