/** Max in an application without Effect: promises, and the application asserts the signed-in person. */
import express from "express"
import { Max } from "max-agent"

const max = await Max.open({ databaseUrl: process.env["DATABASE_URL"], organization: "harbor" })
const app = express().use(express.json())

/** Your own sessions. Roles come from here, never from the request. */
const SESSIONS = new Map([
  ["s-rosa", { email: "rosa.delgado@harbor.example", role: "rep" }],
  ["s-ingrid", { email: "ingrid.dahl@harbor.example", role: "manager" }]
])

app.post("/ask", (request, response, next) => {
  const session = SESSIONS.get(request.headers.cookie?.replace("session=", "") ?? "")
  if (session === undefined) return void response.status(401).end()
  const person = Max.principal({
    organization: "harbor",
    subject: { email: session.email },
    roles: [session.role]
  })
  void max
    .as(person)
    .ask(String(request.body?.question))
    .then(({ references, text }) => response.json({ text, references }))
    .catch(next)
})

const STATUS: Readonly<Record<string, number>> = {
  NotAdmitted: 403,
  InvalidInput: 400,
  UnknownName: 404,
  Unavailable: 503
}
app.use(
  (
    error: { _tag?: string; message: string },
    _: express.Request,
    response: express.Response,
    next: express.NextFunction
  ) => {
    const status = STATUS[error._tag ?? ""]
    if (status === undefined) return next(error)
    response.status(status).json({ message: error.message })
  }
)

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => void max.close()))
