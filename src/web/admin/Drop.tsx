/** A place for a file: dropped, or chosen. */
import { useId, useState } from "preact/hooks"

export const Drop = ({
  disabled,
  label = "Drop a file here, or choose one",
  open
}: {
  readonly open: (file: File) => void
  readonly disabled: boolean
  readonly label?: string
}) => {
  const field = useId()
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0]
    if (file !== undefined && !disabled) open(file)
  }
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files)
      }}
    >
      <label for={field}>{label}</label>
      <input
        id={field}
        type="file"
        accept=".csv,.tsv,.xlsx,.jsonl,.ndjson,.txt"
        disabled={disabled}
        onChange={({ currentTarget }) => take(currentTarget.files)}
      />
    </div>
  )
}
