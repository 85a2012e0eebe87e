import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldId } from '../lease/stand-in.ts'
import { CallFailure } from '../servers/call-failure.ts'

/** Who has the lock in this client. */
interface Holds {
  readonly exclusive: Hold | undefined
  /** What is left of that hold: in milliseconds, or -2 when the lock is not held in its name. */
  look(hold: Hold): Promise<number | CallFailure>
}

/** After a look that was not answered, in milliseconds. */
const LOOK_AGAIN_MS = 50

/**
 * A lock that is passed on inside the client may go to a call that was made after Redis last said
 * that the client has it. Meanwhile somebody else may have got it. So Redis is asked at once, while
 * that call has it: one look is under way at most, and covers all who had called before it was sent.
 */
export class LaterCallers {
  readonly #holds: Holds
  readonly #clock: Clock
  #looking = false
  #id: HoldId | undefined
  /** When the last look at that id was sent that found the lock held. */
  #seenAt = 0

  constructor(holds: Holds, clock: Clock) {
    this.#holds = holds
    this.#clock = clock
  }

  /** To be called when somebody has the lock to whom it was passed on. */
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
