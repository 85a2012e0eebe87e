import { setTimeout as pause } from 'node:timers/promises'
import type { Table } from './table.ts'

export interface StreamTimes {
  /**
   * The longest duration of a stream, in milliseconds. After this time, the browser connects again,
   * and `authorize` checks the rights again.
   */
  readonly streamMs: number
  /**
   * The longest silence of a stream, in milliseconds. Proxies close a stream that is silent for too
   * long.
   */
  readonly commentMs: number
  /**
   * The shortest pause between two updates for one viewer, in milliseconds. An update is one or
   * more messages.
   */
  readonly gapMs: number
}

const ROWS_OF_MESSAGE = 1_000

/** How long the browser waits before it reconnects, in milliseconds. */
const RETRY_MS = 2_000

/**
 * Sends the changes as server-sent events. Each message is made only after the viewer has read the
 * previous message. So a slow viewer gets fewer messages with more changes, and no messages pile up
 * in memory.
 *
 * @param seen the last id that the viewer received on an earlier stream; null for a new viewer
 * @param onEnd called once, when the stream ends for any reason
 */
export function newStream(
  table: Table,
  seen: string | null,
  times: StreamTimes,
  signal: AbortSignal,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const ending = new AbortController()
  const stop = AbortSignal.any([signal, ending.signal])
  const timer = setTimeout(() => ending.abort(), times.streamMs).unref()
  stop.addEventListener('abort', () => {
    clearTimeout(timer)
    onEnd()
  })
  if (signal.aborted) onEnd()
  const events = messages(table, versionOf(seen, table), times, stop)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await events.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: () => ending.abort(),
    },
    { highWaterMark: 0 },
  )
}

async function* messages(table: Table, from: number, times: StreamTimes, stop: AbortSignal) {
  yield `retry: ${RETRY_MS}\n\n`
  // Every stream begins with a message, even without changes, because the viewer needs the current
  // status.
  for (let version = from, isFirst = true; !stop.aborted; isFirst = false) {
    if (isFirst || version !== table.version) {
      const changes = table.since(version)
      for (const message of inParts(table, changes, version)) yield message
      version = changes.version
      if (!(await paused(times.gapMs, stop))) return
    } else {
      const waiting = new AbortController()
      const isOver = paused(times.commentMs, AbortSignal.any([stop, waiting.signal]))
      await Promise.race([table.changed, isOver])
      waiting.abort()
      if (version === table.version && !stop.aborted) yield ': still here\n\n'
    }
  }
}

function* inParts(table: Table, changes: ReturnType<Table['since']>, from: number) {
  const { rows, gone, isAll, version } = changes
  for (let i = 0; i === 0 || i < rows.length; i += ROWS_OF_MESSAGE) {
    const isLast = i + ROWS_OF_MESSAGE >= rows.length
    // Only the last part has the new id. If the connection ends earlier, the browser sends the old
    // id, and gets all parts again.
    const id = `${table.epoch}.${isLast ? version : isAll ? 0 : from}`
    const facts = {
      now: Date.now(),
      isAll: isAll && i === 0,
      status: table.status,
      totals: table.totals,
      gone: i === 0 ? gone : [],
    }
    const text = JSON.stringify(facts).slice(0, -1)
    yield `id: ${id}\nevent: rows\ndata: ${text},"rows":[${rows.slice(i, i + ROWS_OF_MESSAGE).join(',')}]}\n\n`
  }
}

function versionOf(seen: string | null, { epoch }: Table): number {
  const [of, version] = seen?.split('.') ?? []
  return of === epoch && /^\d{1,15}$/.test(version ?? '') ? Number(version) : 0
}

async function paused(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal, ref: false })
    return true
  } catch {
    return false
  }
}
