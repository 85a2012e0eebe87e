import { setTimeout as pause } from 'node:timers/promises'
import type { Deployment, LockRow } from '../../deployment/rows.ts'
import { isBusy } from './lock-table.ts'
import { failureOf } from './with-deployment.ts'

/** The locks at one moment. */
export interface View {
  /** The locks that are held or waited for. */
  readonly rows: readonly LockRow[]
  /** Why a server could not be asked. Then the rows are from the look before. */
  readonly failure: string | null
}

interface Following {
  readonly pattern: string | undefined
  readonly intervalMs: number
  readonly signal: AbortSignal
}

/**
 * The pause between two scans for new names: `SCAN_MS`, or `SCAN_SHARE` times the duration of a
 * scan if that is longer.
 */
const SCAN_MS = 5_000
const SCAN_SHARE = 10

/**
 * Looks at the known locks after each `intervalMs`, and scans for new locks less often, until the
 * signal aborts.
 *
 * @returns rejects only if the first look fails; a later outage is part of the view
 */
export async function* follow(
  deployment: Deployment,
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
  const look = async (keys: readonly string[]) => note(keys, await deployment.look(keys))
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    let lookedAt = performance.now()
    try {
      if (lookedAt >= scanAt) {
        const startedAt = lookedAt
        const missing = new Set(known.keys())
        for await (const rows of deployment.scan({ ...(pattern && { pattern }), signal })) {
          const keys = rows.map(({ key }) => key)
          // At once, because a look before the end of the scan has newer rows.
          note(keys, rows)
          for (const key of keys) missing.delete(key)
          if (isFirst || performance.now() - lookedAt < intervalMs) continue
          // With very many names, a scan takes longer than the interval. So the known locks are
          // read meanwhile.
          lookedAt = performance.now()
          await look([...known.keys()])
          yield view()
        }
        // A lock that was free for a moment may be missing from the scan.
        if (missing.size > 0) await look([...missing])
        const endedAt = performance.now()
        scanAt = endedAt + Math.max(SCAN_MS, SCAN_SHARE * (endedAt - startedAt))
      } else {
        await look([...known.keys()])
      }
      yield view()
    } catch (error) {
      if (signal.aborted) return
      const failure = failureOf(error)
      if (isFirst) throw error
      // The rows of the last view: the next view shows what has changed since then.
      yield { rows: shown, failure }
    }
    await pause(intervalMs, undefined, { signal }).catch(() => {})
  }
}
