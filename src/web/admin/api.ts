/** The requests of the administration page. */
import type { AuditPage, Chain, Verifications } from "../../wire/admin/audit.ts"
import type { ChangeLog } from "../../wire/admin/changes.ts"
import type {
  AddNumber,
  LineTests,
  ModelConnection,
  PhoneLine,
  SetLine,
  SetModel,
  SetModelKey,
  TestLine
} from "../../wire/admin/connections.ts"
import type { ImportRuns } from "../../wire/admin/import.ts"
import type { Mapped, OrganizationShown, SetOrganization } from "../../wire/admin/organization.ts"
import type {
  CreateToken,
  Invitations,
  Invite,
  LinkIdentifier,
  NewToken,
  PersonReference,
  People,
  PeopleQuery,
  PersonWithTokens,
  RemoveIdentifier,
  SetAttributes,
  SetRoles,
  SignInLink
} from "../../wire/admin/people.ts"
import type {
  Policy,
  PolicyChanges,
  PolicyVersions,
  RowExplanation,
  RowQuestion,
  TypeExplanations,
  TypeQuestion,
  Types
} from "../../wire/admin/policy.ts"
import type {
  PolicyCheck,
  PolicyDocument,
  PolicyProposal,
  PolicyProposals,
  PolicySimulation,
  ProposedPolicy,
  PublishedPolicy,
  PublishPolicy,
  SimulatePolicy
} from "../../wire/admin/policyEditor.ts"
import type { AskGrid, GridEdit, PolicyGrid } from "../../wire/admin/policyGrid.ts"
import type {
  AddProvider,
  Providers,
  RemoveProvider,
  SetProviderSecret,
  TriedToken,
  TryToken
} from "../../wire/admin/providers.ts"
import type { TextLog } from "../../wire/admin/texts.ts"
import type { Health } from "../../wire/admin/health.ts"
import type { KeepQuestions, UnclearQuestions, Usage } from "../../wire/admin/usage.ts"
import type { Preview } from "../../wire/changes.ts"
import type { ProblemSlug } from "../../wire/problems.ts"
import type { Session } from "../../wire/session.ts"
import { get, Problem, request } from "../shared/api.ts"

const post = async <A>(path: string, body: unknown): Promise<A> =>
  (await request("POST", `/v1/admin/${path}`, body)).json() as Promise<A>

const send = async (method: string, path: string): Promise<void> => void (await request(method, `/v1/admin/${path}`))

/** A request whose answer has no body. */
const act = async (path: string, body: unknown): Promise<void> =>
  void (await request("POST", `/v1/admin/${path}`, body))

export const session = () => get<Session>("/v1/session")

export const people = (query: PeopleQuery) => post<People>("people/search", query)
export const person = (id: string) => get<PersonWithTokens>(`/v1/admin/people/${encodeURIComponent(id)}`)
export const suspend = (id: string) => send("POST", `people/${encodeURIComponent(id)}/suspend`)
export const resume = (id: string) => send("POST", `people/${encodeURIComponent(id)}/resume`)
export const invite = async (invited: Invite) => (await post<Invitations>("people/invite", invited)).invitations
export const offerSignIn = async (id: string): Promise<SignInLink> =>
  (await request("POST", `/v1/admin/people/${encodeURIComponent(id)}/sign-in`)).json() as Promise<SignInLink>
export const signOut = (id: string) => send("POST", `people/${encodeURIComponent(id)}/sign-out`)
export const linkIdentifier = (id: string, named: LinkIdentifier) =>
  act(`people/${encodeURIComponent(id)}/identifiers`, named)
export const removeIdentifier = (id: string, shown: RemoveIdentifier) =>
  act(`people/${encodeURIComponent(id)}/identifiers/remove`, shown)
export const setRoles = async (id: string, roles: ReadonlyArray<string>): Promise<void> =>
  void (await request("POST", `/v1/admin/people/${encodeURIComponent(id)}/roles`, { roles } satisfies SetRoles))
export const setAttributes = (id: string, attributes: SetAttributes["attributes"]) =>
  act(`people/${encodeURIComponent(id)}/attributes`, { attributes } satisfies SetAttributes)
export const createToken = (id: string, token: CreateToken) =>
  post<NewToken>(`people/${encodeURIComponent(id)}/tokens`, token)
export const revoke = (id: string) => send("DELETE", `tokens/${encodeURIComponent(id)}`)

export const policy = () => get<Policy>("/v1/admin/policy")
export const versions = async () => (await get<PolicyVersions>("/v1/admin/policy/versions")).versions
export const changes = async (from: number, to: number) =>
  (await get<PolicyChanges>(`/v1/admin/policy/changes/${from}/${to}`)).changes
export const policyDocument = (version?: number) =>
  get<PolicyDocument>(`/v1/admin/policy/document${version === undefined ? "" : `/${version}`}`)
export const checkPolicy = (document: string) => post<PolicyCheck>("policy/check", { document })
export const policyGrid = (document: string, type: string | undefined, edit: GridEdit | undefined) =>
  post<PolicyGrid>("policy/grid", {
    document,
    ...(type === undefined ? {} : { type }),
    ...(edit === undefined ? {} : { edit })
  } satisfies AskGrid)
export const simulatePolicy = (document: string, person?: PersonReference) =>
  post<PolicySimulation>("policy/simulation", { document, ...person } satisfies SimulatePolicy)
export const publishPolicy = async (document: string, replacing: number) =>
  (await post<PublishedPolicy>("policy/publish", { document, replacing } satisfies PublishPolicy)).version
export const proposePolicy = async (document: string, replacing: number) =>
  (await post<ProposedPolicy>("policy/proposals", { document, replacing } satisfies PublishPolicy)).changeId
export const policyProposals = async () => (await get<PolicyProposals>("/v1/admin/policy/proposals")).proposals
export const policyProposal = (id: string) =>
  get<PolicyProposal>(`/v1/admin/policy/proposals/${encodeURIComponent(id)}`)
/** The administrator's decision on a change. */
export const decideOn = async (
  { changeId, digest }: Preview,
  decision: "confirm" | "reject" | "withdraw"
): Promise<void> =>
  void (await request(
    "POST",
    `/v1/changes/${encodeURIComponent(changeId)}/${decision}`,
    decision === "confirm" ? { digest } : undefined
  ))
export const types = async () => (await get<Types>("/v1/admin/types")).types

const explanations = async (question: TypeQuestion) => (await post<TypeExplanations>("explain", question)).explanations

/** The explanation of one type; a type that isn't explained is a `Problem`. */
export const explain = async (about: PersonReference, type: string) => {
  const [explanation] = await explanations({ ...about, type })
  if (explanation === undefined || "refused" in explanation)
    throw new Problem("not-possible", 409, explanation?.refused ?? "This type can't be explained.")
  return explanation
}
export const explainAll = (about: PersonReference) => explanations(about)
export const explainRow = (about: PersonReference, type: string, row: string) =>
  post<RowExplanation>("explain/row", { ...about, type, row } satisfies RowQuestion)

/** An empty text means no restriction. */
export interface AuditFilter {
  readonly chain: Chain
  readonly action: string
  readonly who: string
  readonly since: string
}

export const audit = ({ chain, ...filter }: AuditFilter, before?: number) => {
  const query = new URLSearchParams({ chain })
  for (const [name, value] of Object.entries(filter)) if (value !== "") query.set(name, value)
  if (before !== undefined) query.set("before", String(before))
  return get<AuditPage>(`/v1/admin/audit?${query}`)
}
export const verify = async () => (await get<Verifications>("/v1/admin/audit/verification")).chains

export const importRuns = (before?: number) =>
  get<ImportRuns>(
    `/v1/admin/import/runs${before === undefined ? "" : `?${new URLSearchParams({ before: String(before) })}`}`
  )

export const changeLog = (before?: string) =>
  get<ChangeLog>(`/v1/admin/changes${before === undefined ? "" : `?${new URLSearchParams({ before })}`}`)

export const texts = (before?: string) =>
  get<TextLog>(`/v1/admin/texts${before === undefined ? "" : `?${new URLSearchParams({ before })}`}`)

export const usage = (days: number) => get<Usage>(`/v1/admin/usage?${new URLSearchParams({ days: String(days) })}`)

export const unclearQuestions = () => get<UnclearQuestions>("/v1/admin/usage/questions")
export const keepQuestions = (kept: boolean) => act("usage/questions", { kept } satisfies KeepQuestions)

export const model = () => get<ModelConnection>("/v1/admin/model")
export const setModel = (change: SetModel) => act("model", change)
export const setModelKey = (key: SetModelKey) => act("model/key", key)
export const removeModelKey = () => send("DELETE", "model/key")

export const line = () => get<PhoneLine>("/v1/admin/line")
export const setLine = (change: SetLine) => act("line", change)
export const addNumber = (number: AddNumber) => act("line/numbers", number)
export const removeNumber = (phone: string) => act("line/numbers/remove", { phone })

export const lineTests = () => get<LineTests>("/v1/admin/line/tests")
export const testLine = (line: string) => act("line/tests", { line } satisfies TestLine)

export const providers = () => get<Providers>("/v1/admin/providers")
export const tryToken = (tried: TryToken) => post<TriedToken>("providers/try", tried)
export const tryNewProvider = (provider: AddProvider) => post<TriedToken>("providers/trial", provider)
export const addProvider = (provider: AddProvider) => act("providers", provider)
export const setProviderSecret = (change: SetProviderSecret) => act("providers/secret", change)
export const removeProvider = (provider: RemoveProvider) => act("providers/remove", provider)

export const organization = () => get<OrganizationShown>("/v1/admin/organization")
export const setOrganization = (change: SetOrganization) => act("organization", change)
export const mapped = () => get<Mapped>("/v1/admin/mapped")

export const backUp = () => send("POST", "backup")
export const health = () => get<Health>("/v1/admin/health")

const ENDS_SESSION: ReadonlySet<string> = new Set<ProblemSlug>(["not-authenticated", "not-admitted", "not-in-scope"])

/** Whether a failure means that this person has lost access to the page. */
export const endsSession = ({ name }: Problem): boolean => ENDS_SESSION.has(name)
