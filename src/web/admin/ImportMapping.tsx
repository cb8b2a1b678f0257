/** Where the columns of a file go, and how its values are written. */
import { useId, useState } from "preact/hooks"
import type { Proposal, ReadFile } from "../../wire/admin/import.ts"
import { type Chosen, choiceFor, NEW, NOWHERE, type Settings } from "./importing.ts"
import { Isolated } from "./parts.tsx"
import { Table } from "./Table.tsx"

const HEADINGS = ["In the file", "For example", "Goes into"]

export const Mapping = ({
  choose,
  chosen,
  proposal
}: {
  readonly proposal: Proposal
  readonly chosen: Chosen
  readonly choose: (chosen: Chosen) => void
}) => {
  const { headers, types } = proposal
  const field = useId()
  const existing = types.find(({ slug }) => slug === chosen.type)
  const [isNew, setNew] = useState(existing === undefined)
  const twice = chosen.to.find((to, index) => to !== NEW && to !== NOWHERE && chosen.to.indexOf(to) !== index)
  const hasName =
    chosen.to.includes("name") ||
    headers.some(({ header }, index) => chosen.to[index] === NEW && header.trim().toLowerCase() === "name")
  const moved = (index: number, to: string) =>
    choose({ ...chosen, to: chosen.to.map((one, at) => (at === index ? to : one)) })
  return (
    <>
      <div class="filters">
        <label for={field}>
          The rows are
          <select
            id={field}
            value={isNew ? NEW : chosen.type}
            onChange={({ currentTarget: { value } }) => {
              setNew(value === NEW)
              choose(choiceFor(proposal, value === NEW ? "" : value))
            }}
          >
            {types.map(({ name, slug }) => (
              <option key={slug} value={slug}>
                {name}
              </option>
            ))}
            <option value={NEW}>A new type …</option>
          </select>
        </label>
        {isNew ? (
          <label>
            Name of the new type
            <input
              required
              pattern="[a-z][a-z0-9_]*"
              maxLength={63}
              value={chosen.type}
              placeholder="products"
              aria-describedby={`${field}-hint`}
              onInput={({ currentTarget }) => choose({ ...chosen, type: currentTarget.value })}
            />
            <span id={`${field}-hint`} class="soft fine">
              In the plural: lower-case letters, digits and _.
            </span>
          </label>
        ) : null}
      </div>
      <Table
        caption="Columns of the file"
        headings={HEADINGS}
        rows={headers.map(({ header, samples }, index) => ({
          key: header,
          cells: [
            <Isolated>{header}</Isolated>,
            samples.length === 0 ? <span class="soft">empty</span> : <Isolated>{samples.join(" · ")}</Isolated>,
            <select
              aria-label={`${header} goes into`}
              value={chosen.to[index]}
              onChange={({ currentTarget }) => moved(index, currentTarget.value)}
            >
              {isNew ? <NewTypeDestinations /> : null}
              {existing?.destinations.map(({ label, to }) => (
                <option key={to} value={to}>
                  {label}
                </option>
              ))}
              {existing?.proposed[index] == null ? <option value={NEW}>a new column</option> : null}
              <option value={NOWHERE}>nothing: leave it out</option>
            </select>
          ]
        }))}
      />
      {twice === undefined ? null : (
        <p class="notice warn">Two columns of the file go into {twice}. Choose one of them.</p>
      )}
      {hasName ? null : <p class="notice warn">Every row needs a name: say which column it is.</p>}
    </>
  )
}

const NewTypeDestinations = () => (
  <>
    <option value="name">name</option>
    <option value="id">id, to import the row again</option>
  </>
)

const LOCALES = [
  ["", "2026-12-31, 1234.56"],
  ["en-US", "12/31/2026, 1,234.56 (US)"],
  ["en-GB", "31/12/2026, 1,234.56 (UK)"],
  ["de-DE", "31.12.2026, 1.234,56 (Deutsch)"],
  ["de-CH", "31.12.2026, 1\u2019234.56 (Schweiz)"],
  ["fr-FR", "31/12/2026, 1\u202f234,56 (Fran\u00e7ais)"],
  ["es-ES", "31/12/2026, 1.234,56 (Espa\u00f1ol)"]
] as const

const ENCODINGS = [
  ["", "found out"],
  ["utf-8", "UTF-8"],
  ["windows-1252", "Western (Windows-1252)"],
  ["windows-1250", "Central European (Windows-1250)"],
  ["iso-8859-2", "Central European (ISO 8859-2)"],
  ["windows-1251", "Cyrillic (Windows-1251)"],
  ["windows-1253", "Greek (Windows-1253)"],
  ["windows-1254", "Turkish (Windows-1254)"],
  ["windows-1255", "Hebrew (Windows-1255)"],
  ["windows-1256", "Arabic (Windows-1256)"],
  ["shift_jis", "Japanese (Shift JIS)"],
  ["euc-kr", "Korean (EUC-KR)"],
  ["gb18030", "Chinese (GB 18030)"],
  ["big5", "Chinese (Big5)"],
  ["macintosh", "Mac Roman"],
  ["utf-16le", "UTF-16"]
] as const

/** `read` with one option set, or without it. */
const withOption = <K extends keyof ReadFile>(read: ReadFile, key: K, value: ReadFile[K] | undefined): ReadFile => {
  const { [key]: _, ...others } = read
  return value === undefined ? others : { ...others, [key]: value }
}

/** Options that most files don't need. */
export const Reading = ({
  isSpreadsheet,
  read,
  reread,
  setSettings,
  settings
}: {
  readonly isSpreadsheet: boolean
  readonly read: ReadFile
  readonly reread: (read: ReadFile) => void
  readonly settings: Settings
  readonly setSettings: (settings: Settings) => void
}) => {
  const { locale: _, ...others } = settings
  return (
    <div class="filters">
      <label class="reading">
        Dates and numbers look like
        <select
          value={settings.locale ?? ""}
          onChange={({ currentTarget: { value } }) => setSettings(value === "" ? others : { ...others, locale: value })}
        >
          {LOCALES.map(([locale, name]) => (
            <option key={locale} value={locale}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        The headers are in row
        <input
          type="number"
          min={1}
          max={100_000}
          placeholder="the first"
          value={read.headerRow ?? ""}
          onChange={({ currentTarget: { value } }) =>
            reread(withOption(read, "headerRow", value === "" ? undefined : Number(value)))
          }
        />
      </label>
      {isSpreadsheet ? (
        <label>
          Sheet
          <input
            maxLength={255}
            placeholder="the first"
            value={read.sheet ?? ""}
            onChange={({ currentTarget: { value } }) =>
              reread(withOption(read, "sheet", value === "" ? undefined : value))
            }
          />
        </label>
      ) : (
        <label>
          Encoding of the file
          <select
            value={read.encoding ?? ""}
            onChange={({ currentTarget: { value } }) =>
              reread(withOption(read, "encoding", value === "" ? undefined : value))
            }
          >
            {ENCODINGS.map(([encoding, name]) => (
              <option key={encoding} value={encoding}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="inline">
        <input
          type="checkbox"
          checked={settings.skipBad === true}
          onChange={({ currentTarget: { checked } }) => setSettings({ ...settings, skipBad: checked })}
        />{" "}
        Leave bad rows out
      </label>
      <label class="inline">
        <input
          type="checkbox"
          checked={settings.keepChanges === true}
          onChange={({ currentTarget: { checked } }) => setSettings({ ...settings, keepChanges: checked })}
        />{" "}
        Keep what people have changed here
      </label>
    </div>
  )
}
