/** No test talks to anything but this machine: a request to another host fails the test that made it. */
import { afterEach, expect } from "vitest"

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/
const elsewhere: Array<string> = []
const real = globalThis.fetch

globalThis.fetch = (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input)
  if (LOOPBACK.test(hostname)) return real(input, init)
  elsewhere.push(hostname)
  return Promise.reject(new TypeError(`A test wanted to talk to ${hostname}`))
}

afterEach(() => {
  expect(elsewhere.splice(0)).toEqual([])
})
