import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

type Fetch = (request: Request, context: unknown) => Promise<Response>

/** Who takes nothing for so long is gone, whatever the socket says. */
const STUCK_MS = 60_000

/**
 * The same for Node.js, Express and all that stands on them. No body is read: whatever has read it before is in nobody's
 * way.
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
      const response = await fetch(requestOf(incoming, gone.signal), incoming)
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
        // What it says is for the operator, and not for whoever was not let in.
        process.emitWarning(error instanceof Error ? error : String(error))
        outgoing.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
        outgoing.end('The dashboard could not answer; its process was told why.\n')
      }
    }
  }
}

function requestOf(
  { method = 'GET', headers, url = '/', originalUrl }: IncomingMessage & { originalUrl?: string },
  signal: AbortSignal,
): Request {
  // A path that begins with two slashes would be read as a host.
  const path = (originalUrl ?? url).replace(/^\/*/, '/')
  const list = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return new Request(new URL(path, 'http://dashboard'), {
    method,
    headers: list.map(([name, value]) => [name, String(value)] as [string, string]),
    signal,
  })
}

async function copy(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const reader = body.getReader()
  // A read that waits for the next message ends with the viewer.
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
