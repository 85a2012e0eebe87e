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
  let known = new Map<string, LockRow>()
  let scanAt = 0
  const view = (failure: string | null = null): View => ({ rows: [...known.values()], failure })
  const lookAgain = async () => {
    const rows = await deployment.look([...known.keys()])
    known = active(rows)
  }
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    let lookedAt = performance.now()
    try {
      if (lookedAt >= scanAt) {
        const startedAt = lookedAt
        const found = new Map<string, LockRow>()
        for await (const rows of deployment.scan({ ...(pattern && { pattern }), signal })) {
          for (const [key, row] of active(rows)) found.set(key, row)
          if (isFirst || performance.now() - lookedAt < intervalMs) continue
          // With very many names, a scan takes longer than the interval. So the known locks are
          // read meanwhile.
          lookedAt = performance.now()
          await lookAgain()
          yield view()
        }
        known = found
        const endedAt = performance.now()
        scanAt = endedAt + Math.max(SCAN_MS, SCAN_SHARE * (endedAt - startedAt))
      } else {
        await lookAgain()
      }
      yield view()
    } catch (error) {
      if (signal.aborted) return
      const failure = failureOf(error)
      if (isFirst) throw error
      yield view(failure)
    }
    await pause(intervalMs, undefined, { signal }).catch(() => {})
  }
}

const active = (rows: readonly LockRow[]): Map<string, LockRow> =>
  new Map(rows.filter(isBusy).map((row) => [row.key, row]))
