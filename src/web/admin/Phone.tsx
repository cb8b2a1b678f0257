/** The phone line: numbers that answer text messages, and whom they answer. */
import { useState } from "preact/hooks"
import type { PhoneLine } from "../../wire/admin/connections.ts"
import { addNumber, line, removeNumber, setLine } from "./api.ts"
import { ConfirmButton, CopyButton, Fact, Isolated, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { type Given, isGiven, KnownSecret, SecretField } from "./Secret.tsx"
import { Sending, useSending } from "./sending.tsx"
import { TestTexts } from "./TestTexts.tsx"
import { may, useLoaded } from "./state.ts"

interface Part {
  readonly of: PhoneLine
  readonly reload: () => void
}

export const Phone = () => {
  useTitle("Phone")
  const { loaded, reload } = useLoaded(line, [])
  return (
    <>
      <Title note="People text a number of yours and get answers, each within what they may see.">Phone</Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(found) => (
          <>
            <Numbers of={found} reload={reload} />
            {found.numbers.length === 0 ? null : <TestTexts numbers={found.numbers} />}
            <NewNumber of={found} reload={reload} />
            <Answers key={JSON.stringify(found)} of={found} reload={reload} />
            <p class="after">
              <a href={to(["texts"])}>Messages and their delivery</a>
            </p>
          </>
        )}
      </WhenLoaded>
    </>
  )
}

const Numbers = ({ of: { numbers, webhook }, reload }: Part) => (
  <>
    <dl class="facts wide">
      <Fact name="Numbers">
        {numbers.length === 0 ? <span class="soft">There is no number yet.</span> : null}
        {numbers.map(({ account, isOperators, phone, secret }) => (
          <div key={phone}>
            <Isolated>{phone}</Isolated> <span class="soft">account {account}, token</span>{" "}
            {isOperators ? (
              <span class="soft">of the operator</span>
            ) : secret === undefined ? (
              <span class="soft">missing: add the number again</span>
            ) : (
              <KnownSecret of={secret} />
            )}{" "}
            <ConfirmButton
              label="Remove"
              title={`Remove ${phone}?`}
              confirm="Remove the number"
              danger
              act={() => removeNumber(phone)}
              done="The number is removed."
              reload={reload}
            >
              <p>Messages to it are no longer answered, from now on.</p>
            </ConfirmButton>
          </div>
        ))}
      </Fact>
    </dl>
    {numbers.length === 0 ? null : webhook === undefined ? (
      <p class="notice warn">
        Twilio can't reach this server: its operator has to set the address at which it is reached (MAX_PUBLIC_URL).
      </p>
    ) : (
      <div class="command">
        <p>In Twilio's console, “A message comes in” for each number is a webhook (HTTP POST) to:</p>
        <div class="command-line">
          <code>{webhook}</code>
          <CopyButton text={webhook} what="the webhook's address" />
        </div>
      </div>
    )}
  </>
)

const NewNumber = ({ of: { files }, reload }: Part) => {
  const [phone, setPhone] = useState("")
  const [account, setAccount] = useState("")
  const [given, give] = useState<Given>({})
  const sending = useSending()
  return (
    <section aria-labelledby="new-number">
      <h2 id="new-number">Add a number</h2>
      <p>
        Twilio's console shows the account (AC…) and its auth token. Max asks Twilio once whether they belong together,
        seals the token, and never shows it again.
      </p>
      <form
        class="stacked narrow"
        onSubmit={sending.submit(
          () => addNumber({ phone, account: account.trim(), ...given }),
          "The number is added.",
          () => {
            setPhone("")
            setAccount("")
            give({})
            reload()
          }
        )}
      >
        <label>
          Number
          <input
            type="tel"
            required
            maxLength={40}
            value={phone}
            placeholder="+1 512 555 0100"
            onInput={({ currentTarget: { value } }) => setPhone(value)}
          />
        </label>
        <label>
          Account
          <input
            required
            maxLength={40}
            spellcheck={false}
            value={account}
            placeholder="AC…"
            onInput={({ currentTarget: { value } }) => setAccount(value)}
          />
        </label>
        <SecretField label="Auth token" files={files} given={given} give={give} />
        <Sending
          sending={sending}
          label="Try and add the number"
          disabled={phone.trim() === "" || account.trim() === "" || !isGiven(given)}
        />
      </form>
    </section>
  )
}

const Answers = ({ of, reload }: Part) => {
  const [contact, setContact] = useState(of.contact ?? "")
  const [role, setRole] = useState(of.openRole ?? "")
  const [changes, setChanges] = useState(of.changes)
  const [tellsApprovers, setTells] = useState(of.tellsApprovers)
  const sending = useSending()
  const change = {
    ...(contact.trim() === (of.contact ?? "") || contact.trim() === "" ? {} : { contact: contact.trim() }),
    ...(role === (of.openRole ?? "") ? {} : { openRole: role === "" ? null : role }),
    ...(changes === of.changes ? {} : { changes }),
    ...(tellsApprovers === of.tellsApprovers ? {} : { tellsApprovers })
  }
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">Whom it answers</h2>
      <form class="stacked narrow" onSubmit={sending.submit(() => setLine(change), "Saved.", reload)}>
        <label>
          Whom people without access are told to ask
          <input
            maxLength={80}
            value={contact}
            placeholder="Jo at the front desk, 512-555-0199"
            onInput={({ currentTarget: { value } }) => setContact(value)}
          />
        </label>
        <label>
          People whose number is in your data, without being members
          <select value={role} disabled={!may("members")} onChange={({ currentTarget: { value } }) => setRole(value)}>
            <option value="">get no answers</option>
            {of.roles.map((one) => (
              <option key={one} value={one}>
                see what {one} sees
              </option>
            ))}
          </select>
        </label>
        {role === "" ? null : (
          <p class="notice warn">
            A sender who can forge the number of one of your people is taken for that person. Give the role no more than
            you would say on the phone to a caller whose number you recognize.
          </p>
        )}
        <label class="inline">
          <input
            type="checkbox"
            checked={changes}
            disabled={!may("policy")}
            onChange={({ currentTarget: { checked } }) => setChanges(checked)}
          />{" "}
          Members confirm single changes by text, with OK and a code
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={tellsApprovers}
            onChange={({ currentTarget: { checked } }) => setTells(checked)}
          />{" "}
          Approvers are told by text of a change that waits for them
        </label>
        <Sending sending={sending} label="Save" disabled={Object.keys(change).length === 0} />
      </form>
    </section>
  )
}
