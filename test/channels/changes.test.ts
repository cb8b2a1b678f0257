/** Changes at the terminal: in a pipe nothing is asked, at a terminal the person decides. */
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { program, runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-change-"))
let env: Record<string, string> = {}
let databaseUrl: string
const ids: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)
const as = (who: string, ...args: ReadonlyArray<string>) => runMax(args, { ...env, MAX_AS: `${who}@atlas.example` })

const HOSTILE = `Ada\u202E \u2066(approved)\u2069 \u001b[31m<b>x</b> ${"x".repeat(300)}`

beforeAll(async () => {
  databaseUrl = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = {
    DATABASE_URL: databaseUrl,
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_WRITES_PER_MINUTE: "1000",
    MAX_DESTRUCTIVE_PER_HOUR: "1000",
    MAX_CALLS_PER_PERSON: "1000",
    MAX_AS: "admin@atlas.example"
  }
  const people = join(folder, "people.jsonl")
  const names = ["Ada Lovelace", "Bob Ek", "Bob Ek", "Cy", "Dee", "Eve", "Fay", "Gil", "Hal"]
  const lines = names.map((name, index) => JSON.stringify({ id: String(index + 1), name, status: "Lead" }))
  writeFileSync(people, lines.join("\n"))
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
    ["import", people, "--type", "people"],
    ["member", "add", "admin@atlas.example", "--role", "admin", "--create", "--name", "Ann Admin"],
    ["member", "add", "other@atlas.example", "--role", "admin", "--create", "--name", "Otto Other"]
  ]) {
    expect(await max(...args), args.join(" ")).toMatchObject({ code: 0 })
  }
  const found = JSON.parse((await max("find", "people", "--limit", "25", "--json")).stdout)
  for (const { displayName, entityId } of found.entities) ids[displayName] = entityId
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const statusOf = async (name: string) => {
  const { stdout } = await max("find", "people", `id=${ids[name]}`, "--select", "status", "--json")
  return JSON.parse(stdout).entities[0]?.columns?.status ?? JSON.parse(stdout).entities[0]?.status
}
/** The id and digest in the command that a pipe prints. */
const printed = (text: string) => {
  const [, id, digest] = /max change confirm ([a-z]+) ([0-9a-f]{64})/.exec(text)!
  return { id: id!, digest: digest! }
}
const sql = <A>(use: (owner: any) => Effect.Effect<A, any>) => {
  const runtime = ManagedRuntime.make(
    Services.pipe(
      Layer.provideMerge(ConfiguredDatabase),
      Layer.provideMerge(Env.layerWith({ databaseUrl: Redacted.make(databaseUrl), lookupTimeout: 10_000 }))
    )
  )
  return runtime
    .runPromise(Effect.flatMap(Database, ({ owner }) => use(owner)) as Effect.Effect<A, any, any>)
    .finally(() => runtime.dispose())
}

/** Runs `max` at a terminal; each answer is typed when its question has appeared. */
const atTerminal = (args: ReadonlyArray<string>, answers: ReadonlyArray<readonly [RegExp, string]>, who = "admin") =>
  new Promise<string>((resolve, reject) => {
    const quoted = [process.execPath, program, ...args].map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ")
    const child = spawn("script", ["-qefc", quoted, "/dev/null"], {
      env: { ...process.env, ...env, MAX_AS: `${who}@atlas.example`, NO_COLOR: "1", TERM: "dumb" },
      stdio: ["pipe", "pipe", "pipe"]
    })
    let said = ""
    let next = 0
    let from = 0
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString()
      const [question, answer] = answers[next] ?? []
      if (question === undefined || !question.test(said.slice(from))) return
      next += 1
      from = said.length
      child.stdin.write(answer)
    })
    child.on("error", reject)
    child.on("close", () => resolve(said.replaceAll("\r", "")))
  })

describe("max change in a pipe", () => {
  it("prints the change in lines and the command that confirms it; nothing changes before", async () => {
    const proposed = await max("change", "people.update", ids["Ada Lovelace"]!, "status=Won", "phone=512-555-0142")
    expect(proposed).toMatchObject({ code: 0 })
    expect(proposed.stdout).toMatch(/^Change [a-z]+, proposed by Ann Admin \(terminal\)\n/)
    expect(proposed.stdout).toContain(
      "Change person: Ada Lovelace\n  - Status: Lead\n  + Status: Won\n  + Phone: 512-555-0142\nNothing has changed yet."
    )
    const { digest, id } = printed(proposed.stderr)
    expect(await statusOf("Ada Lovelace")).toBe("Lead")
    const shown = await max("change", "show", id)
    expect(shown.stdout).toContain(`To confirm it: max change confirm ${id} ${digest}`)
    const applied = await max("change", "confirm", id, digest)
    expect(applied).toMatchObject({ code: 0, stderr: "" })
    expect(applied.stdout).toContain(`To undo it: max change undo ${id}`)
    expect(await statusOf("Ada Lovelace")).toBe("Won")
    // Twice is once.
    expect((await max("change", "confirm", id, digest)).stdout).toBe(applied.stdout)

    expect((await max("change", "list")).stdout).toMatch(new RegExp(`${id} +applied +people.update +1 .* terminal`))
    const history = await max("change", "history", "people", ids["Ada Lovelace"]!)
    expect(history.stdout).toContain("  Status: Lead → Won\n")
    const undo = await max("change", "undo", id)
    expect(undo.stdout).toContain("  - Status: Won\n  + Status: Lead\n")
    const inverse = printed(undo.stderr)
    expect(await max("change", "confirm", inverse.id, inverse.digest)).toMatchObject({ code: 0 })
    expect(await statusOf("Ada Lovelace")).toBe("Lead")
  })

  it("with --json prints one document, and needs no terminal for a creation, a rejection or a withdrawal", async () => {
    const proposed = await max("change", "people.create", "name=Zed = Zee", "--key", "zed-1", "--json")
    const draft = JSON.parse(proposed.stdout)
    expect(draft).toMatchObject({ known: false, preview: { level: "once", steps: [{ displayName: "Zed = Zee" }] } })
    expect(
      JSON.parse((await max("change", "people.create", "name=Zed = Zee", "--key", "zed-1", "--json")).stdout)
    ).toMatchObject({
      known: true,
      changeId: draft.changeId
    })
    const rejected = await max("change", "reject", draft.changeId, "--json")
    expect(JSON.parse(rejected.stdout)).toEqual({ changeId: draft.changeId, state: "rejected" })
    const { id } = printed((await max("change", "people.update", ids["Cy"]!, "status=Won")).stderr)
    expect((await max("inbox")).stdout).toContain(`To decide: max change confirm ${id}, max change reject ${id}`)
    expect(await max("change", "withdraw", id)).toMatchObject({
      code: 0,
      stdout: "Nothing was changed: it is withdrawn.\n"
    })
    expect(JSON.parse((await max("inbox", "--json")).stdout)).toEqual([])
    expect((await max("inbox")).stdout).toBe("Nothing waits for you.\n")
  })

  it("asks for a deletion twice, the second time with the number of rows", async () => {
    const proposed = await max("change", "people.delete", ids["Dee"]!, ids["Eve"]!)
    expect(proposed.stdout).toContain("Delete person: Dee\n  - Name: Dee\n  - Status: Lead\n")
    const { digest, id } = printed(proposed.stderr)
    const first = await max("change", "confirm", id, digest)
    expect(first.stdout).toBe(
      `Nothing has changed yet. Confirm it again: max change confirm ${id} ${digest} --rows 2\n`
    )
    expect(await max("change", "confirm", id, digest, "--rows", "3")).toMatchObject({
      code: 2,
      stderr: "This changes 2 rows. Type that number to confirm it.\n"
    })
    await sql((owner) => owner`UPDATE max.changes SET yes_at = yes_at - interval '2 seconds' WHERE change_id = ${id}`)
    expect(await max("change", "confirm", id, digest, "--rows", "2")).toMatchObject({ code: 0 })
    expect(await statusOf("Dee")).toBeUndefined()
  })

  it("refuses bad input with one clear error, and confirms nothing that it shouldn't", async () => {
    const { digest, id } = printed((await max("change", "people.update", ids["Fay"]!, "status=Won")).stderr)
    const old = printed((await max("change", "people.update", ids["Gil"]!, "status=Won")).stderr)
    await sql((owner) => owner`UPDATE max.changes SET expires_at = clock_timestamp() WHERE change_id = ${old.id}`)
    const many = Array.from({ length: 26 }, (_, at) => `bb${"bcdfghjklmnpqrstvwxyz"[at % 21]}${at > 20 ? "b" : "c"}`)
    const update = (...words: ReadonlyArray<string>) => ["change", "people.update", ids["Fay"]!, ...words]
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number, string]> = [
      [["change", "people.update", ...many, "status=Won"], 2, "people.update takes at most 25 entityIds."],
      [update("name="), 2, "name can't be empty."],
      [update("owner=Bob Ek"), 2, `owner: several people fit "Bob Ek". Which one?\n  ${ids["Bob Ek"]!.slice(0, 3)}`],
      [update("nickname=F"), 6, 'There is no column "nickname" in people.'],
      [["change", "people.update", "zzzz", "status=Won"], 6, 'There is no person with the id "zzzz".'],
      [["change", "planets.create", "name=Mars"], 6, 'There is no action "planets.create".'],
      [["change", "confirm", id, "0".repeat(64)], 8, "This isn't the change that was shown. Look at it again."],
      [["change", "confirm", id], 2, `Pass the digest of what was shown: max change show ${id}`],
      [["change", "confirm", old.id, old.digest], 8, "This change has expired: nothing was changed. Propose it again."],
      [["change", "undo", id], 8, "Only an applied change can be undone."]
    ]
    for (const [args, code, line] of cases) {
      const ran = await max(...args)
      expect([ran.code, ran.stdout], args.join(" ")).toEqual([code, ""])
      expect(ran.stderr).toContain(line)
    }
    for (const args of [
      ["show", id],
      ["confirm", id, digest]
    ])
      expect(await as("other", "change", ...args)).toMatchObject({
        code: 6,
        stderr: "There is no change with that id.\n"
      })
    const member = await max("find", "people", "name=Ann Admin", "--json")
    const self = JSON.parse(member.stdout).entities[0].entityId
    expect(await max("change", "people.delete", self)).toMatchObject({
      code: 4,
      stderr: "Ann Admin is a member and can't be deleted: suspend the member instead.\n"
    })
    // The row changes between the proposal and the confirmation: said cell by cell.
    await sql((owner) => owner`UPDATE data.people SET status = 'Lost', status_k = 'lost' WHERE name = 'Fay'`)
    expect(await max("change", "confirm", id, digest)).toMatchObject({
      code: 8,
      stderr: "Status was Lead when you looked; it is Lost now. Nothing was changed.\n"
    })
  })

  it("shows a hostile name as one harmless line of at most 200 characters", async () => {
    const proposed = await max("change", "people.create", `name=${HOSTILE}`, "status=\u05d0\u05d1")
    // eslint-disable-next-line no-control-regex
    expect(proposed.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066]/)
    const title = proposed.stdout.split("\n").find((line) => line.startsWith("Add person: "))!
    expect(title.slice("Add person: ".length)).toHaveLength(200)
    // Text from right to left is isolated, so that it can't move what stands beside it.
    expect(proposed.stdout).toContain("  + Status: \u2068\u05d0\u05d1\u2069\n")
  })

  it("says when to try again and exits with 9 where a person has proposed too much", async () => {
    const limits = { ...env, MAX_DESTRUCTIVE_PER_HOUR: "1", MAX_AS: "other@atlas.example" }
    expect(await runMax(["change", "people.delete", ids["Hal"]!], limits)).toMatchObject({ code: 0 })
    expect(await runMax(["change", "people.delete", ids["Gil"]!], limits)).toMatchObject({
      code: 9,
      stdout: "",
      stderr: expect.stringMatching(/^At most 1 deletions an hour\. Try again in \d+ seconds\.\n$/)
    })
  })

  it("creates tokens with the scopes of changes, comma-separated", async () => {
    const made = await max(
      "token",
      "create",
      "admin@atlas.example",
      "--name",
      "sync",
      "--scope",
      "changes,confirm",
      "--json"
    )
    expect(JSON.parse(made.stdout).scopes).toEqual(["changes", "confirm"])
    expect(
      await max("token", "create", "admin@atlas.example", "--name", "x", "--scope", "changes,everything")
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no scope "everything".')
    })
  })
})

describe("max change at a terminal", () => {
  it("asks once, and changes something only for a yes", async () => {
    const declined = await atTerminal(["change", "people.update", ids["Hal"]!, "status=Won"], [[/\[y\/N\] /, "\n"]])
    expect(declined).toContain("Change it? [y/N]")
    expect(declined).toContain("Nothing was changed.")
    expect(await statusOf("Hal")).toBe("Lead")
    expect((await max("inbox")).stdout).not.toContain("Hal")
    const accepted = await atTerminal(["change", "people.update", ids["Hal"]!, "status=Won"], [[/\[y\/N\] /, "y\n"]])
    expect(accepted).toContain("To undo it: max change undo")
    expect(await statusOf("Hal")).toBe("Won")
  })

  it("asks a second, different question before a deletion", async () => {
    const remove = ["change", "people.delete", ids["Hal"]!]
    const yes = [/\[y\/N\] /, "y\n"] as const
    expect(await atTerminal(remove, [yes, [/Type 1 to delete this row: /, "y\n"]])).toContain("Nothing was changed.")
    expect(await statusOf("Hal")).toBe("Won")
    expect(await atTerminal(remove, [yes, [/Type 1 to delete this row: /, "1\n"]])).toContain("To undo it")
    expect(await statusOf("Hal")).toBeUndefined()
  })

  it("says who approves what another person must approve, and shows it in that person's inbox", async () => {
    const { policy: document } = JSON.parse((await max("policy", "show", "--json")).stdout)
    const file = join(folder, "policy.json")
    writeFileSync(
      file,
      JSON.stringify({
        ...document,
        confirm: [{ action: "update", type: "people", columns: ["owner"], by: "second", approvers: ["admin"] }]
      })
    )
    expect(await max("policy", "publish", file)).toMatchObject({ code: 0 })
    const said = await atTerminal(["change", "people.update", ids["Cy"]!, "owner=Ann Admin"], [[/\[y\/N\] /, "y\n"]])
    expect(said).toContain("Another person must approve this: role admin.")
    const id = /max change show ([a-z]+) to you/.exec(said)![1]!
    const inbox = await as("other", "inbox")
    expect(inbox.stdout).toContain(`Change ${id}, proposed by Ann Admin (terminal)`)
    expect(inbox.stdout).toContain("  + Owner: Ann Admin")
    expect((await max("inbox")).stdout).not.toContain(id)
    const approved = await atTerminal(["change", "confirm", id], [[/\[y\/N\] /, "yes\n"]], "other")
    expect(approved).toContain("To undo it")
    const history = await max("change", "history", "people", ids["Cy"]!)
    expect(history.stdout).toContain("Owner: empty → Ann Admin")
  })
})

describe("a draft of a conversation", () => {
  it("is shown after the answer of max ask and max chat, with the command that confirms it", async () => {
    const told = (await max("ask", 'set Ada Lovelace\'s status to "Paused"')).stdout
    expect(told.match(/Nothing has changed yet/g)).toHaveLength(1)
    expect(told).toMatch(/^It can be confirmed for \d/m)
    const asked = JSON.parse((await max("ask", 'set Cy\'s status to "Won"', "--json")).stdout)
    expect(asked.drafts).toMatchObject([{ state: "open", rows: 1 }])
    const { session } = asked
    const again = await max("ask", "--session", session, "who is Cy?")
    expect(again.stdout).toContain("Change person: Cy\n  - Status: Lead\n  + Status: Won\n")
    expect(again.stderr).toMatch(/To confirm it: max change confirm [a-z]+ [0-9a-f]{64}/)
    const json = JSON.parse((await max("ask", "--session", session, "who is Cy?", "--json")).stdout)
    expect(json.drafts).toMatchObject([{ state: "open", rows: 1 }])
    const chatted = await runMax(["chat", "--continue"], env, "who is Cy?\nwho is Cy?\n")
    expect(chatted.stdout.match(/Change person: Cy/g)).toHaveLength(1)
    expect(chatted.stderr).toContain("To confirm it: max change confirm")
    expect(await statusOf("Cy")).toBe("Lead")
    const decided = await atTerminal(
      ["chat", "--continue"],
      [
        [/Ctrl-D ends/, "who is Cy?\n"],
        [/\[y\/N\] /, "y\n"],
        [/To undo it/, "/quit\n"]
      ]
    )
    expect(decided).toContain("Change it? [y/N]")
    expect(await statusOf("Cy")).toBe("Won")
  })
})
