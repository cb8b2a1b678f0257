/** The organization: its name, country and time zone, and the tables of its own that Max reads where they are. */
import { useState } from "preact/hooks"
import type { OrganizationShown } from "../../wire/admin/organization.ts"
import { mapped, organization, setOrganization } from "./api.ts"
import { counted, Fact, Isolated, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { Sending, useSending } from "./sending.tsx"
import { may, useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

export const Organization = () => {
  useTitle("Organization")
  const { loaded, reload } = useLoaded(organization, [])
  return (
    <>
      <Title>Organization</Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(found) => (
          <>
            <dl class="facts">
              <Fact name="Name in commands">
                <code>{found.slug}</code>
              </Fact>
              {may("policy") ? null : (
                <>
                  <Fact name="Name">
                    <Isolated>{found.name}</Isolated>
                  </Fact>
                  <Fact name="Country">{found.country}</Fact>
                  <Fact name="Time zone">{found.timeZone}</Fact>
                </>
              )}
            </dl>
            {may("policy") ? <Settings key={JSON.stringify(found)} of={found} reload={reload} /> : null}
          </>
        )}
      </WhenLoaded>
      <MappedTables />
    </>
  )
}

const Settings = ({ of, reload }: { readonly of: OrganizationShown; readonly reload: () => void }) => {
  const [name, setName] = useState(of.name)
  const [country, setCountry] = useState(of.country)
  const [timeZone, setTimeZone] = useState(of.timeZone)
  const sending = useSending()
  const wanted = { name: name.trim(), country: country.trim().toUpperCase(), timeZone: timeZone.trim() }
  const parts = ["name", "country", "timeZone"] as const
  const changed = parts.filter((part) => wanted[part] !== of[part])
  const change = Object.fromEntries(changed.map((part) => [part, wanted[part]]))
  return (
    <form class="stacked narrow" onSubmit={sending.submit(() => setOrganization(change), "Saved.", reload)}>
      <label>
        Name
        <input required maxLength={100} value={name} onInput={({ currentTarget: { value } }) => setName(value)} />
      </label>
      <label>
        Country
        <input
          required
          minLength={2}
          maxLength={2}
          value={country}
          placeholder="US"
          onInput={({ currentTarget: { value } }) => setCountry(value)}
        />
      </label>
      <p class="soft fine">
        Phone numbers without a country code are of this country, from now on: numbers that were read before stay.
      </p>
      <label>
        Time zone
        <input
          required
          maxLength={64}
          value={timeZone}
          placeholder="America/New_York"
          onInput={({ currentTarget: { value } }) => setTimeZone(value)}
        />
      </label>
      <p class="soft fine">It decides what “today” is, in questions and in conditions of the policy.</p>
      <Sending
        sending={sending}
        label="Save"
        disabled={changed.length === 0 || parts.some((part) => wanted[part] === "")}
      />
    </form>
  )
}

const MappedTables = () => {
  const { loaded, reload } = useLoaded(mapped, [])
  return (
    <section aria-labelledby="mapped">
      <h2 id="mapped">Tables of your own</h2>
      <WhenLoaded loaded={loaded} reload={reload}>
        {({ changes, types }) =>
          types.length === 0 ? (
            <p class="empty">Max reads no tables of another program. An operator can map some (max map).</p>
          ) : (
            <>
              <Table
                caption="Mapped tables"
                headings={["Type", "Table", "Columns"]}
                rows={types.map(({ columns, id, name, table }) => ({
                  key: id,
                  cells: [<Isolated>{name}</Isolated>, <code>{table}</code>, String(columns)]
                }))}
              />
              {changes.length === 0 ? (
                <p>Nothing has changed in them since they were mapped.</p>
              ) : (
                <div class="notice warn">
                  <p>
                    {counted(changes.length, "thing")} changed since they were mapped. Ask your operator (max map diff):
                  </p>
                  <ul>
                    {changes.map((line) => (
                      <li key={line}>
                        <Isolated>{line}</Isolated>
                      </li>
                    ))}
                  </ul>
                </div>
              )}
            </>
          )
        }
      </WhenLoaded>
    </section>
  )
}
