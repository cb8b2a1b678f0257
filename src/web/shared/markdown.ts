/**
 * Renders a model's Markdown as inert HTML. marked produces the markup; DOMPurify removes everything but text elements and
 * returns a TrustedHTML value, which the page's Trusted Types policy requires. HTML in the text is escaped, an image becomes
 * its description, and a link shows its target.
 */
import createPurifier from "dompurify"
import { Marked, type Tokens } from "marked"

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const WEB = /^https?:\/\/[^\s<>"']+$/i
const MAIL = /^mailto:[^\s<>"'?@]+@[^\s<>"'?]+$/i

/** The targets that a link may have: web pages, and mail without parameters. */
const allowedTarget = (href: string): string | undefined => (WEB.test(href) || MAIL.test(href) ? href : undefined)

/** Phone numbers keep their left-to-right order inside right-to-left text. */
const numbers = (text: string): string =>
  text.replace(/\+?\d(?:[\s()./-]{0,3}\d){6,}/g, (number) => `<bdi dir="ltr">${number}</bdi>`)

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    text(token: Tokens.Text | Tokens.Escape) {
      const inner = "tokens" in token && token.tokens !== undefined ? token.tokens : undefined
      return inner === undefined ? numbers(escaped(token.text)) : this.parser.parseInline(inner)
    },
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ text }: Tokens.Image) => escaped(text),
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
    heading({ depth, tokens }: Tokens.Heading) {
      // The page's h2 is the question, so headings in the answer start at h3.
      const level = Math.min(6, depth + 2)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`
    },
    link({ href, text, tokens }: Tokens.Link) {
      const to = allowedTarget(href)
      if (to === undefined) return this.parser.parseInline(tokens)
      const shown = escaped(to.replace(/^mailto:/i, ""))
      const label =
        text === href || `mailto:${text}` === href || `http://${text}` === href
          ? ""
          : `${this.parser.parseInline(tokens)} `
      return `${label}<a href="${escaped(to)}">${shown}</a>`
    }
  }
})

const purifier = createPurifier(window)
const BLOCKS = new Set(["P", "LI", "TD", "TH", "BLOCKQUOTE", "H3", "H4", "H5", "H6"])

purifier.addHook("afterSanitizeAttributes", (node) => {
  // Each block gets its own writing direction.
  if (BLOCKS.has(node.tagName)) node.setAttribute("dir", "auto")
  if (node.tagName !== "A") return
  node.setAttribute("rel", "noopener noreferrer nofollow")
  node.setAttribute("target", "_blank")
})

const ALLOWED = {
  ALLOWED_TAGS: "p br hr bdi strong em del code pre blockquote ul ol li h3 h4 h5 h6 table thead tbody tr th td a".split(
    " "
  ),
  ALLOWED_ATTR: ["dir", "href", "start"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true as const
}

/** The markup of one part of a text, for `innerHTML`. */
export const toMarkup = (text: string): string =>
  purifier.sanitize(marked.parse(text, { async: false }), ALLOWED) as unknown as string

/** Lines that continue a list or an indented block, even after empty lines. */
const CONTINUES = /^(?:\s|[-*+]\s|\d+[.)]\s)/

/** Splits a text into parts that are rendered separately; as the text grows, only the last part changes. */
export const partsOf = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let start = 0
  let fenced = false
  for (const match of text.matchAll(/^(`{3,}|~{3,}).*$|\n{2,}/gm)) {
    if (match[1] !== undefined) {
      fenced = !fenced
      continue
    }
    const end = match.index + match[0].length
    if (fenced || end >= text.length || CONTINUES.test(text.slice(end, end + 12))) continue
    parts.push(text.slice(start, end))
    start = end
  }
  parts.push(text.slice(start))
  return parts
}
