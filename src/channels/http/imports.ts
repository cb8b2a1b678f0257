/** Imports and lists of people over HTTP. The file is kept in a folder of its own until the response has ended. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, Queue, Schema, Stream } from "effect"
import { HttpEffect, HttpServerResponse, Multipart } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { OperatorError } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { Imports } from "../../services/administration/Imports.ts"
import { describeIssue } from "../../tools/describeIssue.ts"
import type { ImportEvent, ImportRuns, Proposal, Sample } from "../../wire/admin/import.ts"
import type { InvitePreview, SyncPreview } from "../../wire/admin/people.ts"
import { Api, PARSING } from "./Api.ts"
import { ImportForm, InviteForm, ProposalForm, SyncForm, SyncListForm } from "./ImportApi.ts"
import { json } from "./json.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"
import { BODIES } from "./bodies.ts"

const PAGE_SIZE = 50

type Parts = Stream.Stream<Multipart.Part, Multipart.MultipartError>

const Files = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const TOO_LARGE: ReadonlySet<string> = new Set(["FileTooLarge", "FieldTooLarge", "BodyTooLarge", "TooManyParts"])

/** Reads a form; its file is deleted with the request's scope. */
const formOf = <A, I extends Partial<Multipart.Persisted>>(schema: Schema.ConstraintCodec<A, I, never, unknown>) => {
  const decode = Multipart.schemaPersisted(schema)
  return (parts: Parts) =>
    Multipart.toPersisted(parts).pipe(
      Effect.provide(Files),
      Effect.flatMap((persisted) => decode(persisted, PARSING)),
      Effect.catchTags({
        MultipartError: ({ reason }) =>
          Effect.fail(
            TOO_LARGE.has(reason._tag)
              ? BODIES.file.tooLarge
              : problem("InvalidInput", "The body isn't a form with the parts options and file.")
          ),
        SchemaError: ({ issue }) => Effect.fail(problem("InvalidInput", describeIssue(issue)))
      })
    )
}

const proposalOf = formOf(ProposalForm)
const importOf = formOf(ImportForm)
const inviteOf = formOf(InviteForm)
const syncListOf = formOf(SyncListForm)
const syncOf = formOf(SyncForm)

const failed = (error: PublicError | OperatorError | HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.isHttpServerResponse(error)
    ? error
    : error._tag === "OperatorError"
      ? problem("NotPossible", [error.message, ...(error.details ?? [])].join(" "))
      : problemOf(error)

export const Importing = HttpApiBuilder.group(
  Api,
  "imports",
  Effect.fnUntraced(function* (handlers) {
    const imports = yield* Imports

    const run = (administrator: Principal, path: string, options: (typeof ImportForm.Type)["options"]) =>
      Stream.callback<ImportEvent>((queue) =>
        imports
          .import(
            administrator,
            path,
            options,
            ({ doing, rows, share }) => void Queue.offerUnsafe(queue, { _tag: "progress", doing, rows, share })
          )
          .pipe(
            Effect.match({
              onFailure: (error): ImportEvent => ({
                _tag: "refused",
                message: error.message,
                lines: error._tag === "OperatorError" ? (error.details ?? []) : []
              }),
              onSuccess: (result): ImportEvent => ({ _tag: "done", result })
            }),
            Effect.flatMap((last) => Queue.offer(queue, last)),
            Effect.andThen(Queue.end(queue))
          )
      ).pipe(
        Stream.map((event) => `data: ${JSON.stringify(event)}\n\n`),
        Stream.encodeText
      )

    /** Takes a list of people from an administrator with the power over members. */
    const listing = <A, E extends PublicError | OperatorError | HttpServerResponse.HttpServerResponse, R>(
      form: Effect.Effect<A, E, R>,
      answer: (
        administrator: Principal,
        form: A
      ) => Effect.Effect<HttpServerResponse.HttpServerResponse, PublicError | OperatorError>
    ) =>
      Effect.gen(function* () {
        const administrator = yield* CurrentPrincipal
        yield* imports.mayInvite(administrator)
        return yield* answer(administrator, yield* form)
      }).pipe(Effect.catch((error) => Effect.succeed(failed(error))))

    return handlers.handleAll({
      sample: () =>
        Effect.flatMap(CurrentPrincipal, imports.addSample).pipe(
          Effect.map((added) => json<Sample>(added)),
          Effect.catch((error) => Effect.succeed(failed(error)))
        ),
      propose: ({ payload }) =>
        Effect.gen(function* () {
          const administrator = yield* CurrentPrincipal
          yield* imports.mayImport(administrator)
          const { file, options } = yield* proposalOf(payload)
          return json<Proposal>(yield* imports.propose(administrator, file.path, options))
        }).pipe(Effect.catch((error) => Effect.succeed(failed(error)))),
      runs: ({ query: { before, limit = PAGE_SIZE } }) =>
        Effect.gen(function* () {
          const found = yield* imports.runs(yield* CurrentPrincipal, {
            ...(before === undefined ? {} : { before: BigInt(before) }),
            limit: limit + 1
          })
          const runs = found.slice(0, limit)
          return json<ImportRuns>({ runs, ...(found.length > limit ? { next: runs.at(-1)!.record } : {}) })
        }).pipe(Effect.catch((error) => Effect.succeed(failed(error)))),
      invited: ({ payload }) =>
        listing(inviteOf(payload), (administrator, { file, options }) =>
          Effect.map(imports.invited(administrator, file.path, options), (preview) => json<InvitePreview>(preview))
        ),
      syncList: ({ payload }) =>
        listing(syncListOf(payload), (administrator, { file, options }) =>
          Effect.map(imports.previewSync(administrator, file.path, options), (preview) => json<SyncPreview>(preview))
        ),
      sync: ({ payload }) =>
        listing(syncOf(payload), (administrator, { file, options }) =>
          Effect.as(imports.sync(administrator, file.path, options), HttpServerResponse.empty())
        ),
      import: ({ payload }) =>
        Effect.gen(function* () {
          const administrator = yield* CurrentPrincipal
          yield* imports.mayImport(administrator)
          const { file, options } = yield* importOf(payload)
          return HttpEffect.scopeTransferToStream(
            HttpServerResponse.stream(run(administrator, file.path, options), {
              contentType: "text/event-stream",
              headers: { "x-accel-buffering": "no" }
            })
          )
        }).pipe(Effect.catch((error) => Effect.succeed(failed(error))))
    })
  })
)
