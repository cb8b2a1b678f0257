/** The model that answers: the organization's own key, the model it pays for, and a day's budget. */
import { useId, useState } from "preact/hooks"
import type { ModelConnection, SetModel } from "../../wire/admin/connections.ts"
import { model, removeModelKey, setModel, setModelKey } from "./api.ts"
import { Badge, ConfirmButton, Fact, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { type Given, isGiven, KnownSecret, SecretField } from "./Secret.tsx"
import { useLoaded } from "./state.ts"
import { Sending, useSending } from "./sending.tsx"

export const Model = () => {
  useTitle("Model")
  const { loaded, reload } = useLoaded(model, [])
  return (
    <>
      <Title note="Basic mode answers without a model. With a model, people can ask in more ways and in any language.">
        Model
      </Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(found) => (
          <>
            <Answers of={found} reload={reload} />
            {found.configured === undefined ? <Key of={found} reload={reload} /> : null}
            <Budget key={JSON.stringify(found)} of={found} reload={reload} />
          </>
        )}
      </WhenLoaded>
    </>
  )
}

interface Part {
  readonly of: ModelConnection
  readonly reload: () => void
}

const Answers = ({ of: { answers, configured, key }, reload }: Part) => (
  <dl class="facts wide">
    <Fact name="Answers come from">
      {answers === "basic" ? (
        "Basic mode, without a model"
      ) : (
        <>
          <code>{answers}</code>{" "}
          <span class="soft">
            {configured === undefined ? "with your organization's key" : "chosen by the operator"}
          </span>
        </>
      )}
      {key?.opens === false && configured === undefined ? (
        <>
          {" "}
          <Badge kind="bad">Questions fail until the key is set again</Badge>
        </>
      ) : null}
    </Fact>
    {configured === undefined ? null : (
      <Fact name="Key">
        <span class="soft">The operator of Max has configured the provider ({configured}).</span>
      </Fact>
    )}
    {key === undefined ? null : (
      <Fact name="Your organization's key">
        <KnownSecret of={key} />{" "}
        <ConfirmButton
          label="Remove"
          title="Remove the key?"
          confirm="Remove the key"
          danger
          act={removeModelKey}
          done="The key is removed."
          reload={reload}
        >
          <p>{configured === undefined ? "Basic mode answers from the next question on." : "It isn't used now."}</p>
        </ConfirmButton>
      </Fact>
    )}
  </dl>
)

const Key = ({ of: { files, key }, reload }: Part) => {
  const [given, give] = useState<Given>({})
  const sending = useSending()
  return (
    <section aria-labelledby="key">
      <h2 id="key">{key === undefined ? "Add a key" : "Replace the key"}</h2>
      <p>
        Anthropic's console shows keys under API Keys. Max asks Anthropic once whether it takes the key, seals it, and
        never shows it again. What it costs is between you and Anthropic.
      </p>
      <form
        class="stacked narrow"
        onSubmit={sending.submit(
          () => setModelKey(given),
          "Anthropic took the key.",
          () => {
            give({})
            reload()
          }
        )}
      >
        <SecretField label="Key" files={files} given={given} give={give} />
        <Sending sending={sending} label="Try and save the key" disabled={!isGiven(given)} />
      </form>
    </section>
  )
}

/** A whole number, or nothing. */
const numberIn = (text: string): number | null => (text.trim() === "" ? null : Number(text))

const Budget = ({ of, reload }: Part) => {
  const { configured, dayTokens, dayTurns, defaultModel, model: own, mostTokens, mostTurns } = of
  const [name, setName] = useState(own ?? "")
  const [turns, setTurns] = useState(dayTurns?.toString() ?? "")
  const [tokens, setTokens] = useState(dayTokens?.toString() ?? "")
  const sending = useSending()
  const id = useId()
  const change: SetModel = {
    ...(configured !== undefined || name.trim() === (own ?? "")
      ? {}
      : { model: name.trim() === "" ? null : name.trim() }),
    ...(numberIn(turns) === (dayTurns ?? null) ? {} : { dayTurns: numberIn(turns) }),
    ...(numberIn(tokens) === (dayTokens ?? null) ? {} : { dayTokens: numberIn(tokens) })
  }
  return (
    <section aria-labelledby="budget">
      <h2 id="budget">{configured === undefined ? "Model and budget" : "Budget"}</h2>
      <form class="stacked narrow" onSubmit={sending.submit(() => setModel(change), "Saved.", reload)}>
        {configured !== undefined ? null : (
          <label>
            Model
            <input
              value={name}
              maxLength={100}
              placeholder={defaultModel}
              spellcheck={false}
              onInput={({ currentTarget: { value } }) => setName(value)}
            />
          </label>
        )}
        <label>
          Questions per day, at most
          <input
            type="number"
            min={0}
            max={mostTurns}
            value={turns}
            placeholder={mostTurns.toString()}
            onInput={({ currentTarget: { value } }) => setTurns(value)}
          />
        </label>
        <label>
          Tokens per day, at most
          <input
            type="number"
            min={0}
            max={mostTokens}
            value={tokens}
            placeholder={mostTokens.toString()}
            aria-describedby={`${id}-hint`}
            onInput={({ currentTarget: { value } }) => setTokens(value)}
          />
        </label>
        <p id={`${id}-hint`} class="soft fine">
          Where a field is empty, the operator's limit counts. Basic mode uses no tokens.
        </p>
        <Sending sending={sending} label="Save" disabled={Object.keys(change).length === 0} />
      </form>
    </section>
  )
}
