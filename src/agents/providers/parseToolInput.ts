/** Parses a tool call's input; undefined unless it is a JSON object. Empty input is an empty object. */
export const parseToolInput = (json: string): unknown => {
  if (json.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
