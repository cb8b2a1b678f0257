/** The name with its stop, in the color of the margin rule. */
import "./wordmark.css"

export const Wordmark = () => (
  <span class="wordmark">
    Max
    <span class="stop" aria-hidden="true" />
  </span>
)
