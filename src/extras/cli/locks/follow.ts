import { setTimeout as pause } from 'node:timers/promises'
import type { Deployment, LockRow } from '../../deployment/rows.ts'
import { isBusy } from './lock-table.ts'
import { failureOf } from './with-deployment.ts'

/** How things are at one moment. */
export interface View {
  /** Locks that somebody has or waits for. */
  readonly rows: readonly LockRow[]
  /** Why a server could not be asked; then the rows are what was seen before. */
  readonly failure: string | null
}

interface Following {
  readonly pattern: string | undefined
  readonly intervalMs: number
  readonly signal: AbortSignal
}

/** New names are looked for so often, or ten times as seldom as that takes. */
const SCAN_MS = 5_000
const SCAN_SHARE = 10

/**
 * Looks again and again, until the signal: at the locks that are known each `intervalMs`, and now and then for others.
 *
 * @returns rejects only where the first look fails; an outage after that is a part of the view
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
          // Among very many names a scan takes longer than the interval.
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
