/** Opt-out and help keywords. The carrier answers them itself; Max never takes one for a question or a confirmation. */

const STOP = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
const START = new Set(["START", "YES", "UNSTOP"])
const HELP = new Set(["HELP", "INFO"])

/** The carrier's longest message is 1,600 characters. */
const MAX_BODY = 1600

export type Keyword = "stop" | "start" | "help"

/** The keyword that makes up the whole message, if any. */
export const keywordOf = (body: string): Keyword | undefined => {
  const word = body
    .slice(0, MAX_BODY)
    .normalize("NFKC")
    .split(/[\s"'.!]+/)
    .filter((part) => part !== "")
    .slice(0, 2)
    .join(" ")
    .toUpperCase()
  return STOP.has(word) ? "stop" : START.has(word) ? "start" : HELP.has(word) ? "help" : undefined
}
