/** The value of a principal's attribute, which rules compare with columns. */
export type AttributeValue = string | number | boolean
