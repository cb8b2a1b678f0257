/** The first page: what can be asked here, by example, in the organization's own words. */
import "./empty.css"
import type { Chat } from "../state/Chat.ts"

export const Empty = ({ chat }: { readonly chat: Chat }) => {
  const welcome = chat.welcome.value
  return (
    <div class="paper empty">
      <h1>
        {welcome?.person === undefined
          ? "What would you like to know?"
          : `What would you like to know, ${welcome.person}?`}
      </h1>
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
