/** The text of a policy file, and going to a line of it. */
import type { RefObject } from "preact"
import { useId } from "preact/hooks"

/** Selects a line, and scrolls to it. */
export const showLine = (area: HTMLTextAreaElement | null, line: number): void => {
  if (area === null) return
  const lines = area.value.split("\n")
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  area.focus()
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  area.scrollTop = (area.scrollHeight * Math.max(0, line - 4)) / lines.length
}

export const PolicyText = ({
  area,
  edit,
  text
}: {
  readonly text: string
  readonly area?: RefObject<HTMLTextAreaElement | null>
  /** Absent for a text that is only read. */
  readonly edit?: (text: string) => void
}) => {
  const id = useId()
  return (
    <>
      <label for={id}>Policy file (JSON)</label>
      <textarea
        id={id}
        {...(area === undefined ? {} : { ref: area })}
        rows={24}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        readOnly={edit === undefined}
        value={text}
        onInput={({ currentTarget }) => edit?.(currentTarget.value)}
      />
    </>
  )
}
