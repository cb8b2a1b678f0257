/** Components that the administration pages share. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { navigation } from "./place.ts"
import { announcement, handleFailure, type Loaded } from "./state.ts"

/** A page's heading; after a navigation it takes the focus, so that a screen reader starts there. */
export const Title = ({
  children,
  note
}: {
  readonly children: ComponentChildren
  readonly note?: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (navigation.movesFocus) heading.current?.focus()
    navigation.movesFocus = false
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

/** Copies a text; `what` names it for screen readers. */
export const CopyButton = ({ text, what = text }: { readonly text: string; readonly what?: string }) => {
  const [copied, set] = useState(false)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        set(true)
        announcement.value = "Copied."
        setTimeout(() => set(false), 2000)
      },
      () => (announcement.value = "This browser doesn't allow copying: select the text instead.")
    )
  return (
    <button type="button" class="button" onClick={copy}>
      {copied ? "Copied" : "Copy"}
      <span class="visually-hidden"> {what}</span>
    </button>
  )
}

/** A command to copy, for what the page doesn't do itself. */
export const Command = ({ children, text }: { readonly children: ComponentChildren; readonly text: string }) => (
  <div class="command">
    <p>{children}</p>
    <div class="command-line">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  </div>
)

/** One line of a list of facts. */
export const Fact = ({ children, name }: { readonly children: ComponentChildren; readonly name: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

export type BadgeKind = "neutral" | "good" | "warn" | "bad"

export const Badge = ({
  children,
  kind = "neutral"
}: {
  readonly children: ComponentChildren
  readonly kind?: BadgeKind
}) => <span class={`badge ${kind}`}>{children}</span>

export const Roles = ({ roles }: { readonly roles: ReadonlyArray<string> }) => (
  <span class="badges">
    {roles.length === 0 ? <span class="soft">no role</span> : roles.map((role) => <Badge key={role}>{role}</Badge>)}
  </span>
)

/** Text from data: it keeps its own writing direction and doesn't affect the text around it. */
export const Isolated = ({ children }: { readonly children: string }) => <bdi>{children}</bdi>

export const Failure = ({ problem, retry }: { readonly problem: Problem; readonly retry?: () => void }) => (
  <div class="notice bad" role="alert">
    <p>
      {problem.message}
      {problem.reference === undefined ? null : ` Reference ${problem.reference}.`}
    </p>
    {retry === undefined ? null : (
      <button type="button" class="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)

export const Loading = () => (
  <p class="soft waiting" role="status">
    Loading …
  </p>
)

/** The children once the data is loaded; until then a note, or the failure. */
export const WhenLoaded = <A,>({
  children,
  loaded,
  reload
}: {
  readonly loaded: Loaded<A>
  readonly reload: () => void
  readonly children: (value: A) => ComponentChildren
}) =>
  loaded.is === "loading" ? (
    <Loading />
  ) : loaded.is === "failed" ? (
    <Failure problem={loaded.problem} retry={reload} />
  ) : (
    <>{children(loaded.value)}</>
  )

/** A button that asks for confirmation; the dialog stays open and shows the problem if the action fails. */
export const ConfirmButton = ({
  act,
  children,
  confirm,
  danger = false,
  done,
  label,
  reload,
  title
}: {
  readonly label: string
  readonly title: string
  readonly confirm: string
  readonly danger?: boolean
  readonly children: ComponentChildren
  readonly act: () => Promise<void>
  /** Announced after the action, before the page reloads its data. */
  readonly done: string
  readonly reload: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem }>({ busy: false })
  const heading = useId()
  const body = useId()
  const open = () => {
    set({ busy: false })
    dialog.current?.showModal()
  }
  const run = () => {
    set({ busy: true })
    act().then(
      () => {
        dialog.current?.close()
        announcement.value = done
        reload()
      },
      (error: unknown) => set({ busy: false, problem: handleFailure(error) })
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
          <button type="button" class={danger ? "act risky" : "act"} disabled={state.busy} onClick={run}>
            {confirm}
          </button>
        </div>
      </dialog>
    </>
  )
}

/** A dialog that a button opens; `children` gets a function that closes it. */
export const Dialog = ({
  children,
  label,
  onClose,
  title
}: {
  readonly label: string
  readonly title: string
  readonly onClose?: () => void
  readonly children: (close: () => void) => ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [open, set] = useState(false)
  const heading = useId()
  useEffect(() => {
    if (open) dialog.current?.showModal()
  }, [open])
  const close = () => dialog.current?.close()
  return (
    <>
      <button type="button" class="button" onClick={() => set(true)}>
        {label}
      </button>
      {open ? (
        <dialog
          ref={dialog}
          aria-labelledby={heading}
          onClose={() => {
            set(false)
            onClose?.()
          }}
        >
          <h2 id={heading}>{title}</h2>
          {children(close)}
        </dialog>
      ) : null}
    </>
  )
}

/** Sets the window's title. */
export const useTitle = (name: string) => {
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

/** "a, b and c". */
export const listed = (words: ReadonlyArray<string>, last = "and"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)!}`
