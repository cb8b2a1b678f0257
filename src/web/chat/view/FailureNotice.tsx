/** Why there is no answer, with the reference of its trace and a button to try again. */
import type { ComponentChildren } from "preact"
import { AgainIcon } from "../../shared/icons.tsx"
import type { Failure } from "../state/Turn.ts"
import { CopyButton } from "./CopyButton.tsx"

interface Props {
  readonly failure: Failure
  readonly retry?: (() => void) | undefined
  readonly children?: ComponentChildren
}

export const FailureNotice = ({ children, failure, retry }: Props) => (
  <div class="failed">
    <p class="title">{failure.title}</p>
    <p>{failure.detail}</p>
    <div class="tools">
      {failure.mayRetry && retry !== undefined && (
        <button type="button" class="solid small" onClick={retry}>
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
