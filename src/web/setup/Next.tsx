/** After the organization exists: a passkey, and what can be done now or later. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Sample } from "../../wire/admin/import.ts"
import type { SetupSteps } from "../../wire/admin/setup.ts"
import type { SignInWays } from "../../wire/session.ts"
import { addPasskey } from "../shared/addPasskey.ts"
import { get, Problem, request } from "../shared/api.ts"
import { canUsePasskeys, passkeyTrouble } from "../shared/passkey.ts"
import { Heading } from "./Heading.tsx"

/** A step's heading, with whether it was taken. */
const Step = ({ children, done }: { readonly children: string; readonly done: boolean | undefined }) => (
  <h2>
    {children} {done === true && <span class="done">done</span>}
  </h2>
)

const Passkey = ({ done }: { readonly done: boolean | undefined }) => {
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
      <Step done={done === true || said.value !== ""}>Come in again</Step>
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
const Data = ({ done }: { readonly done: boolean | undefined }) => {
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
      <Step done={done === true || added.value !== undefined}>Bring your data</Step>
      <p>
        <a href="/admin#/import">Import a file</a>: CSV, Excel or JSONL, with a check before anything changes.
        {done === true ? "" : " Or look around with sample data of a made-up company. Until then Max knows only you."}
      </p>
      {added.value === undefined && done !== true && (
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
export const Next = ({ name }: { readonly name: string }) => {
  const steps = useSignal<SetupSteps | undefined>(undefined)
  // Without an answer the list is shown as it is: each step can be taken again.
  useEffect(() => {
    get<SetupSteps>("/v1/admin/setup").then(
      (taken) => (steps.value = taken),
      () => undefined
    )
  }, [])
  const taken = steps.value
  return (
    <>
      <Heading>{`${name} is set up.`}</Heading>
      <p>You are signed in. Each of the following can wait, and this list stays at /setup.</p>
      <ol>
        <Passkey done={taken?.passkey} />
        <Data done={taken?.data} />
        <li>
          <Step done={taken?.policy}>Decide who sees what</Step>
          <p>
            <a href="/admin#/policy">The policy</a> says in words what each role sees, and{" "}
            <a href="/admin#/policy/edit">can be edited</a>. You are <code>admin</code> and see everything; the role{" "}
            <code>member</code> is for colleagues.
          </p>
        </li>
        <li>
          <Step done={taken?.people}>Invite people</Step>
          <p>
            <a href="/admin#/people">Invite colleagues</a>, each by a link. By command:{" "}
            <code>max member invite EMAIL --role member</code>
          </p>
        </li>
        <li>
          <h2>Connect a model</h2>
          <p>
            Max answers common questions by itself. With a model it understands free wording:{" "}
            <a href="/admin#/model">paste a key</a>. An operator can set <code>ANTHROPIC_API_KEY</code> instead.
          </p>
        </li>
        <li>
          <Step done={taken?.answer}>Ask</Step>
          <p>
            <a class="solid" href="/">
              {taken?.answer === true ? "Ask a question" : "Ask the first question"}
            </a>
          </p>
        </li>
      </ol>
    </>
  )
}
