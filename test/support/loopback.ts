/** Fails any test that sends a request to a host other than this machine. */
import { afterEach, expect } from "vitest"

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/
const remoteHosts: Array<string> = []
const real = globalThis.fetch

globalThis.fetch = (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input)
  if (LOOPBACK.test(hostname)) return real(input, init)
  remoteHosts.push(hostname)
  return Promise.reject(new TypeError(`A test sent a request to ${hostname}`))
}

afterEach(() => {
  expect(remoteHosts.splice(0)).toEqual([])
})
