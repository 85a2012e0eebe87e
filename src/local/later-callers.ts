import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldId } from '../lease/stand-in.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { RenewedLease } from '../servers/renewed-lease.ts'

interface CheckedHolds {
  readonly exclusive: Hold | undefined
  /** Asks the server for the remaining lease. */
  readRemaining(hold: Hold): Promise<RenewedLease>
}

/** The pause before the next check if the last check had no answer, in milliseconds. */
const CHECK_AGAIN_MS = 50

/**
 * A hand-over without a request may give the lock to a call that began after the server's last
 * confirmation. By then, another client may hold the lock. So this class checks the lock while the
 * new holder works.
 *
 * At most one check is in flight, and one check covers all earlier calls.
 */
export class LaterCallers {
  readonly #holds: CheckedHolds
  readonly #clock: Clock
  #isChecking = false
  #id: HoldId | undefined
  /** When the last successful check of the hold with `#id` was sent, on the monotonic clock. */
  #seenAt = 0

  constructor(holds: CheckedHolds, clock: Clock) {
    this.#holds = holds
    this.#clock = clock
  }

  /** Starts a check if the present hold needs a check and no check is under way. */
  check(): void {
    if (!this.#isChecking && this.#unseen !== undefined) void this.#checkAll()
  }

  /** The exclusive hold, if its call began after the last confirmation. Otherwise undefined. */
  get #unseen(): Hold | undefined {
    const hold = this.#holds.exclusive
    if (hold === undefined || hold.calledAt === 0) return undefined
    const seenAt = hold.id === this.#id ? this.#seenAt : 0
    return hold.calledAt > Math.max(seenAt, hold.proof.sentAt.monotonic) ? hold : undefined
  }

  async #checkAll(): Promise<void> {
    this.#isChecking = true
    for (let hold = this.#unseen; hold !== undefined; hold = this.#unseen) {
      const sentAt = this.#clock.now().monotonic
      const remaining = await this.#holds.readRemaining(hold)
      if (remaining instanceof CallFailure) {
        if (remaining.permanent) break
        await new Promise<void>(
          (resolve) => void this.#clock.after(CHECK_AGAIN_MS, resolve).unref(),
        )
      } else if (remaining === 'gone') {
        const { current } = hold
        if (!current.live) continue
        current.loseGone()
      } else {
        this.#id = hold.id
        this.#seenAt = sentAt
      }
    }
    this.#isChecking = false
  }
}
