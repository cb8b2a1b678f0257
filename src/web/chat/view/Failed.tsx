/** Why there is no answer, in words, with the reference that opens its trace, and the way on. */
import type { ComponentChildren } from "preact"
import { AgainIcon } from "../../shared/icons.tsx"
import type { Failure } from "../state/Turn.ts"
import { CopyButton } from "./CopyButton.tsx"

interface Props {
  readonly failure: Failure
  readonly again?: (() => void) | undefined
  readonly children?: ComponentChildren
}

export const Failed = ({ again, children, failure }: Props) => (
  <div class="failed">
    <p class="title">{failure.title}</p>
    <p>{failure.detail}</p>
    <div class="tools">
      {failure.again && again !== undefined && (
        <button type="button" class="solid small" onClick={again}>
          <AgainIcon /> Try again
        </button>
      )}
      {children}
      {failure.reference !== undefined && (
        <span class="reference">
          Reference <code>{failure.reference}</code> <CopyButton text={failure.reference} />
        </span>
      )}
    </div>
  </div>
)
