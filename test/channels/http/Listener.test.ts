import { Effect, Fiber, Result } from "effect"
import { describe, expect, it } from "vitest"
import { Listener, type Numbered, numbered } from "../../../src/channels/http/Listener.ts"

const delta = (text: string) => ({ _tag: "delta", text }) as const

const turn = (...texts: ReadonlyArray<string>) => {
  const events: Array<Numbered> = texts.map((text, index) => numbered(index + 1, delta(text)))
  const said = { events, isOver: false }
  const listeners: Array<Listener> = []
  return {
    said,
    listen: (after = 0) => {
      const listener = new Listener(said, after)
      listeners.push(listener)
      return listener
    },
    say: (text: string) => {
      events.push(numbered(events.length + 1, delta(text)))
      for (const listener of listeners) listener.wake()
    }
  }
}

const read = (bytes: ReadonlyArray<Uint8Array>) => Buffer.concat(bytes).toString()

describe("a listener", () => {
  it("receives earlier events, starting after the requested one", async () => {
    const { listen, say } = turn("one", "two")
    const [first, late] = [listen(), listen(1)]
    expect(read(await Effect.runPromise(first.pull()))).toMatch(/id: 1[^]*"one"[^]*id: 2[^]*"two"/)
    expect(read(await Effect.runPromise(late.pull()))).not.toContain("one")
    const waiting = Effect.runFork(Effect.all([first.pull(), late.pull()], { concurrency: 2 }))
    say("three")
    const [one, other] = await Effect.runPromise(Fiber.join(waiting))
    expect(read(one)).toContain("three")
    // Encoded once for all listeners.
    expect(other[0]).toBe(one[0])
  })

  it("is kept alive while it reads, but not before the first event", async () => {
    const { listen, say } = turn()
    const listener = listen()
    const next = Effect.runFork(listener.peek())
    listener.keepAlive()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(next.pollUnsafe()).toBeUndefined()
    say("one")
    expect(await Effect.runPromise(Fiber.join(next))).toMatchObject({ number: 1 })
    expect(read(await Effect.runPromise(listener.pull()))).toContain("one")
    const more = Effect.runFork(listener.pull())
    listener.keepAlive()
    expect(read(await Effect.runPromise(Fiber.join(more)))).toBe(": still here\n\n")
  })

  it("ends with the turn, whether it was waiting or starts later", async () => {
    const { listen, said } = turn("one")
    const [waiting, late] = [listen(1), listen(7)]
    const heard = Effect.runFork(Effect.result(waiting.pull()))
    said.isOver = true
    waiting.wake()
    expect(Result.isFailure(await Effect.runPromise(Fiber.join(heard)))).toBe(true)
    expect(await Effect.runPromise(late.peek())).toBeUndefined()
    expect(Result.isFailure(await Effect.runPromise(Effect.result(late.pull())))).toBe(true)
  })
})
