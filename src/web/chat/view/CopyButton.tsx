import { useSignal } from "@preact/signals"
import { CheckIcon, CopyIcon } from "../../shared/icons.tsx"

/** Copies a text; without HTTPS browsers offer only `execCommand`. */
const copy = async (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement("textarea")
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand("copy")
  field.remove()
}

export const CopyButton = ({ label = "Copy", text }: { readonly label?: string; readonly text: string }) => {
  const copied = useSignal(false)
  const onClick = () =>
    void copy(text).then(() => {
      copied.value = true
      setTimeout(() => (copied.value = false), 1600)
    })
  return (
    <button type="button" class="quiet tool" onClick={onClick}>
      {copied.value ? <CheckIcon /> : <CopyIcon />} <span aria-live="polite">{copied.value ? "Copied" : label}</span>
    </button>
  )
}
