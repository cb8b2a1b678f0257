/** Prepares a turn: context, focus, history and grounding. */
import { Effect } from "effect"
import type { Basis } from "../domain/Basis.ts"
import { type Organization, PEOPLE } from "../domain/EntityType.ts"
import type { Entity, Page } from "../domain/Page.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import { timeOfDay, today } from "../domain/today.ts"
import { EntityQueryService } from "../services/EntityQueryService.ts"
import type { TypeOverview } from "../services/lookup/listed.ts"
import type { OpenSession } from "../services/conversations/Sessions.ts"
import type { Reference, Said } from "../services/conversations/storeTurns.ts"
import { contextName, contextTypes, type FocusEntity, type TurnContext } from "./turnContext.ts"
import { Grounding } from "./guards/Grounding.ts"
import type { Provenance } from "./guards/Provenance.ts"
import type { Message } from "./ModelStep.ts"
import { Sightings } from "./Sightings.ts"
import type { TurnWork } from "./TurnWork.ts"

/** The most entities in focus, which "the second one" can refer to. */
export const MAX_FOCUS = 8

interface Prepared {
  readonly messages: ReadonlyArray<Message>
  readonly grounding: Grounding
  readonly sightings: Sightings
  readonly plurals: ReadonlyMap<string, string>
  /** The types that the person may look up. */
  readonly overview: ReadonlyArray<TypeOverview>
}

/** An entity as the person may see it now; undefined if they may not see it. */
const lookup = Effect.fnUntraced(function* (organizationId: bigint, { id, type }: Reference) {
  const queries = yield* EntityQueryService
  const page = yield* queries
    .findEntities({
      organizationId,
      entityTypeId: type,
      filters: [{ columnId: "id", op: "eq", value: id }],
      limit: 1
    })
    .pipe(Effect.catchTags({ UnknownName: () => Effect.undefined, InvalidInput: () => Effect.undefined }))
  const entity = page?.entities[0]
  return page === undefined || entity === undefined ? undefined : { type, page, entity }
})

interface Found {
  readonly type: string
  readonly page: Page
  readonly entity: Entity
}

/** Prepares a turn for the current principal. */
export const prepare = Effect.fnUntraced(function* (
  organization: Organization,
  principal: Principal,
  session: OpenSession,
  basis: Basis,
  text: string,
  work: TurnWork,
  provenance: Provenance,
  changing: Pick<TurnContext, "can" | "drafts"> = {},
  isBasic = false
) {
  const queries = yield* EntityQueryService
  const as = Effect.provideService(CurrentPrincipal, principal)
  const overview = yield* as(queries.overview({ organizationId: organization.id }))
  // Skip types that the person may not see: a refused lookup would be recorded as a denial.
  const visible = (one: Reference) =>
    overview.some(({ id }) => id === one.type) ? lookup(organization.id, one) : Effect.undefined
  const [person, focus, history] = yield* Effect.all(
    [
      principal.anchorEntityId === "" ? Effect.undefined : visible({ type: PEOPLE, id: principal.anchorEntityId }),
      Effect.forEach(session.focus.slice(0, MAX_FOCUS), visible, { concurrency: "unbounded" }),
      session.turnsOf(basis)
    ],
    { concurrency: "unbounded" }
  ).pipe(as)
  const present = focus.filter((found) => found !== undefined)
  const context = { ...makeContext(organization, overview, person?.entity, present, isBasic), ...changing }
  const grounding = yield* work.part(() => groundingOf(organization, context, overview, present, recent(history), text))
  yield* work.part(() => {
    provenance.setTypes(new Map(overview.map(({ id, name, pluralName }) => [id, [id, name, pluralName]])))
    for (const said of recent(history)) provenance.addSaid(said.asked)
    for (const { page } of present) provenance.addFocus(page)
  })
  const prepared: Prepared = {
    messages: toMessages(JSON.stringify(context), recent(history), text),
    grounding,
    sightings: sightingsOf(present),
    plurals: new Map(overview.map(({ id, pluralName }) => [id, pluralName])),
    overview
  }
  return prepared
})

const makeContext = (
  organization: Organization,
  overview: ReadonlyArray<TypeOverview>,
  person: Entity | undefined,
  focus: ReadonlyArray<Found>,
  isBasic: boolean
): TurnContext => ({
  person: person?.displayName === undefined ? {} : { name: contextName(person.displayName) },
  organization: contextName(organization.name),
  today: today(organization.timeZone),
  time: timeOfDay(organization.timeZone),
  timeZone: organization.timeZone,
  types: contextTypes(
    overview.map(({ id, identifiers, name, pluralName }) => ({
      id,
      name: contextName(name),
      plural: contextName(pluralName),
      ...(identifiers.length === 0 ? {} : { columns: identifiers })
    })),
    isBasic
  ),
  ...(focus.length === 0
    ? {}
    : {
        focus: focus.map(({ entity, type }): FocusEntity => ({
          type,
          id: entity.entityId,
          name: contextName(entity.displayName ?? "")
        }))
      })
})

/** The most characters of earlier turns in a request to the model. */
const MAX_HISTORY = 6000

/** The latest turns within the limit. */
const recent = (history: ReadonlyArray<Said>): ReadonlyArray<Said> => {
  let room = MAX_HISTORY
  return history
    .toReversed()
    .filter(({ answered, asked }) => (room -= answered.length + asked.length) >= 0)
    .toReversed()
}

const text = (value: string) => ({ _tag: "Text" as const, text: value })

const toMessages = (context: string, history: ReadonlyArray<Said>, asked: string): ReadonlyArray<Message> => {
  const turns: ReadonlyArray<Message> = [
    ...history.flatMap((said): ReadonlyArray<Message> => [
      { role: "user", parts: [text(said.asked)] },
      { role: "assistant", parts: [text(said.answered)] }
    ]),
    { role: "user", parts: [text(asked)] }
  ]
  const [first, ...others] = turns
  return [{ role: "user", parts: [text(context), ...first!.parts] }, ...others]
}

const groundingOf = (
  organization: Organization,
  context: TurnContext,
  overview: ReadonlyArray<TypeOverview>,
  focus: ReadonlyArray<Found>,
  history: ReadonlyArray<Said>,
  asked: string
): Grounding => {
  const grounding = new Grounding({ country: organization.country, today: context.today })
  grounding.addWords(organization.name)
  for (const type of overview) grounding.addWords(`${type.name} ${type.pluralName}`)
  for (const { page } of focus) grounding.addResult(page.entities)
  for (const said of history) {
    grounding.addText(said.asked).addText(said.answered)
    grounding.figures.addYears(said.asked)
  }
  return grounding.addQuestion(asked)
}

const sightingsOf = (focus: ReadonlyArray<Found>): Sightings => {
  const sightings = new Sightings()
  sightings.addFocus(focus)
  return sightings
}
