/** A call's input as a model wrote it, or `undefined` when it isn't a JSON object; no input at all is an empty one. */
export const parseToolInput = (json: string): unknown => {
  if (json.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
