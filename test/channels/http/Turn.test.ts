import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { decoded, encoded } from "../../../src/channels/http/Listener.ts"
import { Turn } from "../../../src/channels/http/Turn.ts"
import type { TurnEvent } from "../../../src/wire/TurnEvent.ts"
import { systemCatalog } from "../../support/catalog.ts"

const delta = (text: string): TurnEvent => ({ _tag: "delta", text })
const done: TurnEvent = {
  _tag: "done",
  session: "s",
  text: "all of it",
  references: [],
  usage: { model: "m", steps: 1, inputTokens: 1, outputTokens: 1 },
  reference: "7F3K"
}
const principal = { organizationId: 1n, anchorEntityId: "a", roles: [], attributes: {}, epoch: 1n }
const basis = { key: "k", expiresAt: Infinity }
const { organization } = systemCatalog
const newTurn = () =>
  new Turn({ principal, changes: undefined }, basis, { organization, say: { text: "hello" } }, undefined)
const answering = (attempt: number) => {
  const turn = newTurn()
  turn.answer({ organizationId: 1n, holder: "h" }, attempt)
  return turn
}
const LONG = "x".repeat(300_000)
const numbersOf = (events: ReadonlyArray<{ readonly number: number }>) => events.map(({ number }) => number)

describe("the events of a turn", () => {
  it("are decoded to the events and bytes that were encoded", () => {
    const events = [
      delta('line\nbreaks, "quotes": and \\, 🙂, \u2028, \u0000, \ud800'),
      { _tag: "retract" } as const,
      done
    ]
    const blocks = events.map((event, index) => encoded(index + 1, event))
    const read = decoded(blocks.join(""))
    expect(read.map(({ event }) => event)).toEqual(events)
    expect(numbersOf(read)).toEqual([1, 2, 3])
    expect(read.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(blocks)
  })

  it("are numbered above an earlier attempt's, and retract what it sent", () => {
    const turn = answering(2)
    turn.publish(delta("again"))
    turn.publish(done)
    expect(turn.events.map(({ event, number }) => [number, event._tag])).toEqual([
      [2_000_001, "retract"],
      [2_000_002, "delta"],
      [2_000_003, "done"]
    ])
    expect(turn.kept([delta("again"), done])).toBe(turn.kept())
  })

  it("are stored up to a megabyte: of a longer turn, only the last event", () => {
    const turn = answering(0)
    for (let at = 0; at < 3; at += 1) turn.publish(delta(LONG))
    expect(turn.kept().length).toBeGreaterThan(900_000)
    turn.publish(delta(LONG))
    turn.publish(done)
    expect(turn.kept()).toBe(encoded(5, done))
    expect(turn.kept(turn.events.map(({ event }) => event))).toBe(encoded(5, done))
  })

  it("are written for followers once each, up to a megabyte, before which followers have what they were given", async () => {
    const turn = answering(0)
    let stored = ""
    const write = () =>
      Effect.runPromise(
        turn.write((after, more) =>
          Effect.sync(() => {
            expect(after).toBe([...stored].length)
            stored += more
          })
        )
      )
    turn.publish(delta("one 🙂"))
    await write()
    await write()
    turn.publish(delta("two"))
    await write()
    expect(stored).toBe(encoded(1, delta("one 🙂")) + encoded(2, delta("two")))
    for (let at = 0; at < 4; at += 1) turn.publish(delta(LONG))
    await write()
    turn.publish(done)
    expect(turn.kept()).toBe(stored + encoded(7, done))
  })

  it("are received from another process once each, and from the beginning when the holder changes", () => {
    const follower = newTurn()
    const row = { message: "", ended: false, live: true }
    follower.receive({ ...row, holder: "one", attempt: 0, more: encoded(1, delta("🙂")) })
    expect(follower.following).toEqual({ holder: "one", attempt: 0, read: [...encoded(1, delta("🙂"))].length })
    follower.receive({ ...row, holder: "two", attempt: 1, more: encoded(1_000_001, { _tag: "retract" }) })
    expect(follower.following?.read).toBe(encoded(1_000_001, { _tag: "retract" }).length)
    follower.receive({ ...row, holder: "two", attempt: 1, ended: true, more: encoded(1_000_002, done) })
    expect([numbersOf(follower.events), follower.isOver]).toEqual([[1, 1_000_001, 1_000_002], true])
  })
})
