/** Saves the whole list behind an answer as a file, if the credential may export. */
import { useSignal } from "@preact/signals"
import type { ExportQuery } from "../../../wire/exports.ts"
import { DownloadIcon } from "../../shared/icons.tsx"
import type { Chat } from "../state/Chat.ts"

/** Saves a file under a name. */
const save = (file: Blob, name: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export const Download = ({ chat, query }: { readonly chat: Chat; readonly query: ExportQuery }) => {
  const busy = useSignal(false)
  const failure = useSignal<string | undefined>(undefined)
  if (!chat.mayExport.value) return null
  const download = async (): Promise<void> => {
    busy.value = true
    failure.value = undefined
    try {
      const response = await chat.request("POST", "/v1/export", { ...query, byteOrderMark: true })
      save(await response.blob(), `${query.entityTypeId}.csv`)
      chat.status.value = "The file was saved."
    } catch (error) {
      failure.value = error instanceof Error ? error.message : "The file couldn't be saved."
    }
    busy.value = false
  }
  return (
    <>
      <button type="button" class="quiet tool" disabled={busy.value} onClick={() => void download()}>
        <DownloadIcon /> Download as CSV
      </button>
      {failure.value !== undefined && (
        <span class="aside" role="alert">
          {failure.value}
        </span>
      )}
    </>
  )
}
