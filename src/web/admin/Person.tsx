/** One member: roles, what the person sees in plain words, and tokens. */
import type { PersonWithTokens, Token } from "../../wire/admin/people.ts"
import { useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { explainAll, offerSignIn, person, policy, resume, revoke, setRoles, signOut, suspend } from "./api.ts"
import { AttributesButton } from "./Attributes.tsx"
import { Identifiers } from "./Identifiers.tsx"
import { OneLink, RoleChoice } from "./Invite.tsx"
import { NewTokenButton } from "./NewToken.tsx"
import { Unexplained, Verdict } from "./Explanation.tsx"
import {
  Badge,
  ConfirmButton,
  Day,
  Dialog,
  Fact,
  Failure,
  Isolated,
  Moment,
  Roles,
  Title,
  useTitle,
  WhenLoaded
} from "./parts.tsx"
import { nameOf, StateBadge } from "./People.tsx"
import { to } from "./place.ts"
import { announcement, handleFailure, may, useLoaded } from "./state.ts"
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
        <div class="acts">
          {may("members") && isActive && !one.isSelf ? <SignInButton person={one} /> : null}
          {may("members") && isActive ? <SignOutButton person={one} reload={reload} /> : null}
          <AccessButton person={one} reload={reload} />
        </div>
      </div>
      <dl class="facts">
        <Fact name="State">
          <StateBadge person={one} />
          {one.state === "invited" ? (
            <span class="soft"> They see nothing until they use their link. Invite them again for a new one.</span>
          ) : null}
        </Fact>
        <Fact name="Roles">
          <Roles roles={one.roles} /> {may("members") ? <RolesButton person={one} reload={reload} /> : null}
        </Fact>
        <Fact name="Identified by">
          <Identifiers person={one} reload={reload} />
        </Fact>
        {Object.keys(one.attributes).length === 0 && !may("members") ? null : (
          <Fact name="Attributes">
            {Object.entries(one.attributes).map(([attribute, value]) => (
              <div key={attribute}>
                {attribute}: <Isolated>{String(value)}</Isolated>
              </div>
            ))}
            {may("members") ? (
              <AttributesButton key={JSON.stringify(one.attributes)} person={one} reload={reload} />
            ) : null}
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
    </>
  )
}

/** Replaces the roles; what each role sees is shown beside it. */
const RolesButton = ({ person: one, reload }: { readonly person: PersonWithTokens; readonly reload: () => void }) => {
  const { loaded } = useLoaded(policy, [])
  const [chosen, choose] = useState(one.roles)
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem }>({ busy: false })
  if (loaded.is !== "ready") return null
  const submit = (event: Event, close: () => void) => {
    event.preventDefault()
    set({ busy: true })
    setRoles(one.id, chosen).then(
      () => {
        set({ busy: false })
        close()
        announcement.value = "The roles are changed."
        reload()
      },
      (error: unknown) => set({ busy: false, problem: handleFailure(error) })
    )
  }
  const isSame = chosen.length === one.roles.length && chosen.every((role) => one.roles.includes(role))
  return (
    <Dialog label="Change roles" title={`Roles of ${nameOf(one)}`} onClose={() => choose(one.roles)}>
      {(close) => (
        <form class="stacked" onSubmit={(event) => submit(event, close)}>
          <RoleChoice roles={loaded.value.roles} chosen={chosen} choose={choose} />
          {one.isSelf ? <p class="notice">These are your own roles: you can lose your access to this page.</p> : null}
          {state.problem === undefined ? null : <Failure problem={state.problem} />}
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" class="act" disabled={state.busy || isSame || chosen.length === 0}>
              Change roles
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** Offers a link that signs this person in. */
const SignInButton = ({ person: one }: { readonly person: PersonWithTokens }) => {
  const name = nameOf(one)
  const [state, set] = useState<{ readonly code?: string; readonly problem?: Problem }>({})
  const create = () =>
    offerSignIn(one.id).then(
      ({ code }) => set({ code }),
      (error: unknown) => set({ problem: handleFailure(error) })
    )
  return (
    <Dialog label="Sign-in link" title={`Sign-in link for ${name}`} onClose={() => set({})}>
      {(close) => (
        <>
          <p>
            The link signs in as <Isolated>{name}</Isolated>, once, within 15 minutes. Give it to this person only: that
            you created it is recorded.
          </p>
          {state.code === undefined ? null : <OneLink code={state.code} of={name} />}
          {state.problem === undefined ? null : <Failure problem={state.problem} />}
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              Close
            </button>
            {state.code === undefined ? (
              <button type="button" class="act" onClick={() => void create()}>
                Create the link
              </button>
            ) : null}
          </div>
        </>
      )}
    </Dialog>
  )
}

const SignOutButton = ({ person: one, reload }: { readonly person: PersonWithTokens; readonly reload: () => void }) => {
  const name = nameOf(one)
  return (
    <ConfirmButton
      label="Sign out"
      confirm="Sign out"
      title={`Sign ${name} out everywhere?`}
      act={() => signOut(one.id)}
      done={`${name} is signed out.`}
      reload={reload}
    >
      <p>
        Every browser in which <Isolated>{name}</Isolated> is signed in is refused from its next request on
        {one.isSelf ? ", this one included" : ""}, and sign-in links that are unused end. Tokens, passkeys and roles
        stay: the person can sign in again.
      </p>
    </ConfirmButton>
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
      {one.state === "active" ? null : (
        <p class="empty">
          {one.state === "invited" ? "Nothing, until they use their link." : "Nothing, while they are suspended."}
        </p>
      )}
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
    {may("members") && one.state === "active" ? <NewTokenButton person={one} reload={reload} /> : null}
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
