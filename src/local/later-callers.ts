import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldId } from '../lease/stand-in.ts'
import { CallFailure } from '../servers/call-failure.ts'

interface Holds {
  readonly exclusive: Hold | undefined
  /**
   * Returns the remaining lease in milliseconds, or -2 if the server has no hold with this owner
   * id.
   */
  look(hold: Hold): Promise<number | CallFailure>
}

/** If a check was not answered, the next check follows after this pause, in milliseconds. */
const LOOK_AGAIN_MS = 50

/**
 * Checks that the client still holds the lock after a hand-over without a request. Such a hand-over
 * may reach a call that is newer than the server's last confirmation, and another client may hold
 * the lock by then. So the client checks at once, while the new holder works. At most one check is
 * in flight, and it covers all earlier calls.
 */
export class LaterCallers {
  readonly #holds: Holds
  readonly #clock: Clock
  #looking = false
  #id: HoldId | undefined
  /** The sending time of the last check that found `#id` held, on the monotonic clock. */
  #seenAt = 0

  constructor(holds: Holds, clock: Clock) {
    this.#holds = holds
    this.#clock = clock
  }

  /** Called after each hand-over inside the client. */
  look(): void {
    if (!this.#looking && this.#unseen !== undefined) void this.#look()
  }

  get #unseen(): Hold | undefined {
    const hold = this.#holds.exclusive
    if (hold === undefined || hold.askedAt === 0) return undefined
    const seenAt = hold.id === this.#id ? this.#seenAt : 0
    return hold.askedAt > Math.max(seenAt, hold.proof.sentAt.monotonic) ? hold : undefined
  }

  async #look(): Promise<void> {
    this.#looking = true
    for (let hold = this.#unseen; hold !== undefined; hold = this.#unseen) {
      const sentAt = this.#clock.now().monotonic
      const left = await this.#holds.look(hold)
      if (left instanceof CallFailure) {
        if (left.permanent) break
        await new Promise<void>((resolve) => void this.#clock.after(LOOK_AGAIN_MS, resolve).unref())
      } else if (left === -2) {
        const { current } = hold
        if (!current.live) continue
        current.loseGone()
      } else {
        this.#id = hold.id
        this.#seenAt = sentAt
      }
    }
    this.#looking = false
  }
}
