/** The policy file: its shape, and a printer whose output is easy to read and to diff. */
import type { Action, Power } from "./Policy.ts"

export interface RuleDocument {
  readonly id: string
  readonly effect: "allow" | "deny"
  readonly role: string
  readonly action: Action
  readonly name?: string
  readonly type: string
  readonly columns: "*" | ReadonlyArray<string>
  readonly where?: unknown
  readonly becomes?: unknown
  readonly notBefore?: string
  readonly notAfter?: string
}

export interface PolicyDocument {
  readonly $schema?: string
  readonly version: 1
  readonly roles: Readonly<
    Record<string, { readonly inherits?: ReadonlyArray<string>; readonly administers?: boolean | ReadonlyArray<Power> }>
  >
  readonly rules: ReadonlyArray<RuleDocument>
  readonly confirm?: ReadonlyArray<unknown>
  readonly tests?: ReadonlyArray<unknown>
}

const WIDTH = 120

/** Prints a policy file: values that fit on a line stay on it, others take one line per part. */
export const printPolicy = (document: PolicyDocument): string => `${print(document, "")}\n`

const print = (value: unknown, indent: string): string => {
  const line = inline(value)
  if (indent.length + line.length <= WIDTH && indent !== "") return line
  if (typeof value !== "object" || value === null) return line
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((part) => `${inner}${print(part, inner)}`)
    : Object.entries(value).map(([key, part]) => `${inner}${JSON.stringify(key)}: ${print(part, inner)}`)
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"]
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")}\n${indent}${close}`
}

const inline = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${inline(part)}`)
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`
}
