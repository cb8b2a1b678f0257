/**
 * A field that stands for an entity: the person types a part of its name and chooses one of what is found through the person's
 * own permissions. What is typed and not chosen is looked up when it is proposed.
 */
import { useSignal, useSignalEffect } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { Problem } from "../../shared/api.ts"
import type { Choice, Described, Form, Place } from "./Form.ts"

/** Milliseconds without a key before it is searched. */
const PAUSE = 300

/** Fewer letters find only what is called exactly so. */
const SHORT = 3

interface Listed {
  readonly choices: ReadonlyArray<Choice>
  /** What is said instead of choices. */
  readonly said?: string
}

export const Reference = ({ field, form, path, ...described }: Place & Described & { readonly form: Form }) => {
  const listed = useSignal<Listed | undefined>(undefined)
  const active = useSignal(-1)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asked = useRef(0)
  const { id } = described
  const listId = `${id}-list`
  const optionId = (at: number) => `${id}-option-${at}`

  const close = () => {
    clearTimeout(timer.current)
    asked.current += 1
    listed.value = undefined
    active.value = -1
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  useSignalEffect(() => {
    const { value: offered } = form.offered
    if (offered?.field === path) listed.value = { choices: offered.choices }
  })

  const search = async () => {
    const number = (asked.current += 1)
    let found: Listed
    try {
      const text = form.get(path).trim()
      const choices = await form.choices(path, text)
      const said = text.length < SHORT && text !== "" ? "Type three letters or more." : "Nothing found."
      found = choices.length === 0 ? { choices, said } : { choices }
    } catch (error) {
      found = { choices: [], said: error instanceof Problem ? error.message : "That can't be looked up right now." }
    }
    if (number !== asked.current) return
    listed.value = found
    active.value = -1
  }
  const searchSoon = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => void search(), PAUSE)
  }
  const choose = (choice: Choice) => {
    form.choose(path, choice)
    close()
  }
  const choices = listed.value?.choices ?? []
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (key === "Escape" && listed.value !== undefined) close()
    else if (key === "ArrowDown" || key === "ArrowUp") {
      if (listed.value === undefined) void search()
      else if (choices.length > 0)
        active.value =
          key === "ArrowDown"
            ? (active.value + 1) % choices.length
            : (Math.max(active.value, 0) - 1 + choices.length) % choices.length
    } else if (key === "Enter" && choices[active.value] !== undefined) choose(choices[active.value]!)
    else return
    event.preventDefault()
  }
  return (
    <div class="reference">
      <input
        {...described}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-autocomplete="list"
        aria-expanded={choices.length > 0}
        aria-controls={listId}
        {...(active.value < 0 ? {} : { "aria-activedescendant": optionId(active.value) })}
        value={form.get(path)}
        onInput={(event) => {
          form.set(path, event.currentTarget.value)
          searchSoon()
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <ul id={listId} class="found" role="listbox" aria-label={field.name} hidden={choices.length === 0}>
        {choices.map((choice, at) => (
          <li
            key={choice.value}
            id={optionId(at)}
            role="option"
            aria-selected={at === active.value}
            // Before the field loses the focus, which closes the list.
            onPointerDown={(event) => {
              event.preventDefault()
              choose(choice)
            }}
          >
            <bdi>{choice.name}</bdi>
          </li>
        ))}
      </ul>
      <p class="aside said" role="status">
        {listed.value?.said ?? ""}
        {choices.length > 0 && <span class="visually-hidden">{choices.length} found</span>}
      </p>
    </div>
  )
}
