import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusal } from './replies.ts'

type Fetch = (request: Request, context: unknown) => Promise<Response>

/**
 * The methods that the dashboard accepts. Other methods are refused before `new Request()`, which
 * throws for some methods.
 */
const METHODS = ['GET', 'HEAD', 'POST']

/**
 * If a viewer reads nothing for this time, in milliseconds, the viewer counts as gone, even with an
 * open socket.
 */
const STUCK_MS = 60_000

/**
 * Returns a handler for Node.js, Express and similar servers, which answers with `fetch`. The
 * handler does not read the body, so a body parser may run before.
 */
export function forNode(fetch: Fetch) {
  return async (
    incoming: IncomingMessage & { originalUrl?: string },
    outgoing: ServerResponse,
    next?: (error: unknown) => void,
  ): Promise<void> => {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    try {
      const request = requestOf(incoming, gone.signal)
      const response = request instanceof Request ? await fetch(request, incoming) : request
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      if (incoming.method !== 'HEAD' && response.body !== null) {
        await copy(response.body, outgoing, gone.signal)
      } else await response.body?.cancel()
      outgoing.end()
    } catch (error) {
      if (gone.signal.aborted || outgoing.headersSent) outgoing.destroy()
      else if (typeof next === 'function') next(error)
      else {
        // Only the operator may read the error, because the user may have no rights.
        process.emitWarning(error instanceof Error ? error : String(error))
        outgoing.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
        outgoing.end(
          'The dashboard could not answer. Its process has printed the reason as a warning.\n',
        )
      }
    }
  }
}

/**
 * Converts a request of Node.js to a web request.
 *
 * @returns the request, or the reply to an invalid request. The rights are checked later, so the
 * reply must reveal nothing about locks
 */
export function requestOf(
  { method = 'GET', headers, url = '/', originalUrl }: IncomingMessage & { originalUrl?: string },
  signal: AbortSignal,
): Request | Response {
  if (!METHODS.includes(method)) {
    const response = refusal(405, `The dashboard accepts only the methods ${METHODS.join(', ')}.`)
    response.headers.set('allow', METHODS.join(', '))
    return response
  }
  const target = targetOf(originalUrl ?? url)
  if (target === null) return refusal(400, 'The path of the request is malformed.')
  const list = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return new Request(target, {
    method,
    headers: list.map(([name, value]) => [name, String(value)] as [string, string]),
    signal,
  })
}

/**
 * Returns the path and query of a request as a URL. The host is fixed, because a path must not
 * choose another host. Null if the path is malformed.
 */
function targetOf(target: string): URL | null {
  const isWhole = /^https?:\/\//i.test(target)
  if (isWhole ? !URL.canParse(target) : !/^[/\\]/.test(target)) return null
  const given = isWhole ? new URL(target).href.replace(/^\w+:\/\/[^/]*/, '') : target
  const [, path = '', query = ''] = /^[/\\]*([^?]*)(.*)$/s.exec(given) ?? []
  const own = new URL('http://dashboard')
  own.pathname = path
  own.search = query
  return own
}

async function copy(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const reader = body.getReader()
  // When the viewer leaves, `cancel()` ends a read that waits for the next message.
  gone.addEventListener('abort', () => void reader.cancel().catch(() => undefined))
  if (gone.aborted) await reader.cancel()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    if (outgoing.write(value)) continue
    const signal = AbortSignal.any([gone, AbortSignal.timeout(STUCK_MS)])
    try {
      await once(outgoing, 'drain', { signal })
    } catch (error) {
      await reader.cancel()
      throw error
    }
  }
}
