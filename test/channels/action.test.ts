/** Declared actions and the webhook of approvers at the terminal: to a request that `max serve` sends. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import starter from "../../src/services/policies/starter-policy.json" with { type: "json" }
import { actionFileSchema } from "../../src/services/actions/actionFile.ts"
import { runMax, serveMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { fileOf, startService } from "../support/service.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-action-"))
let service: Awaited<ReturnType<typeof startService>>
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)
const written = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

beforeAll(async () => {
  service = await startService()
  env = {
    DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_AS: "admin@atlas.example",
    MAX_PRIVATE_HOSTS: service.host,
    MAX_STATE_DIR: folder
  }
  const invoke = { id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }
  const policy = written("policy.json", JSON.stringify({ ...starter, rules: [...starter.rules, invoke] }))
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    ["policy", "publish", policy],
    ["member", "add", "admin@atlas.example", "--role", "admin", "--create", "--name", "Ann Admin"]
  ])
    expect(await max(...args), args.join(" ")).toMatchObject({ code: 0 })
})

afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

it("prints the JSON Schema that the package ships, without a database; it accepts what the check accepts", async () => {
  const printed = await runMax(["action", "schema"], { DATABASE_URL: "postgres://user:x@127.0.0.1:1/none" })
  const shipped: unknown = JSON.parse(readFileSync(new URL("../../action.schema.json", import.meta.url), "utf8"))
  expect(JSON.parse(printed.stdout)).toEqual(shipped)
  expect(shipped).toEqual(actionFileSchema())
  const valid = new Ajv2020({ strict: false }).compile(shipped as object)
  expect(valid(JSON.parse(fileOf("https://sap.example.com")))).toBe(true)
  expect(valid(JSON.parse(fileOf("https://sap.example.com", { metod: "PUT" })))).toBe(false)
})

it("is checked with places, published once, listed, shown, used and retired", async () => {
  const wrong = written("wrong.json", fileOf(service.url, { url: "http://10.1.2.3/{order}" }, { confirm: "thrice" }))
  expect(await max("action", "check", wrong)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/actions\[0\]\.confirm/)
  })
  const secret = { headers: { authorization: "{token}" }, secrets: { token: "env:NOT_SET" } }
  expect((await max("action", "check", written("secret.json", fileOf(service.url, secret)))).stderr).toContain(
    "actions[0].http.secrets.token"
  )
  const file = written("actions.json", fileOf(service.url))
  expect((await max("action", "check", file)).stdout).toMatch(/set_quantity +new/)
  expect((await max("action", "list")).stdout).not.toContain("set_quantity")
  expect((await max("action", "publish", file)).stdout).toMatch(/set_quantity +new +1 /)
  expect((await max("action", "publish", file)).stdout).toMatch(/set_quantity +unchanged +1 /)
  expect((await max("action", "list")).stdout).toContain(`PATCH ${service.host}`)
  expect(JSON.parse((await max("action", "show", "set_quantity")).stdout)).toMatchObject({ version: 1 })

  const server = await serveMax({ ...env, MAX_HTTP_PORT: "0" })
  try {
    const drafted = await max("change", "set_quantity", "order=4500000001", "quantity=44")
    expect(drafted.stdout).toContain(service.host)
    const [, id = "", digest = ""] = /max change confirm ([a-z]+) ([0-9a-f]{64})/.exec(drafted.stdout + drafted.stderr)!
    expect((await max("change", "confirm", id, digest)).stdout).toMatch(/is (done|being sent)/)
    await expect.poll(() => service.asked.length).toBe(1)
    expect((await max("change", "outbox", "--state", "done")).stdout).toContain(id)
    expect((await max("change", "outbox")).stdout).not.toContain(id)
    expect((await max("change", "outbox", "retry", id, "0")).code).toBe(1)
  } finally {
    server.end("SIGTERM")
    await server.ended
  }
  expect(await max("action", "retire", "set_quantity")).toMatchObject({ code: 0 })
  expect((await max("action", "list")).stdout).toContain("retired")
  expect((await max("change", "set_quantity", "order=1", "quantity=2")).stderr).toContain("There is no action")
})

it("is told by max serve to the webhook that an operator declares, when a change waits for another person", async () => {
  const confirm = [{ action: "create", type: "people", by: "second", approvers: ["admin"] }]
  const policy = written("second.json", JSON.stringify({ ...starter, confirm }))
  expect(await max("policy", "publish", policy)).toMatchObject({ code: 0 })
  const secret = written("hook", "a secret of at least 24 characters")
  const url = `${service.url}/hook`
  expect((await max("change", "webhook")).stdout).toContain("There is no webhook")
  expect((await max("change", "webhook", "set", url, "--secret", "file:/nowhere/hook")).code).toBe(1)
  expect(await max("change", "webhook", "set", url, "--secret", `file:${secret}`)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("MAX_PUBLIC_URL")
  })
  service.answers()
  const publicUrl = "https://max.example.com"
  const server = await serveMax({ ...env, MAX_HTTP_PORT: "0", MAX_PUBLIC_URL: publicUrl })
  try {
    const drafted = await max("change", "people.create", "name=Nadia New")
    const [, id = "", digest = ""] = /max change confirm ([a-z]+) ([0-9a-f]{64})/.exec(drafted.stdout + drafted.stderr)!
    await max("change", "confirm", id, digest)
    await expect.poll(() => service.asked.length, { timeout: 60_000 }).toBe(1)
    expect(JSON.parse(service.asked[0]!.body)).toMatchObject({ data: { change: id, link: `${publicUrl}/inbox/${id}` } })
    await expect.poll(async () => (await max("change", "webhook")).stdout, { timeout: 60_000 }).toContain("1 told, 0 waiting, 0 failed") // prettier-ignore
    expect((await max("doctor")).stdout).toContain("1 webhook tells approvers.")
  } finally {
    server.end("SIGTERM")
    await server.ended
  }
  expect(await max("change", "webhook", "remove")).toMatchObject({ code: 0 })
  expect((await max("change", "webhook")).stdout).toContain("There is no webhook")
})
