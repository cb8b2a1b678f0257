/** Makes the members match a list: who would come, change and go, confirmed by the number of those who go. */
import { useId, useState } from "preact/hooks"
import type { SyncPreview } from "../../wire/admin/people.ts"
import { Drop } from "./Drop.tsx"
import { RefusedRows, Warnings } from "./ImportOutcome.tsx"
import { upload } from "./importing.ts"
import { counted, Dialog, Isolated } from "./parts.tsx"
import { Sending, useSending } from "./sending.tsx"
import { announcement } from "./state.ts"
import { Table } from "./Table.tsx"

export const SyncButton = ({ reload }: { readonly reload: () => void }) => {
  const [text, setText] = useState("")
  const [file, setFile] = useState<File>()
  const [preview, setPreview] = useState<SyncPreview>()
  const [typed, type] = useState("")
  const sending = useSending()
  const field = useId()
  const list = file ?? (text.trim() === "" ? undefined : new File([text], "list.csv"))
  const edit = (change: () => void) => {
    change()
    setPreview(undefined)
    type("")
  }
  const clear = () =>
    edit(() => {
      setText("")
      setFile(undefined)
    })
  const check = async () => {
    const found = (await (await upload("people/sync/list", list!, {})).json()) as SyncPreview
    setPreview(found)
    announcement.value =
      found.problems.length > 0 ? `${counted(found.problems.length, "problem")}.` : "Nothing is changed yet."
  }
  const apply = async ({ added, changed, suspended }: SyncPreview) => {
    const confirmed = { added: added.length, changed: changed.length, suspended: suspended.length }
    await upload("people/sync", list!, { confirmed })
  }
  const isSure = preview !== undefined && (preview.suspended.length === 0 || typed === String(preview.suspended.length))
  return (
    <Dialog label="Match a list" title="Make the members match a list" onClose={clear}>
      {(close) => (
        <form
          class="stacked"
          onSubmit={
            preview === undefined
              ? sending.submit(check, "", () => undefined)
              : sending.submit(
                  () => apply(preview),
                  "The members match the list.",
                  () => {
                    close()
                    reload()
                  }
                )
          }
        >
          {file === undefined ? (
            <>
              <label for={field}>A table with a header, such as E-mail, Role</label>
              <textarea
                id={field}
                rows={5}
                spellcheck={false}
                value={text}
                onInput={({ currentTarget }) => edit(() => setText(currentTarget.value))}
              />
              {text === "" ? (
                <Drop
                  label="Drop a list here, or choose one (CSV, Excel, JSONL)"
                  disabled={sending.busy}
                  open={(opened) => edit(() => setFile(opened))}
                />
              ) : null}
            </>
          ) : (
            <p>
              <Isolated>{file.name}</Isolated>{" "}
              <button type="button" class="button" onClick={() => edit(() => setFile(undefined))}>
                Another list
              </button>
            </p>
          )}
          <p class="soft fine">Members who aren't in the list are suspended. Attributes and tokens stay.</p>
          {preview === undefined ? null : <Preview preview={preview} />}
          {preview === undefined || preview.problems.length > 0 || preview.suspended.length === 0 ? null : (
            <label>
              Type how many people lose their access: {preview.suspended.length}
              <input
                inputMode="numeric"
                value={typed}
                onInput={({ currentTarget }) => type(currentTarget.value.trim())}
              />
            </label>
          )}
          <Sending
            sending={sending}
            label={preview === undefined ? "Check the list" : "Apply the list"}
            disabled={list === undefined || (preview !== undefined && (preview.problems.length > 0 || !isSure))}
          />
        </form>
      )}
    </Dialog>
  )
}

const Preview = ({
  preview: { added, changed, problems, suspended, unchanged, uninvited, verified, warnings }
}: {
  readonly preview: SyncPreview
}) => {
  const rows = [
    ...added.map(({ roles, who }) => [who, "comes", roles.join(", ")] as const),
    ...changed.map(
      ({ before, roles, who }) =>
        [
          who,
          before.suspended ? "gets access again" : "changes",
          `${before.roles.join(", ")} → ${roles.join(", ")}`
        ] as const
    ),
    ...suspended.map(({ name, roles }) => [name, "is suspended", roles.join(", ")] as const),
    ...uninvited.map(({ name, roles }) => [name, "the invitation ends", roles.join(", ")] as const),
    ...verified.map((who) => [who, "becomes an identifier", ""] as const)
  ]
  return (
    <>
      <Warnings of={warnings} />
      {problems.length > 0 ? (
        <RefusedRows
          refused={{
            message: `${counted(problems.length, "problem")}. The list is applied completely or not at all.`,
            lines: problems
          }}
        />
      ) : (
        <p>
          {added.length} come, {changed.length} change, {suspended.length} go, {unchanged} stay as they are.
        </p>
      )}
      {rows.length === 0 ? null : (
        <div class="invited" role="region" tabIndex={0} aria-label="What the list changes">
          <Table
            caption="What the list changes"
            headings={["Person", "Change", "Roles"]}
            rows={rows.map(([who, what, roles], index) => ({
              key: String(index),
              cells: [<Isolated>{who}</Isolated>, what, roles]
            }))}
          />
        </div>
      )}
    </>
  )
}
