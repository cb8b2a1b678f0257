/** Shown when the site gives no valid token. */
import type { Chat } from "../chat/state/Chat.ts"

export const NoToken = ({ chat }: { readonly chat: Chat }) => (
  <div class="outside">
    <p>
      {chat.access.value === "unreachable"
        ? "Max can't be reached right now."
        : "This site hasn't signed you in to Max. Sign in to the site and try again."}
    </p>
    <button type="button" class="plain" onClick={() => void chat.start()}>
      Try again
    </button>
  </div>
)
