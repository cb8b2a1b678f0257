/** After the organization exists: a passkey, and what can be done now or later. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { SignInWays } from "../../wire/session.ts"
import { addPasskey } from "../shared/addPasskey.ts"
import { get } from "../shared/api.ts"
import { canUsePasskeys, passkeyTrouble } from "../shared/passkey.ts"
import { Heading } from "./Heading.tsx"

const Passkey = () => {
  const isOffered = useSignal<boolean | undefined>(undefined)
  const said = useSignal("")
  const trouble = useSignal("")
  useEffect(() => {
    get<SignInWays>("/v1/session/ways").then(
      ({ passkeys }) => (isOffered.value = passkeys && canUsePasskeys()),
      () => (isOffered.value = false)
    )
  }, [])
  const add = () => {
    trouble.value = ""
    addPasskey("First device").then(
      () => (said.value = "The passkey is added. You sign in with it from now on."),
      (error: unknown) => (trouble.value = passkeyTrouble(error))
    )
  }
  return (
    <li>
      <h2>Come in again</h2>
      <p>
        {isOffered.value === false
          ? "Passkeys need an https address or localhost, and a current browser. "
          : "A passkey signs you in with your fingerprint, your face or the PIN of this device. "}
        Without one, an operator makes you a link: <code>max member sign-in EMAIL</code>
      </p>
      {isOffered.value === true && said.value === "" && (
        <button type="button" class="solid" onClick={add}>
          Add a passkey
        </button>
      )}
      <p role="status">{said.value}</p>
      <p class="trouble" role="alert">
        {trouble.value}
      </p>
    </li>
  )
}

export const Next = ({ name }: { readonly name: string }) => (
  <>
    <Heading>{`${name} is set up.`}</Heading>
    <p>You are signed in. Each of the following can wait.</p>
    <ol>
      <Passkey />
      <li>
        <h2>Invite people</h2>
        <p>
          In the <a href="/admin">administration</a> you invite colleagues, each by a link. By command:{" "}
          <code>max member invite EMAIL --role member</code>
        </p>
      </li>
      <li>
        <h2>Bring your data</h2>
        <p>
          In the administration you <a href="/admin#/import">import files</a>: CSV, Excel or JSONL. Until then Max knows
          only you.
        </p>
      </li>
      <li>
        <h2>Connect a model</h2>
        <p>
          Max answers common questions by itself. With a model it understands free wording: an operator sets{" "}
          <code>ANTHROPIC_API_KEY</code>.
        </p>
      </li>
    </ol>
    <p>
      <a class="solid" href="/">
        Ask the first question
      </a>
    </p>
  </>
)
