/** Short references to traces that a person can read aloud. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The first 20 bits of a trace id (32 hexadecimal digits) as four characters of Crockford's base32. */
export const shortReference = (traceId: string): string => {
  const bits = Number.parseInt(traceId.slice(0, 5), 16)
  return [15, 10, 5, 0].map((shift) => ALPHABET[(bits >> shift) & 31]).join("")
}
