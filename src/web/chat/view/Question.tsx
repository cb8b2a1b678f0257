/** A question as the headword of its turn; a long one is folded. */
import { useSignal } from "@preact/signals"

/** Characters and lines from which a question is folded. */
const LONG = 360
const MANY_LINES = 6

export const Question = ({ text }: { readonly text: string }) => {
  const open = useSignal(false)
  const isLong = text.length > LONG || text.split("\n").length > MANY_LINES
  return (
    <div class="asked">
      <h2 dir="auto" class={isLong && !open.value ? "folded" : undefined}>
        {text}
      </h2>
      {isLong && (
        <button
          type="button"
          class="quiet small fold"
          aria-expanded={open.value}
          onClick={() => (open.value = !open.value)}
        >
          {open.value ? "Show less" : "Show the whole question"}
        </button>
      )}
    </div>
  )
}
