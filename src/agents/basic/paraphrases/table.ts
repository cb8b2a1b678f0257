/** Shapes of a question, with the shorter question that means the same: what is captured stands there as it was said. */
export type Paraphrases = ReadonlyArray<readonly [shapes: ReadonlyArray<string>, means: string]>

export const WE = "(i|we|you)"

/** People who aren't named. */
export const ANYONE = "(anybody|anyone|someone|somebody|people|any person|any people|a person|any of the people)"
