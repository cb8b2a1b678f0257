/** One member: roles, what the person sees in plain words, and tokens. */
import type { PersonWithTokens, Token } from "../../wire/admin/people.ts"
import { explainAll, person, policy, resume, revoke, suspend } from "./api.ts"
import { Unexplained, Verdict } from "./Explanation.tsx"
import {
  Badge,
  Command,
  ConfirmButton,
  Day,
  Fact,
  Isolated,
  Moment,
  Roles,
  Title,
  useTitle,
  WhenLoaded
} from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { to } from "./place.ts"
import { useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

export const PersonPage = ({ id }: { readonly id: string }) => {
  const { loaded, reload } = useLoaded(() => person(id), [id])
  useTitle(loaded.is === "ready" ? nameOf(loaded.value) : "Person")
  return (
    <>
      <p class="path">
        <a href={to(["people"])}>People</a>
      </p>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(member) => <Member person={member} reload={reload} />}
      </WhenLoaded>
    </>
  )
}

const Member = ({ person: one, reload }: { readonly person: PersonWithTokens; readonly reload: () => void }) => {
  const name = nameOf(one)
  const isActive = one.state === "active"
  return (
    <>
      <div class="heading">
        <Title>
          <Isolated>{name}</Isolated>
        </Title>
        <AccessButton person={one} reload={reload} />
      </div>
      <dl class="facts">
        <Fact name="State">
          {isActive ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Suspended</Badge>}{" "}
          {one.suspendedSince === undefined ? null : (
            <>
              since <Moment at={one.suspendedSince} />
            </>
          )}
        </Fact>
        <Fact name="Roles">
          <Roles roles={one.roles} />
        </Fact>
        <Fact name="Identified by">
          {one.identifiers.length === 0 ? <span class="soft">nothing: this person has no way to sign in</span> : null}
          {one.identifiers.map(({ kind, text }) => (
            <div key={kind + text}>
              <Isolated>{text}</Isolated> {kind === "subject" ? <span class="soft">(identity provider)</span> : null}
            </div>
          ))}
        </Fact>
        {Object.keys(one.attributes).length === 0 ? null : (
          <Fact name="Attributes">
            {Object.entries(one.attributes).map(([attribute, value]) => (
              <div key={attribute}>
                {attribute}: <Isolated>{String(value)}</Isolated>
              </div>
            ))}
          </Fact>
        )}
        <Fact name="Member since">
          <Day at={one.memberSince} />
        </Fact>
        <Fact name="Last call">
          {one.lastCall === undefined ? <span class="soft">unknown</span> : <Moment at={one.lastCall} />}
        </Fact>
      </dl>
      <Sees person={one} />
      <Tokens person={one} reload={reload} />
      <p class="after">
        <a href={to(["audit"], { about: one.id })}>
          Audit records about <Isolated>{name}</Isolated>
        </a>
      </p>
      <Command
        text={`max member add ${one.identifiers.find(({ kind }) => kind !== "subject")?.text ?? "EMAIL"} --role ROLE`}
      >
        Roles are changed with a command, which replaces all roles of the person:
      </Command>
    </>
  )
}

const AccessButton = ({ person: one, reload }: { readonly person: PersonWithTokens; readonly reload: () => void }) => {
  const name = nameOf(one)
  if (one.isSelf) return <p class="soft fine self">This is you: only another administrator can suspend you.</p>
  return one.state === "active" ? (
    <ConfirmButton
      danger
      label="Suspend"
      confirm="Suspend"
      title={`Suspend ${name}?`}
      act={() => suspend(one.id)}
      done={`${name} is suspended.`}
      reload={reload}
    >
      <p>
        From now on every request of <Isolated>{name}</Isolated> and of their tokens is refused, in every channel.
        Nothing is deleted: you can restore access with the same roles.
      </p>
    </ConfirmButton>
  ) : (
    <ConfirmButton
      label="Restore access"
      confirm="Restore access"
      title={`Restore access for ${name}?`}
      act={() => resume(one.id)}
      done={`${name} has access again.`}
      reload={reload}
    >
      <p>
        <Isolated>{name}</Isolated> gets access again,{" "}
        {one.roles.length === 0 ? "without a role" : `as ${one.roles.join(", ")}`}. Tokens that haven't expired work
        again.
      </p>
    </ConfirmButton>
  )
}

const Sees = ({ person: one }: { readonly person: PersonWithTokens }) => {
  const rules = useLoaded(policy, []).loaded
  const { loaded, reload } = useLoaded(
    () => (one.state === "active" ? explainAll({ id: one.id }) : Promise.resolve([])),
    [one.id, one.state]
  )
  const roles = rules.is === "ready" ? rules.value.roles.filter(({ role }) => one.roles.includes(role)) : []
  return (
    <section aria-labelledby="sees">
      <h2 id="sees">What they see</h2>
      {one.state === "suspended" ? <p class="empty">Nothing, while they are suspended.</p> : null}
      <WhenLoaded loaded={loaded} reload={reload}>
        {(explanations) => (
          <div class="verdicts">
            {explanations.map((explanation) =>
              "refused" in explanation ? (
                <Unexplained key={explanation.type} {...explanation} />
              ) : (
                <Verdict key={explanation.type} explanation={explanation} about={one.id} />
              )
            )}
          </div>
        )}
      </WhenLoaded>
      {roles.some(({ administers }) => administers) ? (
        <p class="notice">Administrator: may use these pages, suspend other people and revoke tokens.</p>
      ) : null}
    </section>
  )
}

const TOKENS = ["Token", "Scopes", "Created", "Expires", "State", "Action"]

const Tokens = ({ person: one, reload }: { readonly person: PersonWithTokens; readonly reload: () => void }) => (
  <section aria-labelledby="tokens">
    <h2 id="tokens">Tokens</h2>
    {one.held.length === 0 ? (
      <p class="empty">This person has no tokens.</p>
    ) : (
      <Table
        caption="Tokens"
        headings={TOKENS}
        rows={one.held.map((token) => ({
          key: token.id,
          cells: [
            <Isolated>{token.name}</Isolated>,
            token.scopes.join(", "),
            <Day at={token.createdAt} />,
            <Day at={token.expiresAt} />,
            <TokenState token={token} />,
            token.state === "active" ? <Revoke token={token} reload={reload} /> : <span class="soft">–</span>
          ]
        }))}
      />
    )}
  </section>
)

const TokenState = ({ token: { state } }: { readonly token: Token }) =>
  state === "active" ? <Badge kind="good">Active</Badge> : <Badge>{state === "revoked" ? "Revoked" : "Expired"}</Badge>

const Revoke = ({ reload, token }: { readonly token: Token; readonly reload: () => void }) => (
  <ConfirmButton
    danger
    label="Revoke"
    confirm="Revoke"
    title={`Revoke “${token.name}”?`}
    act={() => revoke(token.id)}
    done="The token is revoked."
    reload={reload}
  >
    <p>
      Programs that use this token are refused from their next request on. This can't be undone; a new token can be
      created.
    </p>
  </ConfirmButton>
)
