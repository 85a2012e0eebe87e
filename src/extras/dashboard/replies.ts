/** Nothing is loaded from elsewhere, nothing runs that stands in the page, and no other page may frame this one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

export function reply(
  body: string | ReadableStream<Uint8Array> | null,
  type: string,
  status = 200,
  more: Record<string, string> = {},
): Response {
  return new Response(body, { status, headers: { ...HEADERS, 'content-type': type, ...more } })
}

export function json(value: unknown, status = 200): Response {
  return reply(JSON.stringify(value), 'application/json; charset=utf-8', status)
}

/** In words, for people and for programs that read `error`. */
export function refusal(status: number, error: string): Response {
  return json({ error }, status)
}

/** `./`, so that no name of a path is taken for another place. */
export function redirect(to: string): Response {
  return reply(null, 'text/plain; charset=utf-8', 308, { location: `./${to}` })
}
