/** An Ax program that answers with Max's three tools for one person. */
import { ai, type AxAIArgs } from "@ax-llm/ax"
import { Max } from "max-agent"
import { maxProgram } from "max-agent/ax"

const max = await Max.open({ databaseUrl: process.env["DATABASE_URL"], organization: "harbor" })
const rosa = max.as({ email: "rosa.delgado@harbor.example" })

/** Ax has a fixed address for Anthropic; this replaces it for a proxy or a test. */
const elsewhere: typeof fetch = (input, init) => {
  const base = process.env["ANTHROPIC_BASE_URL"]
  const url = new URL(input instanceof Request ? input.url : input)
  return fetch(base === undefined ? input : new URL(url.pathname + url.search, base), init)
}

const service = ai({
  name: "anthropic",
  apiKey: process.env["ANTHROPIC_API_KEY"] ?? "",
  config: { model: "claude-haiku-5-5" },
  options: { fetch: elsewhere }
} as unknown as AxAIArgs<string>)

const program = maxProgram(async (name, input) => {
  const outcome = await rosa.callTool(name, input)
  console.log(`${name}: ${outcome.text}`)
  return outcome
})
const { reply } = await program.forward(
  service,
  { question: process.argv[2] ?? "How many people are there?" },
  { stream: true }
)
console.log(reply)
await max.close()
