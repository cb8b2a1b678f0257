/** True if the terminal's locale encodes text as UTF-8. */
export const isUtf8 = ({ LANG, LC_ALL, LC_CTYPE } = process.env): boolean =>
  /utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== "") ?? "")
