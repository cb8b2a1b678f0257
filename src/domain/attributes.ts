/** What rules compare with a principal's attributes. */
export type AttributeValue = string | number | boolean
