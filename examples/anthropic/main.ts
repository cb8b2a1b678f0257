/** A custom agent loop with Anthropic's SDK and Max's three tools, for one person. */
import Anthropic from "@anthropic-ai/sdk"
import { Max, SYSTEM_PROMPT, toolDefinitions } from "max-agent"
import { anthropicDefinitions } from "max-agent/anthropic"

const max = await Max.open({ databaseUrl: process.env["DATABASE_URL"], organization: "harbor" })
const rosa = max.as({ email: "rosa.delgado@harbor.example" })
const client = new Anthropic()

const messages: Array<Anthropic.MessageParam> = [
  { role: "user", content: process.argv[2] ?? "How many people are there?" }
]
for (let step = 0; step < 6; step++) {
  const message = await client.messages
    .stream({
      model: "claude-haiku-5-5",
      max_tokens: 1000,
      system: SYSTEM_PROMPT,
      tools: anthropicDefinitions(toolDefinitions),
      messages
    })
    .finalMessage()
  const results: Array<Anthropic.ToolResultBlockParam> = []
  for (const block of message.content) {
    if (block.type === "text") console.log(block.text)
    if (block.type !== "tool_use") continue
    const { failed, text } = await rosa.callTool(block.name, block.input)
    console.log(`${block.name}: ${text}`)
    results.push({ type: "tool_result", tool_use_id: block.id, content: text, is_error: failed })
  }
  if (results.length === 0) break
  messages.push({ role: "assistant", content: message.content }, { role: "user", content: results })
}
await max.close()
