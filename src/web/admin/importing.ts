/** The requests of an import, and the state of its form. */
import type { Imported, ImportEvent, ImportFile, Proposal, ReadFile } from "../../wire/admin/import.ts"
import { Problem, request } from "../shared/api.ts"

/** Bytes that the server takes. */
const MAX_FILE = 32 * 1024 * 1024

const formOf = (file: File, options: object): FormData => {
  const form = new FormData()
  form.set("options", JSON.stringify(options))
  form.set("file", file)
  return form
}

/** Sends a file with its options. */
export const upload = (path: string, file: File, options: object) => {
  if (file.size > MAX_FILE)
    throw new Problem(
      "content-too-large",
      413,
      `${file.name} has ${Math.ceil(file.size / 1024 / 1024)} MiB, and a page takes ${MAX_FILE / 1024 / 1024}. An operator imports larger files: max import`
    )
  // Without a JSON body, so that the form brings its own content type.
  return request("POST", `/v1/admin/${path}`, undefined, { body: formOf(file, options) })
}

export const propose = async (file: File, options: ReadFile): Promise<Proposal> =>
  (await upload("import/proposal", file, options)).json() as Promise<Proposal>

export interface Refused {
  readonly message: string
  readonly lines: ReadonlyArray<string>
}

export type Last = { readonly result: Imported } | { readonly refused: Refused }

type Progress = Extract<ImportEvent, { _tag: "progress" }>

/** Imports a file, or tries it; the last event says what became of it. */
export const importFile = async (
  file: File,
  options: ImportFile,
  onProgress: (progress: Progress) => void
): Promise<Last> => {
  const response = await upload("import", file, options)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    const events = (rest + value).split("\n\n")
    rest = events.pop()!
    for (const text of events) {
      const event = JSON.parse(text.slice("data: ".length)) as ImportEvent
      if (event._tag === "progress") onProgress(event)
      else return event._tag === "done" ? { result: event.result } : { refused: event }
    }
  }
  throw new Problem(
    "unreachable",
    0,
    "The connection ended before the import did. Look whether the rows are there before you import again."
  )
}

/** How the rows are read and written. */
export type Settings = Pick<ImportFile, "locale" | "dates" | "skipBad" | "keepChanges">

/** Where a header goes: a destination of the type, a new column, or nowhere. */
export const NEW = "+"
export const NOWHERE = ""

export interface Chosen {
  readonly type: string
  /** By position of the header. */
  readonly to: ReadonlyArray<string>
}

/** What the server proposes for a type: headers without a column become new ones. */
export const choiceFor = ({ headers, types }: Proposal, type: string): Chosen => {
  const existing = types.find(({ slug }) => slug === type)
  return { type, to: headers.map((_, index) => existing?.proposed[index] ?? NEW) }
}

/** The options that say exactly what was chosen. */
export const optionsOf = ({ headers, types }: Proposal, { to, type }: Chosen): ImportFile => {
  const existing = types.find(({ slug }) => slug === type)
  const entries = headers.map(({ header }, index) => ({ header, to: to[index]! }))
  return {
    type,
    create: existing === undefined || to.includes(NEW),
    map: Object.fromEntries(
      entries.flatMap((entry) => (entry.to === NEW || entry.to === NOWHERE ? [] : [[entry.header, entry.to]]))
    ),
    ignore: entries.flatMap((entry) => (entry.to === NOWHERE ? [entry.header] : []))
  }
}
