/** The name with its stop, the colour of the ruled margin. */
import "./wordmark.css"

export const Wordmark = () => (
  <span class="wordmark">
    Max
    <span class="stop" aria-hidden="true" />
  </span>
)
