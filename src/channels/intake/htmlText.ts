/** The text of an e-mail that has only HTML, without what it quotes. Each character is read once. */

/** Elements whose content is no text. */
const SKIPPED: ReadonlySet<string> = new Set(["head", "script", "style", "template", "textarea", "title"])
/** Elements that begin a line. */
const LINES: ReadonlySet<string> = new Set(
  "address article aside br dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tr ul".split(
    " "
  )
)
const CELLS: ReadonlySet<string> = new Set(["td", "th"])
/** Quotes earlier messages, like lines that begin with `>`. */
const QUOTE = "blockquote"

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
  ["ndash", "–"],
  ["mdash", "—"],
  ["hellip", "…"],
  ["lsquo", "‘"],
  ["rsquo", "’"],
  ["ldquo", "“"],
  ["rdquo", "”"],
  ["euro", "€"],
  ["pound", "£"],
  ["auml", "ä"],
  ["ouml", "ö"],
  ["uuml", "ü"],
  ["Auml", "Ä"],
  ["Ouml", "Ö"],
  ["Uuml", "Ü"],
  ["szlig", "ß"],
  ["eacute", "é"],
  ["egrave", "è"],
  ["agrave", "à"],
  ["ccedil", "ç"],
  ["ntilde", "ñ"]
])

const decoded = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, (entity, name: string) => {
    if (!name.startsWith("#")) return ENTITIES.get(name) ?? entity
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : entity
  })

const nameAt = (lower: string, at: number): string => /^[a-z][a-z0-9]{0,15}/.exec(lower.slice(at, at + 16))?.[0] ?? ""

export const htmlText = (html: string): string => {
  // ASCII only, so that positions stay the same.
  const lower = html.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const parts: Array<string> = []
  let quotes = 0
  let at = 0
  const add = (text: string) => void (quotes === 0 && parts.push(text))
  while (at < html.length) {
    const open = html.indexOf("<", at)
    add(decoded(html.slice(at, open < 0 ? html.length : open)).replace(/\s+/g, " "))
    if (open < 0) break
    const isComment = html.startsWith("<!--", open)
    const closes = lower[open + 1] === "/"
    const name = nameAt(lower, open + (closes ? 2 : 1))
    if (!isComment && !closes && name === "" && lower[open + 1] !== "!" && lower[open + 1] !== "?") {
      // A lone "<" is text.
      add("<")
      at = open + 1
      continue
    }
    const isSkipped = !closes && SKIPPED.has(name)
    const end = isComment ? "-->" : isSkipped ? `</${name}` : ">"
    const found = lower.indexOf(end, open + 1)
    // What isn't closed hides the rest.
    if (found < 0) break
    at = found + end.length
    if (isSkipped) {
      const closed = html.indexOf(">", at)
      if (closed < 0) break
      at = closed + 1
    } else if (name === QUOTE) quotes = Math.max(0, quotes + (closes ? -1 : 1))
    else if (LINES.has(name)) add("\n")
    else if (CELLS.has(name)) add(" ")
  }
  return parts
    .join("")
    .split("\n")
    .map((line) => line.replace(/ {2,}/g, " ").trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}
