/** The empty conversation: example questions from the organization's data. */
import "./empty.css"
import type { Chat } from "../state/Chat.ts"
import { listed } from "./texts.ts"

/** Types that the lead names. */
const MAX_KINDS = 4

export const Empty = ({ chat }: { readonly chat: Chat }) => {
  const welcome = chat.welcome.value
  return (
    <div class="empty">
      <h1>What would you like to know?</h1>
      {welcome !== undefined && (
        <p class="lead">
          {welcome.kinds.length === 0
            ? "You have access to no data yet. An administrator can change that."
            : `Ask about ${listed(welcome.kinds.slice(0, MAX_KINDS), "and")} at ${welcome.organization}.`}
        </p>
      )}
      {welcome !== undefined && welcome.examples.length > 0 && (
        <dl class="index">
          {welcome.examples.map(({ about, questions }) => (
            <div key={about}>
              <dt>
                <bdi>{about}</bdi>
              </dt>
              {questions.map((question) => (
                <dd key={question}>
                  <button type="button" onClick={() => void chat.say(question)}>
                    <span dir="auto">{question}</span>
                  </button>
                </dd>
              ))}
            </div>
          ))}
        </dl>
      )}
      {welcome?.mode === "basic" && (
        <p class="mode">
          <strong>Basic mode.</strong> No language model is connected here: Max answers simple questions in English, by
          rules.
        </p>
      )}
    </div>
  )
}
