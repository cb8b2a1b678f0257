/** A secret that an administrator sets: pasted, or one that the operator keeps. It is never shown again. */
import { useId } from "preact/hooks"
import type { ModelConnection } from "../../wire/admin/connections.ts"
import { Badge, Isolated, Moment } from "./parts.tsx"

export interface Given {
  readonly secret?: string
  readonly file?: string
}

export const isGiven = ({ file = "", secret = "" }: Given): boolean => file !== "" || secret.trim() !== ""

/** What is known of a secret that is set. */
export const KnownSecret = ({ of }: { readonly of: NonNullable<ModelConnection["key"]> }) => (
  <>
    {of.file === undefined ? (
      <code>{of.ending === undefined ? "•••" : `…${of.ending}`}</code>
    ) : (
      <>
        <Isolated>{of.file}</Isolated> <span class="soft">(kept by the operator)</span>
      </>
    )}{" "}
    {of.opens ? (
      <span class="soft">
        set <Moment at={of.at} />
      </span>
    ) : (
      <Badge kind="bad">{of.file === undefined ? "Sealed with another key: paste it again" : "Its file is gone"}</Badge>
    )}
  </>
)

/** A field for a pasted secret and, where the operator keeps some, a choice of those. */
export const SecretField = ({
  files,
  given,
  give,
  label
}: {
  readonly label: string
  readonly files: ReadonlyArray<string>
  readonly given: Given
  readonly give: (given: Given) => void
}) => {
  const field = useId()
  return (
    <>
      {files.length === 0 ? null : (
        <label>
          Where it is
          <select
            value={given.file ?? ""}
            onChange={({ currentTarget: { value } }) => give(value === "" ? { secret: "" } : { file: value })}
          >
            <option value="">I paste it</option>
            {files.map((file) => (
              <option key={file} value={file}>
                {file}, kept by the operator
              </option>
            ))}
          </select>
        </label>
      )}
      {given.file !== undefined ? null : (
        <>
          <label for={field}>{label}</label>
          <input
            id={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            maxLength={500}
            value={given.secret ?? ""}
            onInput={({ currentTarget: { value } }) => give({ secret: value })}
          />
        </>
      )}
    </>
  )
}
