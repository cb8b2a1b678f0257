/** Administering over HTTP: each endpoint is one call of `Administration`, for whoever the credential lets in. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { OperatorError } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { isoTimestamp } from "../../domain/values.ts"
import { type About, Administration } from "../../services/administration/Administration.ts"
import type { Person } from "../../services/administration/people.ts"
import { renderCell } from "../../tools/render.ts"
import { Api } from "./Api.ts"
import type { ProblemName } from "../../wire/problems.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

const PAGE = 50

const json = (value: unknown): Response => HttpServerResponse.jsonUnsafe(value)

/** Runs it for whoever asks; what an operator would be told is told as this problem. */
const answered = <R>(
  use: (administrator: Principal) => Effect.Effect<Response, PublicError | OperatorError, R>,
  refused: ProblemName = "NotPossible"
) =>
  Effect.flatMap(CurrentPrincipal, use).pipe(
    Effect.catch((error) =>
      Effect.succeed(
        error._tag === "OperatorError"
          ? problem(refused, [error.message, ...(error.details ?? [])].join(" "))
          : problemOf(error)
      )
    )
  )

const nobody = problem("NotFound", "No member of this organization has this id.")
const unclear = problem("InvalidInput", "Say whom it is about: id or identifier, one of the two.")

const noSuchDay = problem("InvalidInput", "There is no such day: since is a date, or a time in UTC that ends with Z.")

const noSuchTime = problem("InvalidInput", "There is no such time: before is the time of an entry, as it is told.")

/** Whom a body is about. */
const aboutOf = ({ id, identifier }: { readonly id?: string; readonly identifier?: string }): About | undefined =>
  id !== undefined && identifier === undefined
    ? { id }
    : identifier !== undefined && id === undefined
      ? { identifier }
      : undefined

const shown = (person: Person) => {
  const { id, identifiers, isSelf, lastCall, memberSince, name, roles, state, suspendedSince, tokens } = person
  return {
    id,
    name,
    identifiers,
    roles,
    state,
    isSelf,
    tokens,
    memberSince,
    ...(suspendedSince === undefined ? {} : { suspendedSince }),
    ...(lastCall === undefined ? {} : { lastCall })
  }
}

export const Administering = HttpApiBuilder.group(
  Api,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const administration = yield* Administration

    const setStanding = (id: string, standing: "suspended" | "resumed") =>
      answered((administrator) =>
        Effect.gen(function* () {
          if ((yield* administration.person(administrator, id)) === undefined) return nobody
          yield* administration.setStanding(administrator, id, standing)
          return HttpServerResponse.empty()
        })
      )

    return handlers.handleAll({
      people: ({ payload }) =>
        answered((administrator) =>
          Effect.map(administration.people(administrator, { ...payload, limit: payload.limit ?? PAGE }), (found) =>
            json({ ...found, people: found.people.map(shown) })
          )
        ),
      person: ({ params }) =>
        answered((administrator) =>
          Effect.map(administration.person(administrator, params.id), (person) =>
            person === undefined
              ? nobody
              : json({
                  ...shown(person),
                  attributes: person.attributes,
                  held: person.held.map(({ createdAt, expiresAt, id, name, scopes, state }) => ({
                    id,
                    name,
                    scopes,
                    createdAt,
                    expiresAt,
                    state
                  }))
                })
          )
        ),
      suspend: ({ params }) => setStanding(params.id, "suspended"),
      resume: ({ params }) => setStanding(params.id, "resumed"),
      revoke: ({ params }) =>
        answered((administrator) =>
          Effect.as(administration.revokeToken(administrator, params.id), HttpServerResponse.empty())
        ),
      policy: () => answered((administrator) => Effect.map(administration.policy(administrator), json)),
      versions: () =>
        answered((administrator) =>
          Effect.map(administration.versions(administrator), (versions) => json({ versions }))
        ),
      changes: ({ params }) =>
        answered((administrator) =>
          Effect.map(administration.changes(administrator, params.from, params.to), (changes) => json({ changes }))
        ),
      explain: ({ payload }) =>
        answered((administrator) => {
          const about = aboutOf(payload)
          return about === undefined
            ? Effect.succeed(unclear)
            : Effect.map(administration.explain(administrator, about, payload.type), (explanations) =>
                json({ explanations })
              )
        }),
      explainRow: ({ payload }) =>
        answered((administrator) => {
          const about = aboutOf(payload)
          return about === undefined
            ? Effect.succeed(unclear)
            : Effect.map(administration.explainRow(administrator, about, payload.type, payload.row), (found) =>
                json({
                  ...found,
                  columns: found.columns.map(({ value, ...column }) => {
                    const text = value === undefined ? "" : renderCell(value)
                    return text === "" ? column : { ...column, value: text }
                  })
                })
              )
        }),
      types: () =>
        answered((administrator) => Effect.map(administration.types(administrator), (types) => json({ types }))),
      audit: ({ query }) =>
        answered((administrator) =>
          Effect.gen(function* () {
            const limit = query.limit ?? PAGE
            const since = query.since === undefined ? undefined : new Date(query.since)
            if (since !== undefined && Number.isNaN(since.getTime())) return noSuchDay
            const records = yield* administration.audit(administrator, {
              chain: query.chain ?? "changes",
              action: query.action,
              who: query.who,
              since,
              ...(query.before === undefined ? {} : { before: BigInt(query.before) }),
              limit: limit + 1
            })
            const page = records.slice(0, limit).map((record) => ({ ...record, sequence: Number(record.sequence) }))
            return json({ records: page, ...(records.length > limit ? { next: page.at(-1)!.sequence } : {}) })
          })
        ),
      verify: () =>
        answered((administrator) =>
          Effect.map(administration.verify(administrator), (chains) =>
            json({
              chains: chains.map(({ broken, chain, head }) => ({
                chain,
                records: Number(head?.sequence ?? 0n),
                ...(head === undefined ? {} : { head: `${head.sequence}:${head.hash}` }),
                ...(broken === undefined ? {} : { broken: Number(broken) })
              }))
            })
          )
        ),
      texts: ({ query }) =>
        answered((administrator) =>
          Effect.gen(function* () {
            const { before, limit = PAGE } = query
            if (before !== undefined && isoTimestamp(before) === undefined) return noSuchTime
            const found = yield* administration.texts(administrator, { before, limit: limit + 1 })
            const texts = found.texts.slice(0, limit)
            return json({ ...found, texts, ...(found.texts.length > limit ? { next: texts.at(-1)!.at } : {}) })
          })
        )
    })
  })
)
