/** One member: the roles, what they come to in words, and the tokens that act for the person. */
import { explainAll, person, type PersonWithTokens, policy, resume, revoke, suspend, type Token } from "./api.ts"
import { Untold, Verdict } from "./Explanation.tsx"
import { Badge, Command, Confirmed, Day, Moment, Roles, Said, Table, Title, usePage, When } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { to } from "./place.ts"
import { said, useLoaded } from "./state.ts"

export const PersonPage = ({ id }: { readonly id: string }) => {
  const { again, loaded } = useLoaded(() => person(id), [id])
  usePage(loaded.is === "ready" ? nameOf(loaded.value) : "Person")
  return (
    <>
      <p class="path">
        <a href={to(["people"])}>People</a>
      </p>
      <When loaded={loaded} again={again}>
        {(found) => <Found person={found} again={again} />}
      </When>
    </>
  )
}

const Found = ({ again, person: one }: { readonly person: PersonWithTokens; readonly again: () => void }) => {
  const name = nameOf(one)
  const isActive = one.state === "active"
  return (
    <>
      <div class="heading">
        <Title>
          <Said>{name}</Said>
        </Title>
        <Standing person={one} again={again} />
      </div>
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            {isActive ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Suspended</Badge>}{" "}
            {one.suspendedSince === undefined ? null : (
              <>
                since <Moment at={one.suspendedSince} />
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Roles</dt>
          <dd>
            <Roles roles={one.roles} />
          </dd>
        </div>
        <div>
          <dt>Known by</dt>
          <dd>
            {one.identifiers.length === 0 ? <span class="soft">nothing: nobody can come in as this person</span> : null}
            {one.identifiers.map(({ kind, text }) => (
              <div key={kind + text}>
                <Said>{text}</Said> {kind === "subject" ? <span class="soft">(identity provider)</span> : null}
              </div>
            ))}
          </dd>
        </div>
        {Object.keys(one.attributes).length === 0 ? null : (
          <div>
            <dt>Attributes</dt>
            <dd>
              {Object.entries(one.attributes).map(([attribute, value]) => (
                <div key={attribute}>
                  {attribute}: <Said>{String(value)}</Said>
                </div>
              ))}
            </dd>
          </div>
        )}
        <div>
          <dt>Member since</dt>
          <dd>
            <Day at={one.memberSince} />
          </dd>
        </div>
        <div>
          <dt>Last call</dt>
          <dd>{one.lastCall === undefined ? <span class="soft">not known</span> : <Moment at={one.lastCall} />}</dd>
        </div>
      </dl>
      <Sees person={one} />
      <Tokens person={one} again={again} />
      <p class="after">
        <a href={to(["audit"], { about: one.id })}>
          What was done by and to <Said>{name}</Said>
        </a>
      </p>
      <Command
        text={`max member add ${one.identifiers.find(({ kind }) => kind !== "subject")?.text ?? "EMAIL"} --role ROLE`}
      >
        Roles are changed with a command; all of them are named anew:
      </Command>
    </>
  )
}

const Standing = ({ again, person: one }: { readonly person: PersonWithTokens; readonly again: () => void }) => {
  const name = nameOf(one)
  if (one.isSelf) return <p class="soft fine self">This is you: somebody else would have to suspend you.</p>
  return one.state === "active" ? (
    <Confirmed
      danger
      label="Suspend"
      confirm="Suspend"
      title={`Suspend ${name}?`}
      act={() => suspend(one.id)}
      done={() => {
        said.value = `${name} is suspended.`
        again()
      }}
    >
      <p>
        The very next request of <Said>{name}</Said> is refused, in every channel, and so are the tokens that act for
        them. Nothing is deleted: you can let them in again, with the same roles.
      </p>
    </Confirmed>
  ) : (
    <Confirmed
      label="Let in again"
      confirm="Let in again"
      title={`Let ${name} in again?`}
      act={() => resume(one.id)}
      done={() => {
        said.value = `${name} may come in again.`
        again()
      }}
    >
      <p>
        <Said>{name}</Said> may come in again as {one.roles.join(", ") || "nobody in particular"}, and tokens that
        haven't ended act for them again.
      </p>
    </Confirmed>
  )
}

const Sees = ({ person: one }: { readonly person: PersonWithTokens }) => {
  const rules = useLoaded(policy, []).loaded
  const { again, loaded } = useLoaded(
    () => (one.state === "active" ? explainAll({ id: one.id }) : Promise.resolve([])),
    [one.id, one.state]
  )
  const roles = rules.is === "ready" ? rules.value.roles.filter(({ role }) => one.roles.includes(role)) : []
  return (
    <section aria-labelledby="sees">
      <h2 id="sees">What they see</h2>
      {one.state === "suspended" ? <p class="empty">Nothing at all, for as long as they are suspended.</p> : null}
      <When loaded={loaded} again={again}>
        {(explanations) => (
          <div class="verdicts">
            {explanations.map((found) =>
              "refused" in found ? (
                <Untold key={found.type} {...found} />
              ) : (
                <Verdict key={found.type} explanation={found} about={one.id} />
              )
            )}
          </div>
        )}
      </When>
      {roles.some(({ administers }) => administers) ? (
        <p class="notice">May administer: see these pages, suspend others and end tokens.</p>
      ) : null}
    </section>
  )
}

const TOKENS = [
  { name: "Token" },
  { name: "For" },
  { name: "Made" },
  { name: "Until" },
  { name: "State" },
  { name: "Action" }
]

const Tokens = ({ again, person: one }: { readonly person: PersonWithTokens; readonly again: () => void }) => (
  <section aria-labelledby="tokens">
    <h2 id="tokens">Tokens</h2>
    {one.held.length === 0 ? (
      <p class="empty">No program acts for this person.</p>
    ) : (
      <Table
        caption="Tokens"
        headings={TOKENS}
        rows={one.held.map((token) => ({
          key: token.id,
          cells: [
            <Said>{token.name}</Said>,
            token.scopes.join(", "),
            <Day at={token.createdAt} />,
            <Day at={token.expiresAt} />,
            <TokenState token={token} />,
            token.state === "active" ? <Revoke token={token} again={again} /> : <span class="soft">–</span>
          ]
        }))}
      />
    )}
  </section>
)

const TokenState = ({ token: { state } }: { readonly token: Token }) =>
  state === "active" ? <Badge kind="good">In force</Badge> : <Badge>{state === "revoked" ? "Revoked" : "Over"}</Badge>

const Revoke = ({ again, token }: { readonly token: Token; readonly again: () => void }) => (
  <Confirmed
    danger
    label="Revoke"
    confirm="Revoke"
    title={`Revoke “${token.name}”?`}
    act={() => revoke(token.id)}
    done={() => {
      said.value = "The token is revoked."
      again()
    }}
  >
    <p>
      Whatever uses this token is refused from its next request on. A revoked token never comes back; a new one can be
      made.
    </p>
  </Confirmed>
)
