/** Words that belong to the carrier: it answers them itself, and to Max they are never a question and never a yes. */

const STOP = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
const START = new Set(["START", "YES", "UNSTOP"])
const HELP = new Set(["HELP", "INFO"])

export type Keyword = "stop" | "start" | "help"

/** The carrier's word that a message is, if it is nothing else. */
export const keywordOf = (body: string): Keyword | undefined => {
  const word = body
    .normalize("NFKC")
    .replace(/^[\s"'.!]+|[\s"'.!]+$/g, "")
    .toUpperCase()
  return STOP.has(word) ? "stop" : START.has(word) ? "start" : HELP.has(word) ? "help" : undefined
}
