/** The short reference that a person can read out: four letters and digits made of a trace's id. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** Four characters of Crockford's base32 from the first 20 bits of a trace id (32 hexadecimal digits). */
export const shortReference = (traceId: string): string => {
  const bits = Number.parseInt(traceId.slice(0, 5), 16)
  return [15, 10, 5, 0].map((shift) => ALPHABET[(bits >> shift) & 31]).join("")
}
