import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

type SessionFetch = (request: Request) => Promise<Response>

/**
 * Admits users who know the token. The reply to a request for the printed address stores the token
 * in a cookie of the browser. Later requests send the cookie, so their addresses need no token.
 */
export interface Session {
  readonly token: string
  readonly fetch: SessionFetch
}

/**
 * @param name the name of the cookie. Each port needs its own name, because a browser sends a
 * cookie to all ports of a host
 */
export function newSession(fetch: SessionFetch, name: string): Session {
  const token = randomBytes(24).toString('base64url')
  return {
    token,
    async fetch(request) {
      const { searchParams, pathname } = new URL(request.url)
      const given = searchParams.get('token')
      if (given !== null && pathname === '/' && isSame(given, token)) {
        const cookie = `${name}=${token}; HttpOnly; SameSite=Strict; Path=/`
        // Browsers show and store addresses, so the redirect removes the token from the address.
        return new Response(null, {
          status: 303,
          headers: { location: './', 'set-cookie': cookie },
        })
      }
      return isKnown(request.headers, name, token) ? await fetch(request) : refusal()
    },
  }
}

function isKnown(headers: Headers, name: string, token: string): boolean {
  const bearer = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1]
  if (bearer !== undefined) return isSame(bearer, token)
  const cookies = (headers.get('cookie') ?? '').split(/;\s*/)
  return cookies.some(
    (one) => one.startsWith(`${name}=`) && isSame(one.slice(name.length + 1), token),
  )
}

/** Compares in constant time, so that the duration reveals nothing about the token. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a as Buffer, b as Buffer)
}

function refusal(): Response {
  const text =
    'Open the address that `npx holdfast dashboard` printed: it has the token of this run.\n'
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status: 401, headers })
}
