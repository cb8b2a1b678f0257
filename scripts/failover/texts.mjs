/** Text messages of a load: a carrier that accepts every text, and signed webhooks of messages to the organization's number. */
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { join } from "node:path"
import twilio from "twilio"

const ACCOUNT = `AC${"0123456789abcdef".repeat(2)}`
const TOKEN = "the token of the load's carrier"
const OURS = "+15125550100"
const HOST = "max.example.com"
const PATH = "/v1/sms/twilio"

export const openTexts = async (home) => {
  const carrier = createServer((asked, response) => {
    asked.resume()
    response.writeHead(201, { "content-type": "application/json" })
    response.end(JSON.stringify({ sid: `SM${randomBytes(16).toString("hex")}`, status: "queued" }))
  })
  await new Promise((resolve) => carrier.listen(0, "127.0.0.1", resolve))
  const token = join(home, "carrier-token")
  writeFileSync(token, TOKEN, { mode: 0o600 })
  return {
    env: { MAX_PUBLIC_URL: `https://${HOST}`, MAX_TWILIO_URL: `http://127.0.0.1:${carrier.address().port}` },
    /** The command that gives the organization its number. */
    command: ["sms", "add-number", OURS, "--account", ACCOUNT, "--token", `file:${token}`],
    /** Brings a message of a number without access, as Twilio does. */
    post: (address, id) =>
      new Promise((resolve) => {
        const params = {
          MessageSid: id,
          AccountSid: ACCOUNT,
          From: `+1801555${1000 + Math.floor(Math.random() * 9000)}`,
          To: OURS,
          Body: "who is Person Number 7?",
          NumMedia: "0"
        }
        const sent = request(new URL(PATH, address), {
          method: "POST",
          agent: false,
          headers: {
            host: HOST,
            "content-type": "application/x-www-form-urlencoded",
            "x-twilio-signature": twilio.getExpectedTwilioSignature(TOKEN, `https://${HOST}${PATH}`, params)
          }
        })
        sent.on("response", (response) => {
          let text = ""
          response.on("data", (chunk) => (text += chunk))
          response.on("end", () => resolve({ status: response.statusCode, text }))
        })
        sent.on("error", (error) => resolve({ status: 0, text: String(error) }))
        sent.end(String(new URLSearchParams(params)))
      }),
    close: () => carrier.close()
  }
}
