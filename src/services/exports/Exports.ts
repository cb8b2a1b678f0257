/**
 * Exports of what a person may see, as CSV. Every page is a lookup of that person under one epoch: a change of policy,
 * memberships or catalog ends the file. The audit record that counts against the limit commits before the first row leaves.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { appendAudit } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { InvalidInput, type LookupError, TooManyCalls, type Unavailable } from "../../domain/errors.ts"
import type { Page } from "../../domain/Page.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { type FindQuery, MAX_EXPORTED } from "../../domain/Query.ts"
import { EntityQueryService, type Pages } from "../EntityQueryService.ts"
import { asksForGroups } from "../lookup/resolveGroups.ts"
import { type Csv, csvOf, groupsCsv } from "./csv.ts"

const BYTE_ORDER_MARK = "\uFEFF"

const REMARKS = {
  changed: "This file ends early: what you may see has changed meanwhile. Export again.",
  expired: "This file ends early: the sign-in has expired. Sign in and export again.",
  unavailable: "This file ends early: lookups are unavailable right now. Export again later.",
  full: `This file ends here: it has the first ${MAX_EXPORTED} rows. Export with more conditions to get the others.`,
  groups: `This file ends here: it has the first ${MAX_EXPORTED} groups. Export with more conditions to get the others.`
} as const

const TOO_MANY = "Too many match to add them up at once. Name a period or another condition."

type Ending = keyof typeof REMARKS

export interface ExportRequest extends Omit<FindQuery, "limit" | "cursorEntityId"> {
  readonly byteOrderMark?: boolean | undefined
  /** When the caller's credential expires, in milliseconds since 1970; no page is read later. */
  readonly expiresAt?: number | undefined
}

export interface Exported {
  readonly text: Stream.Stream<string>
  /** The rows that have been written so far. */
  readonly rows: () => number
}

export class Exports extends Context.Service<
  Exports,
  {
    /** Begins an export: the result's text is read page by page as it is consumed. */
    readonly begin: (request: ExportRequest) => Effect.Effect<Exported, LookupError | TooManyCalls, CurrentPrincipal>
  }
>()("max/services/Exports") {
  /** With a limit of exports per hour and person. */
  static readonly layer = (perHour: number) =>
    Layer.effect(
      Exports,
      Effect.gen(function* () {
        const { admission, app } = yield* Database
        const queries = yield* EntityQueryService

        const audited = (
          organizationId: bigint,
          actor: string,
          action: string,
          subject: string,
          details: Readonly<Record<string, unknown>>
        ): Effect.Effect<void, Unavailable> =>
          orUnavailable(
            app.withTransaction(appendAudit(app, organizationId, "changes", [{ actor, action, subject, details }]))
          )

        /** Counts an export of a person in the current hour; the count is exact across processes. */
        const count = Effect.fnUntraced(function* (organizationId: bigint, personId: string) {
          const hour = "floor(extract(epoch FROM statement_timestamp()) / 3600)::bigint * 60"
          const counted = yield* orUnavailable(
            admission.unsafe<{ calls: number }>(
              `/* max count exports */ INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
             SELECT $1::bigint, $2::text, ${hour}, 1, 1 WHERE $3::int > 0
             ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
               calls = 1 + CASE WHEN c.minute < excluded.minute THEN 0 ELSE c.calls END, granted = 1
             WHERE c.minute < excluded.minute OR c.calls < $3::int RETURNING calls`,
              [organizationId, `export ${personId}`, perHour]
            )
          )
          if (counted.length > 0) return
          const [clock] = yield* orUnavailable(
            admission.unsafe<{ rest: number }>(
              "SELECT 3600 - (extract(epoch FROM statement_timestamp())::int % 3600) AS rest"
            )
          )
          const retryAfter = clock!.rest
          return yield* new TooManyCalls({
            message: `At most ${perHour} exports an hour. Try again in ${Math.ceil(retryAfter / 60)} minutes.`,
            retryAfter
          })
        })

        return Exports.of({
          begin: Effect.fn("Exports.begin")(function* ({ byteOrderMark, expiresAt = Infinity, ...query }) {
            const { anchorEntityId, organizationId } = yield* CurrentPrincipal
            const mark = byteOrderMark === true ? BYTE_ORDER_MARK : ""
            const record = (
              action: string,
              columns: ReadonlyArray<string>,
              details: Readonly<Record<string, unknown>> = {}
            ) => audited(organizationId, anchorEntityId, action, query.entityTypeId, { columns, ...details })
            if (asksForGroups(query)) {
              const page = yield* queries.groups({ ...query, organizationId })
              if (page.tooMany === true) return yield* InvalidInput.of(TOO_MANY)
              yield* count(organizationId, anchorEntityId)
              const rows = page.groups?.length ?? 0
              yield* record("data.exported", query.selectColumns ?? [], { rows })
              const remark = page.nextCursorEntityId === undefined ? undefined : REMARKS.groups
              return { text: Stream.succeed(mark + groupsCsv(page, remark)), rows: () => rows }
            }
            const pages = yield* queries.pages({ ...query, organizationId })
            yield* count(organizationId, anchorEntityId)
            const columns = pages.columns.map(({ slug }) => slug)
            yield* record("data.export-begun", columns)
            let rows = 0
            const csv = csvOf(pages.columns)
            const parts = partsOf(csv, pages, expiresAt, (written) => (rows += written))
            const text = Stream.concat(Stream.succeed(mark + csv.header), parts).pipe(
              // Also when the reader has left. The beginning is on record if the database fails here.
              Stream.ensuring(Effect.ignore(Effect.suspend(() => record("data.exported", columns, { rows }))))
            )
            return { text, rows: () => rows }
          })
        })
      })
    )
}

/** The lines of each page; the next page is read when the reader asks for it. */
const partsOf = (
  csv: Csv,
  { first, next }: Pages,
  expiresAt: number,
  wrote: (rows: number) => void
): Stream.Stream<string> => {
  let rows = 0
  const following = (page: Page): Effect.Effect<Page | Ending | undefined> => {
    const cursor = page.nextCursorEntityId
    if (cursor === undefined) return Effect.undefined
    if (rows >= MAX_EXPORTED) return Effect.succeed("full")
    if (expiresAt <= Date.now()) return Effect.succeed("expired")
    return Effect.match(next(cursor), {
      onFailure: () => "unavailable" as const,
      onSuccess: (found) => found ?? "changed"
    })
  }
  const linesOf = (page: Page): string => {
    rows += page.entities.length
    wrote(page.entities.length)
    return csv.lines(page)
  }
  return Stream.concat(
    Stream.suspend(() => Stream.succeed(linesOf(first))),
    Stream.unfold(first as Page | undefined, (page) =>
      Effect.map(page === undefined ? Effect.undefined : following(page), (found) => {
        if (found === undefined) return undefined
        return typeof found === "string"
          ? ([csv.remark(REMARKS[found]), undefined] as const)
          : ([linesOf(found), found] as const)
      })
    )
  )
}
