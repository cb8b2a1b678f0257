/** A local OData V2 service with purchase orders, in the manner of SAP's: ETags, deep inserts, `errordetails`, and RequestID. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Item {
  PurchaseOrderItem: string
  PurchaseOrderItemText: string
  Material: string
  OrderQuantity: string
  NetPriceAmount: string
  Plant: string
}
export interface Order {
  PurchaseOrder: string
  Supplier: string
  PaymentTerms: string
  PurchaseOrderStatus: string
  items: Array<Item>
}

const TEXTS: Record<string, string> = { TG11: "Forks", TG12: "Knives", TG13: "Spoons" }
const item = (number: string, text: string, material: string, quantity: string): Item => ({
  PurchaseOrderItem: number,
  PurchaseOrderItemText: text,
  Material: material,
  OrderQuantity: quantity,
  NetPriceAmount: "5.00",
  Plant: "1710"
})
const order = (number: string, supplier: string, items: Array<Item>): Order => ({
  PurchaseOrder: number,
  Supplier: supplier,
  PaymentTerms: "0001",
  PurchaseOrderStatus: "Released",
  items
})

export const startService = async (token: string) => {
  const orders = [
    order("4500000001", "17300001", [
      item("00010", "Forks", "TG11", "10"),
      item("00020", "Knives", "TG12", "20"),
      item("00030", "Spoons", "TG13", "30")
    ]),
    order("4500000002", "17300002", [
      item("00010", "Salad forks", "TG21", "5"),
      item("00020", "Dinner forks", "TG22", "6")
    ])
  ]
  /** What was written, as `METHOD path body`. */
  const written: Array<string> = []
  const known = new Map<string, { status: number; body: unknown }>()

  const failure = (status: number, code: string, message: string) => ({
    status,
    body: {
      error: {
        code,
        message: { lang: "en", value: "An exception was raised" },
        innererror: { errordetails: [{ code, message, severity: "error" }] }
      }
    }
  })

  const answer = (method: string, path: string, query: URLSearchParams, ifMatch: string | undefined, text: string) => {
    const [, number, child] = /\/A_PurchaseOrder(?:\('(\d{10})'\))?(\/to_PurchaseOrderItem)?$/.exec(path) ?? []
    const keys = /\/A_PurchaseOrderItem\(PurchaseOrder='(\d{10})',PurchaseOrderItem='(\d{5})'\)$/.exec(path)
    const wanted = keys?.[1] ?? number
    const isCollection = path.endsWith("/A_PurchaseOrder")
    const found = orders.find((one) => one.PurchaseOrder === wanted)
    if (!isCollection && found === undefined)
      return failure(404, "MEPO/001", `Purchase order ${wanted ?? ""} does not exist`)
    const line = keys === null ? undefined : found?.items.find((one) => one.PurchaseOrderItem === keys[2])
    if (keys !== null && line === undefined)
      return failure(404, "MEPO/002", `Item ${keys[2] ?? ""} of purchase order ${wanted ?? ""} does not exist`)
    const shown = ({ PaymentTerms, PurchaseOrder, PurchaseOrderStatus, Supplier }: Order) => ({
      PurchaseOrder,
      Supplier,
      PaymentTerms,
      PurchaseOrderStatus
    })
    if (method === "GET") {
      if (isCollection) {
        const [, supplier] = /^Supplier eq '(\d+)'$/.exec(query.get("$filter") ?? "") ?? []
        const rows = orders.filter((one) => supplier === undefined || one.Supplier === supplier)
        return { status: 200, body: { d: { results: rows.map(shown) } } }
      }
      if (child !== undefined) return { status: 200, body: { d: { results: found!.items } } }
      return { status: 200, body: { d: line ?? shown(found!) } }
    }
    if (method !== "POST" && ifMatch === undefined) return failure(428, "/IWFND/428", "If-Match is missing")
    written.push(`${method} ${path.slice(path.lastIndexOf("/A_"))} ${text}`.trim())
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, string> & {
      to_PurchaseOrderItem?: Array<Record<string, string>>
    }
    const added = (given: Record<string, string>, at: number): Item => ({
      ...item(String((at + 1) * 10).padStart(5, "0"), TEXTS[given["Material"]!] ?? "", "", ""),
      ...given
    })
    if (method === "POST" && isCollection) {
      const { to_PurchaseOrderItem: items = [], ...header } = body
      const made = order(`45000000${String(orders.length + 1).padStart(2, "0")}`, header["Supplier"]!, items.map(added))
      orders.push(made)
      return { status: 201, body: { d: shown(made) } }
    }
    if (method === "POST") {
      const made = added(body, found!.items.length)
      found!.items.push(made)
      return { status: 201, body: { d: made } }
    }
    if (Number(body["OrderQuantity"]) > 1000)
      return failure(400, "MEPO/115", `Quantity ${body["OrderQuantity"]!} exceeds the contract`)
    if (method === "PATCH") Object.assign(line ?? found!, body)
    else if (line === undefined) found!.PurchaseOrderStatus = "Deleted"
    else found!.items.splice(found!.items.indexOf(line), 1)
    return { status: 204, body: undefined }
  }

  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (part: Buffer) => (text += part.toString()))
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://localhost")
      const id = request.headers["requestid"]
      const key = typeof id === "string" ? id : undefined
      const before = key === undefined ? undefined : known.get(key)
      const { body, status } =
        request.headers.authorization !== `Bearer ${token}`
          ? failure(401, "AUTH", "Sign in")
          : (before ??
            answer(
              request.method ?? "",
              decodeURIComponent(url.pathname),
              url.searchParams,
              request.headers["if-match"],
              text
            ))
      if (key !== undefined) known.set(key, { status, body })
      response.writeHead(status, { "content-type": "application/json", etag: `W/"${written.length}"` })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    written,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve()))
  }
}
