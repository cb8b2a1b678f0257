/** Lists of people to invite, over HTTP and by command: read like imports, shown before anything is done, all or none. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import type { InvitePreview } from "../../../src/wire/admin/people.ts"
import { administered } from "../../support/administered.ts"
import { runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { fileOf } from "../../support/imports.ts"
import { memberWithToken } from "../../support/members.ts"
import { sheetXml, workbook } from "../../support/xlsx.ts"

const scope = Scope.makeUnsafe()
let url: string
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url)
  atlas = await server.run(administered({ slug: "atlas" }))
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

type Content = string | Uint8Array<ArrayBuffer>

const send = (content: Content, options: object = {}, name = "list.csv", secret = atlas.admin.secret) => {
  const form = new FormData()
  form.set("options", JSON.stringify(options))
  form.set("file", new Blob([content]), name)
  return fetch(`${server.url}/v1/admin/people/invite/list`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: form
  })
}

const preview = async (content: Content, options: object = {}, name?: string): Promise<InvitePreview> => {
  const response = await send(content, options, name)
  expect(response.status).toBe(200)
  return (await response.json()) as InvitePreview
}

const detail = async (response: Response) => ((await response.json()) as { detail: string }).detail

const invite = (body: object, secret = atlas.admin.secret) =>
  ask(server.url, "/v1/admin/people/invite", {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, ...JSON_TYPE },
    body: JSON.stringify(body)
  })

const lines = (...of: ReadonlyArray<string>) => of.join("\n")

/** Everything that an invitation writes. */
const written = () =>
  server.run(
    Effect.flatMap(
      Database,
      ({ owner }) => owner`SELECT (SELECT count(*)::int FROM data.people) AS people,
        (SELECT count(*)::int FROM max.memberships) AS members, (SELECT count(*)::int FROM max.credentials) AS links,
        (SELECT count(*)::int FROM max.audit_log) AS events, (SELECT sum(epoch)::text FROM max.organizations) AS epoch`
    )
  )

describe("a list of people to invite", () => {
  it("is read by its headers, with names and roles, and changes nothing before it is invited", async () => {
    const before = await written()
    const list = lines(
      "Vollständiger Name;E-Mail-Adresse;Rolle;Notiz",
      '"Okoro, Nia";nia@atlas.example;member;x',
      "Bo Lind;bo@atlas.example;manager, member;",
      "Cy;cy@atlas.example;;"
    )
    expect(await preview(list, { roles: ["member"] })).toEqual({
      warnings: [],
      problems: [],
      people: [
        {
          place: "line 2",
          identifier: "nia@atlas.example",
          name: "Okoro, Nia",
          roles: ["member"],
          created: true,
          again: false
        },
        {
          place: "line 3",
          identifier: "bo@atlas.example",
          name: "Bo Lind",
          roles: ["manager", "member"],
          created: true,
          again: false
        },
        { place: "line 4", identifier: "cy@atlas.example", name: "Cy", roles: ["member"], created: true, again: false }
      ]
    })
    expect(await written()).toEqual(before)
  })

  it.each([
    ["English", "Full name,Mobile,Roles\nPia Phone,(801) 555-0171,member\n"],
    ["French", "Nom complet\tTéléphone portable\tRôle\nPia Phone\t+1 801 555 0171\tmember\n"],
    ["Spanish", "Nombre completo,Teléfono móvil,Rol\nPia Phone,801-555-0171,member\n"],
    ["JSONL", '{"name":"Pia Phone","phone":"801 555 0171","role":["member"]}\n']
  ])("can have headers in other words: %s", async (_, text) => {
    const { people, problems } = await preview(text, {}, text.startsWith("{") ? "list.jsonl" : "list.csv")
    expect(problems).toEqual([])
    expect(people).toMatchObject([{ name: "Pia Phone", roles: ["member"], created: true }])
  })

  it("can be a spreadsheet, whose rows are named", async () => {
    const sheet = workbook({
      People: sheetXml([
        ["Name", "E-mail", "Role"],
        ["Nia Okoro", "nia@atlas.example", "member"],
        ["Ida", "", "member"]
      ])
    })
    const { people, problems } = await preview(new Uint8Array(sheet), {}, "list.xlsx")
    expect(people).toMatchObject([{ place: "row 2", name: "Nia Okoro" }])
    expect(problems).toEqual(["row 3: there is no e-mail address or phone number."])
  })

  it("is refused with all its problems at once, each with its line, and duplicates with both lines", async () => {
    const before = await written()
    const list = lines(
      "name,e-mail,role",
      "Nia,nia@atlas.example,member",
      "X,not an address,member",
      "Y,,member",
      `Lena,lena@${atlas.host},member`,
      "N2,NIA@atlas.example,member",
      "Z,z@atlas.example,chief",
      "W,w@atlas.example,",
      "V,v@atlas.example,member,too,many"
    )
    const { people, problems } = await preview(list)
    expect(problems.toSorted()).toEqual([
      'line 3: "not an address" is neither an e-mail address nor a phone number.',
      "line 4: there is no e-mail address or phone number.",
      `line 5: "lena@${atlas.host}" is a member already.`,
      'line 6: "NIA@atlas.example" is in the list twice: it is "nia@atlas.example" of line 2.',
      'line 7: There is no role "chief". The policy has: admin, member, auditor, manager.',
      'line 8: "w@atlas.example" has no role.',
      "line 9: 5 cells, but the header has 3"
    ])
    expect(people.map(({ place }) => place)).toEqual(["line 2"])
    expect(await written()).toEqual(before)
  })

  it("is invited as it was shown: each person with the roles of their line, all or none", async () => {
    const { people } = await preview("name,email,role\nUma,uma@atlas.example,manager\nOla,ola@atlas.example,\n", {
      roles: ["member"]
    })
    const shown = people.map(({ identifier, name, roles }) => ({ identifier, name, roles }))
    const before = await written()
    const refused = await invite({ people: [...shown, { identifier: "x@atlas.example", roles: ["chief"] }] })
    expect(refused.status).toBe(409)
    expect(await written()).toEqual(before)
    const sent = await invite({ people: shown })
    expect(sent.status, sent.text).toBe(200)
    const rolesOf = ({ id }: { readonly id: string }) =>
      ask(server.url, `/v1/admin/people/${id}`, { headers: { authorization: `Bearer ${atlas.admin.secret}` } })
    const invited = await Promise.all(sent.json.invitations.map(rolesOf))
    expect(invited.map(({ json }) => [json.name, json.roles, json.state])).toEqual([
      ["Uma", ["manager"], "invited"],
      ["Ola", ["member"], "invited"]
    ])
    // A second list says that the earlier link would end.
    const again = await preview("email,role\numa@atlas.example,member\n")
    expect(again.people).toMatchObject([{ again: true, created: false, roles: ["member"] }])
  })

  it("never gives or takes a power that its administrator lacks, by a line or by inviting an invited person again", async () => {
    const clerk = await server.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const policy = JSON.parse((yield* policies.current(atlas.organization)).document)
        policy.roles.clerk = { inherits: ["member"], administers: ["members"] }
        yield* policies.publish(atlas.organization, JSON.stringify(policy), "operator")
        return (yield* memberWithToken(atlas.organization, `clerk@${atlas.host}`, ["clerk"], ["admin"])).token
      })
    )
    const raising = "email,role\nfirst@atlas.example,member\nsecond@atlas.example,admin\n"
    const refused = await send(raising, {}, "list.csv", clerk)
    expect([refused.status, await detail(refused)]).toEqual([403, expect.stringContaining("the role admin")])
    const people = [{ identifier: "second@atlas.example", roles: ["admin"] }]
    expect((await invite({ people, roles: ["member"] }, clerk)).status).toBe(403)
    expect((await invite({ people })).status).toBe(200)
    const lowering = { people: [{ identifier: "second@atlas.example" }], roles: ["member"] }
    expect((await invite(lowering, clerk)).status).toBe(403)
  })

  it("needs the power over members, before the list is read", async () => {
    for (const secret of [atlas.auditor.secret, atlas.lena.secret]) {
      const refused = await send("no,addresses\nx,y\n", {}, "list.csv", secret)
      expect([refused.status, await detail(refused)]).toEqual([403, expect.stringMatching(/names members|admin/)])
    }
  })

  it("is refused without a column of addresses, without people, with too many, or with another shape", async () => {
    const refused = await send("name,role\nNia,member\n")
    expect([refused.status, await detail(refused)]).toEqual([409, expect.stringContaining("no column with e-mail")])
    expect(await preview("email,role\n")).toEqual({ warnings: [], people: [], problems: ["The list has no people."] })
    const many = lines("email,role", ...Array.from({ length: 201 }, (_, index) => `p${index}@atlas.example,member`))
    const tooMany = await send(many)
    expect([tooMany.status, await detail(tooMany)]).toEqual([409, "list.csv has more than 200 people."])
    expect((await preview(lines(...many.split("\n").slice(0, -1)))).people).toHaveLength(200)
    expect((await send("email\nx@atlas.example\n", { roles: [] })).status).toBe(400)
    expect((await send("email\nx@atlas.example\n", { other: 1 })).status).toBe(400)
    const none = await send("")
    expect(none.status).toBe(409)
  })
})

describe("max member invite --from", () => {
  const run = (...args: ReadonlyArray<string>) =>
    runMax(["member", "invite", "--org", "atlas", ...args], { DATABASE_URL: url })

  it("shows the same preview and the same problems, and invites the list", async () => {
    const file = fileOf("list.csv", "Name,E-mail,Role\nNia Okoro,nia@atlas.example,member\nBo,bo@atlas.example,\n")
    const page = await preview("Name,E-mail,Role\nNia Okoro,nia@atlas.example,member\nBo,bo@atlas.example,\n", {
      roles: ["member"]
    })
    const before = await written()
    const dry = await run("--from", file, "--role", "member", "--dry-run", "--json")
    expect(JSON.parse(dry.stdout)).toEqual(page.people)
    const refused = await run("--from", file)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('line 3: "bo@atlas.example" has no role.')
    expect(await written()).toEqual(before)
    const done = await run("--from", file, "--role", "member", "--json")
    expect(JSON.parse(done.stdout)).toMatchObject([
      {
        identifier: "nia@atlas.example",
        created: true,
        roles: ["member"],
        link: expect.stringContaining("/sign-in#max_")
      },
      { identifier: "bo@atlas.example", created: true, roles: ["member"] }
    ])
    expect((await run("x@atlas.example", "--from", file)).code).toBe(2)
    expect((await run("x@atlas.example")).code).toBe(2)
    expect((await run("--role", "member")).code).toBe(2)
  })
})
