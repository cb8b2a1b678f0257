/** A file of actions: what is refused, with its place. */
import { describe, expect, it } from "vitest"
import { isPublicAddress } from "../../../src/services/network/hosts.ts"
import { readActions } from "../../../src/services/actions/readActions.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { fileOf } from "../../support/service.ts"

const SAP = "https://sap.example.com"
const problemsOf = (text: string, hosts: ReadonlyArray<string> = []) => {
  const reading = readActions(text, { catalog: systemCatalog, hosts })
  return "problems" in reading ? reading.problems.map(({ message, path }) => `${path}: ${message}`) : []
}
const field = (more: object) => ({
  fields: [
    { slug: "order", name: "Order", kind: "text", needed: true, ...more },
    { slug: "quantity", name: "Quantity", kind: "number" }
  ]
})

describe("a file of actions", () => {
  it("is read when it is well-formed", () => expect(problemsOf(fileOf(SAP))).toEqual([]))

  it.each([
    ["a kind that doesn't exist", fileOf(SAP, {}, field({ kind: "colour" })), "actions[0].fields[0].kind"],
    ["a property that doesn't exist", fileOf(SAP, { metod: "PUT" }), "actions[0].http.metod"],
    ["a host from a field", fileOf(SAP, { url: "https://{order}.example.com/x" }), "actions[0].http.url"],
    [
      "a host after a name",
      fileOf(SAP, { url: "https://sap.example.com@evil.example/{order}" }),
      "actions[0].http.url"
    ],
    ["a port from a field", fileOf(SAP, { url: "https://sap.example.com:{order}/" }), "actions[0].http.url"],
    ["http to a public host", fileOf("http://sap.example.com"), "actions[0].http.url"],
    ["a private address", fileOf("https://169.254.169.254"), "actions[0].http.url"],
    ["a private address as a number", fileOf("https://2130706433"), "actions[0].http.url"],
    ["a private address of IPv6", fileOf("https://[::ffff:10.0.0.1]"), "actions[0].http.url"],
    ["localhost", fileOf("https://localhost"), "actions[0].http.url"],
    ["a field that isn't used", fileOf(SAP, { body: {} }), "actions[0].fields[1]"],
    ["a field that doesn't exist", fileOf(SAP, { body: { q: "{quantity}", x: "{other}" } }), "actions[0].http.body.x"],
    [
      "a brace that stands for nothing",
      fileOf(SAP, { body: { q: "{quantity}", x: "{{order}}" } }),
      "actions[0].http.body.x"
    ],
    ["a header with a field", fileOf(SAP, { headers: { "x-order": "{order}" } }), "actions[0].http.headers.x-order"],
    [
      "a header that frames the request",
      fileOf(SAP, { headers: { "Transfer-Encoding": "chunked" } }),
      "actions[0].http.headers.Transfer-Encoding"
    ],
    [
      "a secret in the file",
      fileOf(SAP, { headers: { authorization: "{token}" }, secrets: { token: "abc" } }),
      "actions[0].http.secrets.token"
    ],
    ["neither a key nor once", fileOf(SAP, { key: undefined }), "actions[0].http.key"],
    ["both a key and once", fileOf(SAP, { once: true }), "actions[0].http.key"],
    ["an optional field in the path", fileOf(SAP, {}, field({ needed: false })), "actions[0].http.url"],
    ["a text inside an expression", fileOf(SAP, { url: `${SAP}/orders?$filter=Id eq {order}` }), "actions[0].http.url"],
    ["a pattern that can take forever", fileOf(SAP, {}, field({ pattern: "(a+)+b" })), "actions[0].fields[0].pattern"],
    ["a pattern that isn't one", fileOf(SAP, {}, field({ pattern: "(" })), "actions[0].fields[0].pattern"],
    ["a slug that is a type's", fileOf(SAP, {}, { slug: "people" }), "actions[0].slug"],
    ["a pointer that isn't one", fileOf(SAP, { result: { Id: "d.id" } }), "actions[0].http.result.Id"]
  ])("is refused with its place: %s", (_, text, place) => {
    expect(problemsOf(text).map((problem) => problem.split(": ")[0])).toContain(place)
  })

  it("is refused with two actions of one slug, and with a key that stands twice", () => {
    const { actions, ...rest } = JSON.parse(fileOf(SAP)) as { actions: ReadonlyArray<unknown> }
    expect(problemsOf(JSON.stringify({ ...rest, actions: [...actions, ...actions] }))[0]).toMatch(
      /^actions\[1\]\.slug: Duplicate/
    )
    expect(problemsOf('{"version":1,"version":1,"actions":[]}')[0]).toMatch(/Duplicate key/)
  })

  it("may name a private host that the operator lists, also by http", () => {
    expect(problemsOf(fileOf("http://10.0.0.7:8080"), ["10.0.0.7:8080"])).toEqual([])
    expect(problemsOf(fileOf("http://10.0.0.7:8081"), ["10.0.0.7:8080"])).toHaveLength(1)
  })
})

it("only addresses of the public internet are public", () => {
  const inside = [
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "ff02::1"
  ]
  expect(inside.filter(isPublicAddress)).toEqual([])
  expect(["8.8.8.8", "172.32.0.1", "2606:4700::1111"].filter((address) => !isPublicAddress(address))).toEqual([])
})
