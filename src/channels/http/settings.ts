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

/** Bytes in a body. */
export const MAX_BODY_BYTES = 64 * 1024

export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** Whether the server answers requests with this `Host`. */
    readonly isHost: (host: string | undefined) => boolean
    /** Whether pages of this `Origin` may send requests to this `Host`. */
    readonly isOrigin: (origin: string, host: string | undefined) => boolean
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
    return HttpSettings.of({
      isHost: (host) => host !== undefined && (LOOPBACK.test(host) || hosts.has(host.toLowerCase())),
      // On loopback only the same port: another port belongs to another program.
      isOrigin: (origin, host) =>
        origins.has(origin) || (host !== undefined && LOOPBACK.test(host) && origin === `http://${host}`),
      isCrossOrigin: (origin, host) => crossOrigins.has(origin) && origin !== `http://${host ?? ""}`,
      secure,
      cookie: secure ? "__Host-max" : "max_session",
      sessionSeconds: sessionHours * 3600
    })
  }

  static readonly layer = Layer.effect(HttpSettings, Effect.map(Env, HttpSettings.make))
}
