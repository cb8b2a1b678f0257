/** The questions that were not understood, where an administrator has switched that on. */
import type { UnclearQuestions } from "../../wire/admin/usage.ts"
import { keepQuestions, unclearQuestions } from "./api.ts"
import { Command, ConfirmButton, counted, Isolated, WhenLoaded } from "./parts.tsx"
import { may, useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

const NEITHER = "Names, values and words that Max doesn't know become an ellipsis, and who asked isn't kept."

export const Questions = () => {
  const { loaded, reload } = useLoaded(unclearQuestions, [])
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Questions that weren't understood</h2>
      <WhenLoaded loaded={loaded} reload={() => void reload()}>
        {(found) => <Found found={found} reload={() => void reload()} />}
      </WhenLoaded>
    </section>
  )
}

const Found = ({
  found: { days, kept, questions },
  reload
}: {
  readonly found: UnclearQuestions
  readonly reload: () => void
}) => (
  <>
    <p class="soft">
      {kept
        ? `Kept for ${days} days after they are asked last. ${NEITHER}`
        : `They aren't kept. If you switch it on, you see from then on what people ask in vain. ${NEITHER}`}
    </p>
    {!kept ? null : questions.length === 0 ? (
      <p class="empty">There is none yet.</p>
    ) : (
      <Table
        caption="Questions that weren't understood"
        headings={["Question", "Times", "Last"]}
        numbers="Times"
        rows={questions.map(({ day, question, times }) => ({
          key: question,
          cells: [<Isolated>{question}</Isolated>, times.toLocaleString(), day]
        }))}
      />
    )}
    {may("policy") ? (
      <div class="actions start">
        {kept ? (
          <ConfirmButton
            label="Stop and forget them"
            title="Forget these questions?"
            confirm="Forget"
            danger
            done="They are no longer kept."
            act={() => keepQuestions(false)}
            reload={reload}
          >
            {counted(questions.length, "question")} will be deleted, and no further one is kept.
          </ConfirmButton>
        ) : (
          <ConfirmButton
            label="Keep them from now on"
            title="Keep questions that aren't understood?"
            confirm="Keep them"
            done="They are kept from now on."
            act={() => keepQuestions(true)}
            reload={reload}
          >
            {NEITHER} Every administrator of the organization can read them. Tell the people who ask.
          </ConfirmButton>
        )}
      </div>
    ) : null}
    <Command text="max usage --not-understood">The same as a command:</Command>
  </>
)
