import type { Clock } from '../../kit/clock.ts'
import type { WhenFreeOptions } from '../../options/options.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { WaitLimits } from '../../waiting/timed-wait.ts'
import { whenFreeOptions } from '../lock/contended-options.ts'

interface AwaitedLock {
  awaitFree(limits: WaitLimits): Promise<{ waited: boolean } | null>
}

/** @returns true if one round of checks found all locks free; false at the end of `waitMs` */
export async function whenAllFree(
  locks: readonly AwaitedLock[],
  options: WhenFreeOptions | undefined,
  clock: Clock,
): Promise<boolean> {
  const { waitMs, signal } = whenFreeOptions(options)
  const endsAt = clock.monotonic() + waitMs
  signal?.throwIfAborted()
  // Ends the other waits when one wait has failed, or when the caller aborts.
  const ending = new AbortController()
  const watch = signal && new AbortWatch(signal, { reject: (reason) => ending.abort(reason) })
  try {
    for (;;) {
      const limits = { waitMs: Math.max(1, endsAt - clock.monotonic()), signal: ending.signal }
      const seen = await Promise.all(locks.map((lock) => lock.awaitFree(limits)))
      if (seen.includes(null)) return false
      // During the wait for one lock, another owner may have acquired another lock. So the next
      // round checks all locks again.
      if (seen.every((one) => one?.waited === false)) return true
    }
  } finally {
    watch?.stop()
    ending.abort()
  }
}
