/** The attributes of a member, which rules of the policy compare with columns. */
import { useState } from "preact/hooks"
import type { PersonWithTokens } from "../../wire/admin/people.ts"
import { setAttributes } from "./api.ts"
import { Dialog } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { Sending, useSending } from "./sending.tsx"

const typed = ({ attributes }: PersonWithTokens): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join("\n")

/** One attribute per line; undefined if a line has no name and value. */
const readLines = (text: string): Readonly<Record<string, string>> | undefined => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const pairs = lines.map((line) => /^([^=]+)=(.*)$/.exec(line))
  return pairs.some((pair) => pair === null)
    ? undefined
    : Object.fromEntries(pairs.map((pair) => [pair![1]!.trim(), pair![2]!.trim()]))
}

export const AttributesButton = ({
  person,
  reload
}: {
  readonly person: PersonWithTokens
  readonly reload: () => void
}) => {
  const [text, set] = useState(typed(person))
  const sending = useSending()
  const attributes = readLines(text)
  return (
    <Dialog label="Change attributes" title={`Attributes of ${nameOf(person)}`} onClose={() => set(typed(person))}>
      {(close) => (
        <form
          class="stacked"
          onSubmit={sending.submit(
            () => setAttributes(person.id, attributes ?? {}),
            "The attributes are changed.",
            () => {
              close()
              reload()
            }
          )}
        >
          <label>
            One per line, such as region = north
            <textarea rows={5} spellcheck={false} value={text} onInput={({ currentTarget: { value } }) => set(value)} />
          </label>
          <p class="soft fine">
            Rules of the policy compare attributes with columns, so they can change what this person sees. true, false
            and numbers aren't texts.
          </p>
          {attributes === undefined ? <p class="notice warn">Each line needs a name, = and a value.</p> : null}
          <Sending sending={sending} label="Save" disabled={attributes === undefined || text === typed(person)} />
        </form>
      )}
    </Dialog>
  )
}
