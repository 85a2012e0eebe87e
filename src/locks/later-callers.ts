import { setTimeout as pause } from 'node:timers/promises'
import type { Hold, Seat } from '../lease/hold.ts'
import { CallFailure } from '../redis/failure.ts'
import type { Context } from './context.ts'

/** After a look that was not answered, in milliseconds. */
const LOOK_AGAIN_MS = 50

/**
 * A lock that is passed on inside the client may go to a call that was made after Redis last said
 * that the client has it. Meanwhile somebody else may have got it. So Redis is asked at once, while
 * that call has it: one look is under way at most, and covers all who had called before it was sent.
 */
export class LaterCallers {
  readonly #context: Context
  readonly #current: () => Hold | null
  #looking = false
  #seat: Seat | undefined
  /** When the last look at that seat was sent that found the lock held. */
  #seenAt = 0

  /** @param current who has the lock in this client */
  constructor(context: Context, current: () => Hold | null) {
    this.#context = context
    this.#current = current
  }

  /** To be called when somebody has the lock to whom it was passed on. */
  look(): void {
    if (!this.#looking && this.#unseen !== null) void this.#look()
  }

  get #unseen(): Hold | null {
    const hold = this.#current()
    if (hold === null || hold.askedAt === 0) return null
    const seenAt = hold.seat === this.#seat ? this.#seenAt : 0
    return hold.askedAt > Math.max(seenAt, hold.proof.sentAt.monotonic) ? hold : null
  }

  async #look(): Promise<void> {
    const { node, limits } = this.#context
    this.#looking = true
    for (let hold = this.#unseen; hold !== null; hold = this.#unseen) {
      const sentAt = this.#context.clock.now().monotonic
      const [left] = await node.renew([hold.seat], 0, limits.commandTimeoutMs)
      if (left instanceof CallFailure) {
        if (left.permanent) break
        await pause(LOOK_AGAIN_MS, undefined, { ref: false })
      } else if (left === -2) {
        const { current } = hold
        if (!current.live) continue
        current.loseGone()
      } else {
        this.#seat = hold.seat
        this.#seenAt = sentAt
      }
    }
    this.#looking = false
  }
}
