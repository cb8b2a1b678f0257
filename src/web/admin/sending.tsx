/** A form that is being sent: one at a time, with its problem beside its button. */
import { useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { Failure } from "./parts.tsx"
import { announcement, handleFailure } from "./state.ts"

export interface Sent {
  readonly busy: boolean
  readonly problem?: Problem
  readonly submit: (act: () => Promise<void>, done: string, then: () => void) => (event: Event) => void
}

export const useSending = (): Sent => {
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem }>({ busy: false })
  return {
    ...state,
    submit: (act, done, then) => (event) => {
      event.preventDefault()
      if (state.busy) return
      set({ busy: true })
      act().then(
        () => {
          set({ busy: false })
          announcement.value = done
          then()
        },
        (error: unknown) => set({ busy: false, problem: handleFailure(error) })
      )
    }
  }
}

export const Sending = ({
  disabled = false,
  label,
  sending: { busy, problem }
}: {
  readonly sending: Sent
  readonly label: string
  readonly disabled?: boolean
}) => (
  <>
    {problem === undefined ? null : <Failure problem={problem} />}
    <div class="actions start">
      <button type="submit" class="act" disabled={busy || disabled}>
        {busy ? "One moment …" : label}
      </button>
    </div>
  </>
)
