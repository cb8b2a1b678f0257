/** How long unused conversations are kept: as the operator has it, or shorter. */
import { useId, useState } from "preact/hooks"
import type { Usage } from "../../wire/admin/usage.ts"
import { setOrganization } from "./api.ts"
import { Command, counted } from "./parts.tsx"
import { Sending, useSending } from "./sending.tsx"
import { may } from "./state.ts"

interface Part {
  readonly of: Usage
  readonly reload: () => void
}

export const Retention = ({ of, reload }: Part) => {
  const { conversationDays: days, mostConversationDays: most } = of
  return (
    <section aria-labelledby="retention">
      <h2 id="retention">How long conversations are kept</h2>
      <p>
        A conversation that hasn't been used for {counted(days, "day")} is deleted with all its questions and answers as
        soon as another one begins. People can delete theirs earlier. The counts above stay.{" "}
        {days < most
          ? `The operator of Max would keep it for ${counted(most, "day")} (MAX_SESSION_DAYS).`
          : "The operator of Max sets the time (MAX_SESSION_DAYS)."}
      </p>
      {may("policy") ? <Shorter of={of} reload={reload} /> : null}
      <Command text={`max org set --conversation-days ${days}`}>The same as a command:</Command>
    </section>
  )
}

const Shorter = ({ of: { conversationDays, mostConversationDays: most }, reload }: Part) => {
  const own = conversationDays < most ? String(conversationDays) : ""
  const [days, setDays] = useState(own)
  const sending = useSending()
  const hint = useId()
  const wanted = days.trim() === "" ? null : Number(days)
  return (
    <form
      class="stacked narrow"
      onSubmit={sending.submit(() => setOrganization({ conversationDays: wanted }), "Saved.", reload)}
    >
      <label>
        Days to keep an unused conversation
        <input
          type="number"
          min={1}
          max={most}
          value={days}
          placeholder={most.toString()}
          aria-describedby={hint}
          onInput={({ currentTarget: { value } }) => setDays(value)}
        />
      </label>
      <p id={hint} class="soft fine">
        A shorter time deletes what is older for good, the content of text messages included. Empty: the operator's
        time.
      </p>
      <Sending sending={sending} label="Save" disabled={days.trim() === own} />
    </form>
  )
}
