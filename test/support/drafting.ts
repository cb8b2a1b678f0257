/** A stage whose scripted model drafts changes: each through the service, opened with its turn, as an answer's drafts are. */
import { Effect } from "effect"
import type { Page } from "playwright-core"
import demo from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import { Database } from "../../src/database/Database.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { Changes, type Proposal } from "../../src/services/changes/Changes.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { says } from "./messages.ts"
import type { Stage } from "./stage.ts"

const VIA = { channel: "http" }

export type Steps = Proposal["steps"]

/** Publishes the demo's policy with a confirmation of its own. */
export const confirming = (stage: Stage, confirm: ReadonlyArray<object>) =>
  stage.run(
    Effect.flatMap(Policies, (policies) =>
      policies.publish(
        stage.organization,
        JSON.stringify({ ...demo, roles: { ...demo.roles, guest: { inherits: [] } }, confirm }),
        "test"
      )
    )
  )

const principalOf = (stage: Stage, email: string) =>
  Effect.map(
    Effect.flatMap(IdentityResolver, (identities) =>
      identities.admit(stage.organization, { kind: "email", key: email })
    ),
    ({ principal }) => principal
  )

/** The ids of entities that a person sees, by name. */
export const idsOf = (stage: Stage, email: string, type: string, ...names: ReadonlyArray<string>) =>
  stage.run(
    Effect.gen(function* () {
      const queries = yield* EntityQueryService
      const principal = yield* principalOf(stage, email)
      const ids: Array<string> = []
      for (const value of names) {
        const { entities } = yield* queries
          .findEntities({
            organizationId: stage.organization.id,
            entityTypeId: type,
            filters: [{ columnId: "name", op: "eq", value }],
            limit: 1
          })
          .pipe(Effect.provideService(CurrentPrincipal, principal))
        ids.push(entities[0]!.entityId)
      }
      return ids
    })
  )

/** Proposes a change outside of conversations, as a program does; returns its id. */
export const proposes = (stage: Stage, email: string, steps: Steps): Promise<string> =>
  stage.run(
    Effect.gen(function* () {
      const changes = yield* Changes
      const principal = yield* principalOf(stage, email)
      const { changeId } = yield* changes
        .propose({ steps, via: VIA })
        .pipe(Effect.provideService(CurrentPrincipal, principal))
      return changeId
    })
  )

/** Drafts a change in a conversation's next turn. */
export const draftIn = (stage: Stage, email: string, steps: Steps, sessionId: string, position: number) =>
  stage.run(
    Effect.gen(function* () {
      const changes = yield* Changes
      const { changes: sql } = yield* Database
      const principal = yield* principalOf(stage, email)
      const { changeId } = yield* changes
        .propose({ steps, via: VIA, drafted: true, sessionId })
        .pipe(Effect.provideService(CurrentPrincipal, principal))
      yield* sql.withTransaction(changes.opening(principal, VIA, [changeId])(sql, { sessionId, position }))
      return changeId
    })
  )

const ask = async (page: Page, text: string) => {
  const turns = await page.locator(".turn").count()
  await page.locator(".composer textarea").fill(text)
  await page.keyboard.press("Enter")
  await page.locator(".turn[aria-busy=false]").nth(turns).waitFor()
}

/** Asks on the page for something that the scripted model drafts; returns the id of the change, whose card is shown. */
export const asksFor = async (
  {
    page,
    stage,
    steps,
    text = "Please change that",
    who
  }: {
    readonly stage: Stage
    readonly page: Page
    readonly who: string
    readonly steps: Steps
    readonly text?: string
  },
  /** Runs when the draft is open, before the page shows it. */
  then: (changeId: string) => Promise<unknown> = () => Promise.resolve()
): Promise<string> => {
  stage.messages.reset(() => says("Hello."))
  if (!page.url().includes("#c/")) await ask(page, "Hello?")
  await page.waitForURL(/#c\//)
  const [, session = ""] = page.url().split("#c/")
  const position = (await page.locator(".turn").count()) + 1
  let changeId: string | undefined
  stage.messages.reset(async () => {
    changeId ??= await draftIn(stage, who, steps, session, position)
    await then(changeId)
    return says("It waits for you below.")
  })
  await ask(page, text)
  await page.locator(".turn").last().locator(".draft").waitFor()
  return changeId!
}

/** Runs SQL as the owner of the database. */
export const asOwner = (stage: Stage, text: string, ...parameters: ReadonlyArray<unknown>) =>
  stage.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<Record<string, unknown>>(text, [...parameters])))

/** A cell of a person, by the e-mail address. */
export const statusOf = async (stage: Stage, name: string): Promise<unknown> => {
  const [row] = await asOwner(
    stage,
    "SELECT status FROM data.people WHERE organization_id = $1::bigint AND name = $2::text",
    stage.organization.id,
    name
  )
  return row?.["status"]
}
