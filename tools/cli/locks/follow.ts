import { setTimeout as pause } from 'node:timers/promises'
import type { Inspection, LockRow } from '../../inspection/inspection.ts'
import { failureOf } from '../servers/with-inspection.ts'
import { isBusy } from './lock-table.ts'

/** The locks at one moment. */
export interface View {
  /** The locks that are held or waited for. */
  readonly rows: readonly LockRow[]
  /**
   * Why the locks could not be read; null if they were read. After a failure, `rows` are the rows
   * of the previous view.
   */
  readonly failure: string | null
}

interface Following {
  readonly pattern: string | undefined
  readonly intervalMs: number
  readonly signal: AbortSignal
}

/**
 * The shortest pause between two scans for new names, in milliseconds. After a slow scan, the pause
 * is `SCAN_PAUSE_FACTOR` times as long as the scan.
 */
const SCAN_MS = 5_000
const SCAN_PAUSE_FACTOR = 10

/**
 * Yields a view of the known locks about every `intervalMs`, until the signal aborts. Scans for new
 * locks less often.
 *
 * @returns rejects if the first scan fails; later views report an outage as `failure`
 */
export async function* follow(
  inspection: Inspection,
  { pattern, intervalMs, signal }: Following,
): AsyncGenerator<View> {
  const known = new Map<string, LockRow>()
  let shown: readonly LockRow[] = []
  let scanAt = 0
  const view = (): View => {
    shown = [...known.values()]
    return { rows: shown, failure: null }
  }
  const note = (keys: Iterable<string>, rows: readonly LockRow[]) => {
    const busy = new Map(rows.filter(isBusy).map((row) => [row.key, row]))
    for (const key of keys) if (!busy.has(key)) known.delete(key)
    for (const [key, row] of busy) known.set(key, row)
  }
  const read = async (keys: readonly string[]) => note(keys, await inspection.read(keys))
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    let lookedAt = performance.now()
    try {
      if (lookedAt >= scanAt) {
        const startedAt = lookedAt
        const missing = new Set(known.keys())
        for await (const rows of inspection.list({ ...(pattern && { pattern }), signal })) {
          const keys = rows.map(({ key }) => key)
          // Stores these rows at once. After the scan, these rows could replace newer rows that a
          // read during the scan has stored.
          note(keys, rows)
          for (const key of keys) missing.delete(key)
          if (isFirst || performance.now() - lookedAt < intervalMs) continue
          // A scan of very many names takes longer than the interval. So the known locks are also
          // read during the scan.
          lookedAt = performance.now()
          await read([...known.keys()])
          yield view()
        }
        // A scan may miss a lock that was free for a moment. So the known locks that the scan
        // missed are read again.
        if (missing.size > 0) await read([...missing])
        const endedAt = performance.now()
        scanAt = endedAt + Math.max(SCAN_MS, SCAN_PAUSE_FACTOR * (endedAt - startedAt))
      } else {
        await read([...known.keys()])
      }
      yield view()
    } catch (error) {
      if (signal.aborted) return
      const failure = failureOf(error)
      if (isFirst) throw error
      // The rows of the last view stay, so that the next view shows all changes since the last
      // view.
      yield { rows: shown, failure }
    }
    await pause(intervalMs, undefined, { signal }).catch(() => {})
  }
}
