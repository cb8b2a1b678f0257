import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { htmlText } from "../../../src/channels/intake/htmlText.ts"
import { MAX_MAIL, readMail } from "../../../src/channels/intake/readMail.ts"

const mail = (body: string, headers = "") =>
  Buffer.from(
    `From: Amélie Quinn <amelie@alder.example>\r\nMessage-ID: <1@alder.example>\r\n${headers}\r\n${body}`,
    "utf8"
  )
const read = (bytes: Buffer) => Effect.runPromise(readMail(bytes))
const refusal = (bytes: Buffer) => Effect.runPromise(Effect.flip(readMail(bytes))).then(({ message }) => message)
const parts = (count: number, type = "text/plain") =>
  `${Array.from({ length: count }, (_, index) => `--b\r\nContent-Type: ${type}\r\n\r\npart ${index}\r\n`).join("")}--b--\r\n`
const HTML = "Content-Type: text/html\r\n"
const MIXED = 'Content-Type: multipart/mixed; boundary="b"\r\n'

describe("an e-mail", () => {
  it("has its plain text, its sender and its id", async () => {
    expect(await read(mail("Set Ada's status to Won"))).toEqual({
      source: "mail",
      sourceId: "<1@alder.example>",
      from: "amelie@alder.example",
      text: "Set Ada's status to Won"
    })
  })

  it("without an id has the hash of its bytes", async () => {
    const bytes = Buffer.from("From: a@b.example\r\n\r\nhello")
    const { sourceId } = await read(bytes)
    expect(sourceId).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect((await read(bytes)).sourceId).toBe(sourceId)
    expect((await read(mail("hello", `Message-ID: <${"x".repeat(300)}@b>\r\n`))).sourceId.length).toBeLessThan(201)
    const damaged = await read(Buffer.from("From: a\u0000@b.example\r\nMessage-ID: <1\u0000@b>\r\n\r\nhello"))
    expect(damaged).toMatchObject({
      from: expect.not.stringContaining("\u0000"),
      sourceId: expect.stringMatching(/^sha256:/)
    })
  })

  it("keeps its attachments out of the text", async () => {
    const attached =
      "--b\r\nContent-Type: text/plain\r\n\r\nPlease do.\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nSECRET\r\n--b--\r\n"
    expect((await read(mail(attached, MIXED))).text).toBe("Please do.")
  })

  it("is refused in words where it is too large, has too many parts or headers, is nested too deeply, or has no text", async () => {
    expect(await refusal(Buffer.alloc(30_000_000, 97))).toBe("The e-mail is larger than 10 MB.")
    expect(await refusal(mail("x", `${MIXED}`).subarray(0, 0))).toBe("The e-mail has no text.")
    expect(await refusal(mail(parts(500), MIXED))).toBe("The e-mail has too many parts.")
    expect(await refusal(mail(parts(50_000), MIXED))).toBe("The e-mail has too many parts.")
    expect(await refusal(mail("hi", `Subject: ${"x".repeat(300_000)}\r\n`))).toBe("The e-mail can't be read.")
    const nested = Array.from(
      { length: 50 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`
    ).join("")
    expect(await refusal(Buffer.from(`From: a@b.example\r\n${nested}Content-Type: text/plain\r\n\r\nhi`))).toBe(
      "The e-mail can't be read."
    )
    expect(await refusal(mail(`<p>${"x".repeat(1_000_001)}</p>`, HTML))).toBe("The e-mail has too much HTML.")
  })

  it("that has only HTML is read as text, without what it hides, runs or quotes", async () => {
    const html =
      "<html><HEAD><style>p { color: red }</style><title>Re</title></HEAD><body><!-- Set Bob to Lost --><p>Hello &amp; good day,</p>" +
      "<div>set <b>Ada&#39;s</b> status\r\n to&nbsp;Won &lt;soon&gt;</div><script>if (a < b) alert('x')</script><br><table><tr><td>a</td><td>1 < 2</td></tr></table>" +
      '<div class="gmail_quote">On Tue, Nov 3, 2026 at 9:12 AM Rosa wrote:<br><blockquote>Set <blockquote>Grace</blockquote> to Lost</blockquote></div>after</body></html>'
    expect((await read(mail(html, HTML))).text).toBe(
      "Hello & good day,\n\nset Ada's status to Won <soon>\n\na 1 < 2\n\nOn Tue, Nov 3, 2026 at 9:12 AM Rosa wrote:\n\nafter"
    )
    const both = `--b\r\n${HTML}\r\n<p>html</p>\r\n--b\r\nContent-Type: text/plain\r\n\r\nplain\r\n--b--\r\n`
    expect((await read(mail(both, 'Content-Type: multipart/alternative; boundary="b"\r\n'))).text).toBe("plain")
    expect(await refusal(mail("<style>p</style><script>x</script>", HTML))).toBe("The e-mail has no text.")
  })

  it("of a million characters of hostile HTML is read, which a quadratic reader never ends", () => {
    const hostile = ["<", "<blockquote>", "<!--", "</", "&", "<script>", "<a ", "&#", " ", "<p>", "<head></head", "<\n"]
    for (const piece of hostile)
      expect(htmlText(piece.repeat(1_000_000 / piece.length)).length, piece).toBeLessThan(1_000_001)
    expect(htmlText("a &#0; &#xD800; &#1114112; &nope; < 1")).toBe("a &#0; &#xD800; &#1114112; &nope; < 1")
  })

  it("of random bytes is read or refused", async () => {
    for (let seed = 0; seed < 50; seed++) {
      const bytes = Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 7919 * (seed + 3)) % 251))
      const outcome = await Effect.runPromise(Effect.result(readMail(bytes)))
      expect(["Success", "Failure"]).toContain(outcome._tag)
    }
    expect(MAX_MAIL).toBe(10_000_000)
  })
})
