/**
 * A neighbour: a member of another organization on the attacked server, who looks a person up at a steady pace, whether the
 * last answer has come or not. In a process of its own, so that the attacker's work isn't measured.
 */
import { fork } from "node:child_process"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"

/** Milliseconds between two lookups. */
const PACE = 40

const lookUp = (url, token, agent) =>
  new Promise((resolve) => {
    const body = JSON.stringify({
      entityTypeId: "people",
      filters: [{ columnId: "email", op: "eq", value: "neighbour@next.example" }]
    })
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length
    }
    const sent = request(new URL("/v1/tools/findEntities", url), { method: "POST", headers, agent })
    sent.on("response", (answer) => {
      let text = ""
      answer.on("data", (chunk) => (text += chunk))
      answer.on("end", () => resolve(answer.statusCode === 200 && text.includes("Nell Neighbour")))
      answer.on("error", () => resolve(false))
    })
    sent.on("error", () => resolve(false))
    sent.end(body)
  })

/** The child: measures in the phase that the parent names, and reports the times when asked. */
const measure = (url, token) => {
  const agent = new Agent({ keepAlive: true })
  const times = { alone: [], attacked: [] }
  let phase
  let failed = 0
  setInterval(async () => {
    const [began, from] = [phase, performance.now()]
    const answered = await lookUp(url, token, agent)
    if (began === undefined) return
    times[began].push(performance.now() - from)
    if (!answered) failed += 1
  }, PACE)
  process.on("message", (message) => {
    if (message === "report") process.send({ times, failed })
    else phase = message.phase
  })
  process.on("disconnect", () => process.exit())
}

const percentile = (times, share) => times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
const summary = (times) => ({
  lookups: times.length,
  p50: percentile(times, 0.5),
  p99: percentile(times, 0.99),
  longest: Math.max(...times)
})

export const openNeighbour = ({ neighbour, url }) => {
  const child = fork(fileURLToPath(import.meta.url), [url, neighbour])
  return {
    phase: (phase) => child.send({ phase }),
    report: () =>
      new Promise((resolve) => {
        child.once("message", ({ failed, times }) =>
          resolve({ failed, alone: summary(times.alone), attacked: summary(times.attacked) })
        )
        child.send("report")
      }),
    close: () => child.disconnect()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) measure(process.argv[2], process.argv[3])
