/** The server's accepted hosts and origins, and its session cookie. */
import { Context, Effect, Layer } from "effect"
import { Env } from "../../env.ts"

export interface Reachable {
  readonly publicUrl?: string | undefined
  readonly allowedHosts: ReadonlyArray<string>
  readonly allowedOrigins: ReadonlyArray<string>
  readonly sessionHours: number
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i

export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** Whether the server answers requests with this `Host`. */
    readonly isHost: (host: string | undefined) => boolean
    /** Whether pages of this `Origin` may send requests to this `Host`. */
    readonly isOrigin: (origin: string, host: string | undefined) => boolean
    /** Whether it is the origin of the server's own pages, the only one whose requests may use the session cookie. */
    readonly isOwnOrigin: (origin: string, host: string | undefined) => boolean
    /** Whether it is a configured origin other than the server's own, which needs CORS headers. */
    readonly isCrossOrigin: (origin: string, host: string | undefined) => boolean
    /** Whether the public URL is https: cookies are then `Secure` and responses carry HSTS. */
    readonly secure: boolean
    readonly cookie: string
    readonly sessionSeconds: number
  }
>()("max/channels/http/HttpSettings") {
  static readonly make = ({ allowedHosts, allowedOrigins, publicUrl, sessionHours }: Reachable) => {
    const own = publicUrl === undefined ? undefined : new URL(publicUrl)
    const names = [...allowedHosts, ...(own === undefined ? [] : [own.host])].map((host) => host.toLowerCase())
    const hosts = new Set(names)
    const origins = new Set([...allowedOrigins, ...(own === undefined ? [] : [own.origin])])
    const crossOrigins = new Set(allowedOrigins.filter((origin) => origin !== own?.origin))
    const secure = own?.protocol === "https:"
    // On loopback only the same port: another port belongs to another program.
    const isOrigin = (origin: string, host: string | undefined): boolean =>
      origins.has(origin) || (host !== undefined && LOOPBACK.test(host) && origin === `http://${host}`)
    // Without a public URL, a proxy may serve the same host over https.
    const isOwnOrigin = (origin: string, host: string | undefined): boolean =>
      origin === own?.origin ||
      (isOrigin(origin, host) && (origin === `http://${host}` || (own === undefined && origin === `https://${host}`)))
    return HttpSettings.of({
      isHost: (host) => host !== undefined && (LOOPBACK.test(host) || hosts.has(host.toLowerCase())),
      isOrigin,
      isOwnOrigin,
      isCrossOrigin: (origin, host) => crossOrigins.has(origin) && !isOwnOrigin(origin, host),
      secure,
      cookie: secure ? "__Host-max" : "max_session",
      sessionSeconds: sessionHours * 3600
    })
  }

  static readonly layer = Layer.effect(HttpSettings, Effect.map(Env, HttpSettings.make))
}
