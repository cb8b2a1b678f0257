/** What the pages are put together from. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { arrival } from "./place.ts"
import { failed, type Loaded, said } from "./state.ts"

/** A page's heading; it takes the focus of whoever goes there, so that it is what is read first. */
export const Title = ({
  children,
  note
}: {
  readonly children: ComponentChildren
  readonly note?: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (arrival.expected) heading.current?.focus()
    arrival.expected = false
  }, [])
  return (
    <header class="title">
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
      {note === undefined ? null : <p class="soft">{note}</p>}
    </header>
  )
}

/** A command that is safer than a button, to be copied. */
export const Command = ({ children, text }: { readonly children: ComponentChildren; readonly text: string }) => {
  const [copied, set] = useState(false)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        set(true)
        said.value = "Copied."
        setTimeout(() => set(false), 2000)
      },
      () => (said.value = "This browser doesn't let the page copy: select the command instead.")
    )
  return (
    <div class="command">
      <p>{children}</p>
      <div class="command-line">
        <code>{text}</code>
        <button type="button" class="button" onClick={copy}>
          {copied ? "Copied" : "Copy"}
          <span class="visually-hidden"> {text}</span>
        </button>
      </div>
    </div>
  )
}

export const Badge = ({
  children,
  kind = "neutral"
}: {
  readonly children: ComponentChildren
  readonly kind?: "neutral" | "good" | "warn" | "bad"
}) => <span class={`badge ${kind}`}>{children}</span>

export const Roles = ({ roles }: { readonly roles: ReadonlyArray<string> }) => (
  <span class="badges">
    {roles.length === 0 ? <span class="soft">no role</span> : roles.map((role) => <Badge key={role}>{role}</Badge>)}
  </span>
)

/** Text from a row or a person: it keeps its own direction and never changes that of its surroundings. */
export const Said = ({ children }: { readonly children: string }) => <bdi>{children}</bdi>

export const Failure = ({ again, problem }: { readonly problem: Problem; readonly again?: () => void }) => (
  <div class="notice bad" role="alert">
    <p>
      {problem.message}
      {problem.reference === undefined ? null : ` Reference ${problem.reference}.`}
    </p>
    {again === undefined ? null : (
      <button type="button" class="button" onClick={again}>
        Try again
      </button>
    )}
  </div>
)

/** What was asked for, or where it is: on its way, failed, or here. */
export const When = <A,>({
  again,
  children,
  loaded
}: {
  readonly loaded: Loaded<A>
  readonly again: () => void
  readonly children: (value: A) => ComponentChildren
}) =>
  loaded.is === "loading" ? (
    <p class="soft waiting" role="status">
      Looking it up …
    </p>
  ) : loaded.is === "failed" ? (
    <Failure problem={loaded.problem} again={again} />
  ) : (
    <>{children(loaded.value)}</>
  )

export interface Heading {
  readonly name: string
  readonly number?: boolean
}

/** A table that becomes a list of entries where there is no room; it stays a table for those who hear it. */
export const Table = ({
  caption,
  headings,
  rows
}: {
  readonly caption: string
  readonly headings: ReadonlyArray<Heading>
  readonly rows: ReadonlyArray<{ readonly key: string; readonly cells: ReadonlyArray<ComponentChildren> }>
}) => (
  <table role="table">
    <caption class="visually-hidden">{caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        {headings.map(({ name, number }) => (
          <th key={name} role="columnheader" scope="col" class={number === true ? "number" : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map(({ cells, key }) => (
        <tr key={key} role="row">
          {cells.map((cell, index) => (
            <td
              key={index}
              role="cell"
              data-heading={headings[index]!.name}
              class={headings[index]!.number === true ? "number" : undefined}
            >
              <div>{cell}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** A button that asks before it does something; what went wrong is said where it was asked. */
export const Confirmed = ({
  act,
  children,
  confirm,
  danger = false,
  done,
  label,
  title
}: {
  readonly label: string
  readonly title: string
  readonly confirm: string
  readonly danger?: boolean
  readonly children: ComponentChildren
  readonly act: () => Promise<void>
  readonly done: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem }>({ busy: false })
  const heading = useId()
  const body = useId()
  const open = () => {
    set({ busy: false })
    dialog.current?.showModal()
  }
  const go = () => {
    set({ busy: true })
    act().then(
      () => {
        dialog.current?.close()
        done()
      },
      (error: unknown) => set({ busy: false, problem: failed(error) })
    )
  }
  return (
    <>
      <button type="button" class={danger ? "button risky" : "button"} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={heading} aria-describedby={body}>
        <h2 id={heading}>{title}</h2>
        <div id={body}>{children}</div>
        {state.problem === undefined ? null : <Failure problem={state.problem} />}
        <div class="actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="button" class={danger ? "act risky" : "act"} disabled={state.busy} onClick={go}>
            {confirm}
          </button>
        </div>
      </dialog>
    </>
  )
}

/** Says what a page is called, in the window's title too, and puts the focus on its heading when it is come to. */
export const usePage = (name: string) => {
  useEffect(() => {
    document.title = `${name} · Max`
  }, [name])
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

export const Moment = ({ at }: { readonly at: string }) => <time dateTime={at}>{MOMENT.format(new Date(at))}</time>
export const Day = ({ at }: { readonly at: string }) => <time dateTime={at}>{DAY.format(new Date(at))}</time>

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`

/** A list as people say it. */
export const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`
