/** On a narrow page the list lies over the conversation: a dialog of the browser's own, with its focus and its Escape. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { CloseIcon } from "../../shared/icons.tsx"

const NARROW = matchMedia("(max-width: 52rem)")

export const useIsNarrow = (): boolean => {
  const narrow = useSignal(NARROW.matches)
  useEffect(() => {
    const change = () => (narrow.value = NARROW.matches)
    NARROW.addEventListener("change", change)
    return () => NARROW.removeEventListener("change", change)
  }, [narrow])
  return narrow.value
}

interface Props {
  readonly label: string
  readonly page: (open: () => void) => ComponentChildren
  readonly children: (close: () => void) => ComponentChildren
}

export const Drawer = ({ children, label, page }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = useSignal(false)
  const open = () => {
    isOpen.value = true
    dialog.current?.showModal()
  }
  const close = () => dialog.current?.close()
  return (
    <>
      {page(open)}
      <dialog
        ref={dialog}
        class="drawer"
        aria-label={label}
        onClose={() => (isOpen.value = false)}
        onClick={(event) => event.target === dialog.current && close()}
      >
        <button type="button" class="quiet square close" onClick={close} aria-label="Close">
          <CloseIcon />
        </button>
        {isOpen.value && children(close)}
      </dialog>
    </>
  )
}
