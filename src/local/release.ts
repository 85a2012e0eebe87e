import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { NextHolder } from '../servers/answers.ts'
import type { ReleaseListener } from '../waiting/release-listener.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { AcquireRequests } from './acquire-requests.ts'
import type { CurrentHold } from './current-hold.ts'
import type { HandOverBudget } from './hand-over-budget.ts'
import type { HoldRequests } from './hold-requests.ts'

/** What the end of a hold needs of the lock that it happens in. */
interface Heirs {
  /** Whose turn it is to have the lock next in this client. */
  next(): Waiter | undefined
  /** Whether somebody here waits in turn. */
  waitInTurn(): boolean
  /** The waiter has the lock. */
  begin(waiter: Waiter, hold: Hold): void
  /** The lock is in Redis' hands. */
  lookAgain(following?: NextHolder): void
}

/**
 * What becomes of a lock when its hold ends: it is passed on inside the client without a word to
 * Redis, handed over inside the client in one step, or freed.
 */
export class Release {
  readonly #heirs: Heirs
  readonly #acquireRequests: AcquireRequests
  readonly #holdRequests: HoldRequests
  readonly #current: CurrentHold
  readonly #handOverBudget: HandOverBudget
  readonly #releases: ReleaseListener
  #handingOver = false

  constructor(
    heirs: Heirs,
    acquireRequests: AcquireRequests,
    calls: HoldRequests,
    current: CurrentHold,
    budget: HandOverBudget,
    releases: ReleaseListener,
  ) {
    this.#heirs = heirs
    this.#acquireRequests = acquireRequests
    this.#holdRequests = calls
    this.#current = current
    this.#handOverBudget = budget
    this.#releases = releases
  }

  /** Whether the lock is on its way from one owner in this client to another. */
  get isUnderWay(): boolean {
    return this.#handingOver
  }

  /**
   * Ends the hold.
   *
   * @param reason why nobody here is to have the lock next, if so
   * @returns whether the lock was still held; rejects when Redis did not confirm it
   */
  end(hold: Hold, reason?: ClosedError): Promise<boolean> {
    this.#current.end(hold, reason)
    const next = reason === undefined && !hold.fair ? this.#heirs.next() : undefined
    // Whoever is not waiting just now is about to ask by itself. And nobody is given it twice at once.
    if (!next?.wakeEvent.isAwaited || this.#handingOver) return this.#free(hold)
    if (this.#handOverBudget.isUnbroken) return this.#free(hold, undefined, true)
    const following = this.#handOverBudget.isUsedUp ? null : this.#current.passedOn(hold, next)
    if (following === null) return this.#handOver(hold, next)
    this.#handOverBudget.released(0)
    this.#current.left(hold, true)
    this.#heirs.begin(next, following)
    return Promise.resolve(true)
  }

  async #handOver(hold: Hold, next: Waiter): Promise<boolean> {
    // Those here who wait in turn listen with the same subscription, but are others.
    const others = this.#heirs.waitInTurn() ? 1 : 0
    const listening = this.#handOverBudget.isUsedUp ? this.#releases.listeners - others : null
    this.#handingOver = true
    const { grant, sentAt, unknown } = await this.#acquireRequests
      .handOver(hold, next, listening)
      .finally(() => {
        this.#handingOver = false
      })
    // Nothing is lost by going on one by one: the release and the acquisition are both safe to
    // repeat, and find out how far the hand-over came.
    if (grant === null) {
      if (next.settled) this.#acquireRequests.abandonName(next)
      next.wakeEvent.set()
      return this.#free(hold, unknown ? sentAt.monotonic : undefined)
    }
    this.#handOverBudget.released(grant.kind === 'yielded' ? grant.others : 0)
    if (grant.kind === 'yielded') this.#handOverBudget.letGo()
    const wasHeld = this.#current.left(hold, grant.kind !== 'gone')
    if (wasHeld) this.#holdRequests.ended(hold, sentAt.monotonic)
    if (grant.kind === 'granted') {
      const following = this.#current.granted(next, grant, sentAt)
      if (following !== null) this.#heirs.begin(next, following)
    }
    if (next.settled) this.#acquireRequests.abandonName(next)
    this.#heirs.lookAgain()
    return wasHeld
  }

  /** @param stayAway whether those who wait here are to leave it to others for a while */
  async #free(hold: Hold, mayBeDoneAt?: number, stayAway = false): Promise<boolean> {
    let following: NextHolder | undefined
    try {
      const freed = await this.#holdRequests.free(hold, mayBeDoneAt)
      this.#handOverBudget.released((freed?.listeners ?? 0) - this.#releases.listeners)
      if (stayAway) this.#handOverBudget.stayAway()
      else this.#handOverBudget.letGo()
      following = freed?.following
      return this.#current.left(hold, freed !== null)
    } finally {
      this.#heirs.lookAgain(following)
    }
  }
}
