import type { ClosedError } from '../errors.ts'
import { LimitedTasks } from '../kit/limited-tasks.ts'
import { within } from '../kit/within.ts'
import type { Hold } from '../lease/hold.ts'
import type { CutOffHold } from './holdings.ts'
import { heldEntry } from './list-holdings.ts'
import type { LocalLock } from './local-lock.ts'

/** Releases the lock of a hold that has ended in this client. */
type SendRelease = (lock: LocalLock, hold: Hold, reason: ClosedError) => Promise<boolean>

/** `close()` usually has at most this many releases in flight. With more, the last releases would get late answers. */
const MOST_RELEASES = 1_000

export interface EndedHolds {
  readonly cutOff: CutOffHold[]
  /** Resolves when no release is under way, or when no release was confirmed for `ms` milliseconds. */
  untilReleased(ms: number): Promise<void>
}

/**
 * Rejects all waiters of these locks, and begins to release all holds.
 *
 * @param now the time on the monotonic clock, in milliseconds
 * @param releasing contains each hold while its release is under way
 * @returns the holds that this call ended, and the wait for their releases
 */
export function closeAll(
  locks: readonly LocalLock[],
  reasonOf: (lockName: string) => ClosedError,
  release: SendRelease,
  now: number,
  releasing: Set<CutOffHold>,
): EndedHolds {
  const [first] = locks
  if (first === undefined) return { cutOff: [], untilReleased: () => Promise.resolve() }
  const { clock, limits } = first.services
  // If no release succeeds for about half of `commandTimeoutMs`, all remaining releases are sent at once. So all
  // releases are sent before the connection closes.
  const releases = new LimitedTasks(clock, MOST_RELEASES, limits.commandTimeoutMs / 2)
  const closing = locks.map((lock) => ({
    lock,
    held: cutOff(lock, reasonOf(lock.name), now, (hold, reason) =>
      releases.add(() => release(lock, hold, reason)),
    ),
  }))
  // The releases start only now, because the code above may take long if there are many holds. A release that was sent
  // earlier could then time out.
  releases.start()
  const released = closing.map(async ({ lock, held }) => {
    const open = held.map((entry) => ({ ...entry, remainingMs: 0 }))
    for (const entry of open) releasing.add(entry)
    await lock.tasks.quiet()
    for (const entry of open) releasing.delete(entry)
  })
  const all = Promise.all(released)
  const untilReleased = async (ms: number) => {
    let confirmed: number
    do {
      confirmed = releases.succeeded
      await within(ms, all)
    } while (!releases.isDone && releases.succeeded > confirmed)
  }
  return { cutOff: closing.flatMap(({ held }) => held), untilReleased }
}

function cutOff(
  lock: LocalLock,
  reason: ClosedError,
  now: number,
  release: (hold: Hold, reason: ClosedError) => Promise<boolean>,
): CutOffHold[] {
  const held = lock.holds.all.map((hold) => ({ hold, entry: heldEntry(hold, now) }))
  lock.closed = reason
  lock.kept?.stopKeeping()
  lock.waiters.rejectAll(reason)
  return held.flatMap(({ hold, entry }) => {
    hold.loseIfExpired()
    // The end of an earlier hold may have called a listener that released this hold.
    if (!hold.live) return []
    hold.count = 0
    lock.holds.endHold(hold, reason)
    lock.tasks.run(release(hold, reason))
    return [entry]
  })
}
