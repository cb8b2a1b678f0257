/** Texts of the chat page that several parts need. */

/** The text, cut after so many characters. */
export const cut = (text: string, most = 200): string => {
  const all = [...text]
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : text
}

/** Such as "a, b and c". */
export const listed = (words: ReadonlyArray<string>, last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)!}`
