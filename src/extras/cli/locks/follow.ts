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
          // Among very many names a scan takes longer than who looks on would wait.
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
