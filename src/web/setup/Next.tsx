/** After the organization exists: a passkey, and what can be done now or later. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Sample } from "../../wire/admin/import.ts"
import type { SignInWays } from "../../wire/session.ts"
import { addPasskey } from "../shared/addPasskey.ts"
import { get, Problem, request } from "../shared/api.ts"
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

/** Sample data by one press, or a file on the page of the administration. */
const Data = () => {
  const busy = useSignal(false)
  const added = useSignal<Sample | undefined>(undefined)
  const trouble = useSignal("")
  const add = () => {
    busy.value = true
    trouble.value = ""
    request("POST", "/v1/admin/import/sample")
      .then((response) => response.json() as Promise<Sample>)
      .then(
        (rows) => (added.value = rows),
        (error: unknown) =>
          (trouble.value = error instanceof Problem ? error.message : "Something went wrong. Try again.")
      )
      .finally(() => (busy.value = false))
  }
  return (
    <li>
      <h2>Bring your data</h2>
      <p>
        <a href="/admin#/import">Import a file</a>: CSV, Excel or JSONL, with a check before anything changes. Or look
        around with sample data of a made-up company. Until then Max knows only you.
      </p>
      {added.value === undefined && (
        <button type="button" class="solid" disabled={busy.value} onClick={add}>
          Add sample data
        </button>
      )}
      <p role="status">
        {busy.value
          ? "Adding the sample data …"
          : added.value === undefined
            ? ""
            : `Added: ${added.value.people.toLocaleString()} people, ${added.value.companies.toLocaleString()} companies, ${added.value.meetings.toLocaleString()} meetings. Ask, for example: who is Rosa Delgado?`}
      </p>
      <p class="trouble" role="alert">
        {trouble.value}
      </p>
    </li>
  )
}

/** The steps that can wait. The list stays at /setup for administrators. */
export const Next = ({ name }: { readonly name: string }) => (
  <>
    <Heading>{`${name} is set up.`}</Heading>
    <p>You are signed in. Each of the following can wait, and this list stays at /setup.</p>
    <ol>
      <Passkey />
      <Data />
      <li>
        <h2>Decide who sees what</h2>
        <p>
          <a href="/admin#/policy">The policy</a> says in words what each role sees. You are <code>admin</code> and see
          everything; the role <code>member</code> is for colleagues.
        </p>
      </li>
      <li>
        <h2>Invite people</h2>
        <p>
          <a href="/admin#/people">Invite colleagues</a>, each by a link. By command:{" "}
          <code>max member invite EMAIL --role member</code>
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
