/**
 * The content security policy. The page loads nothing from other origins, runs no inline scripts,
 * and cannot be shown in a frame.
 */
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

/** Returns a refusal with a sentence for users. Programs read the sentence as `error`. */
export function refusal(status: number, error: string): Response {
  return json({ error }, status)
}

/**
 * Redirects to a path beside the current path. The address begins with `./`, so that a browser
 * never reads `to` as another host.
 */
export function redirect(to: string): Response {
  return reply(null, 'text/plain; charset=utf-8', 308, { location: `./${to}` })
}
