import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { Following } from '../redis/answers.ts'
import type { Conversation } from './conversation.ts'
import type { HoldCalls } from './hold-calls.ts'
import type { ReleaseListener } from './release-listener.ts'
import type { Tenancy } from './tenancy.ts'
import type { Turn } from './turn.ts'
import type { Waiter } from './waiter.ts'

/** What the end of a hold needs of the contender that it happens in. */
interface Heirs {
  /** Whose turn it is to have the lock next in this client. */
  next(): Waiter | undefined
  /** Whether somebody here waits in turn. */
  waitInTurn(): boolean
  /** The waiter has the lock. */
  begin(waiter: Waiter, hold: Hold): void
  /** The lock is in Redis' hands. */
  lookAgain(following?: Following): void
}

/**
 * What becomes of a lock when its hold ends: it is passed on inside the client without a word to
 * Redis, handed over inside the client in one step, or freed.
 */
export class Succession {
  readonly #heirs: Heirs
  readonly #talk: Conversation
  readonly #calls: HoldCalls
  readonly #tenancy: Tenancy
  readonly #turn: Turn
  readonly #releases: ReleaseListener
  #handingOver = false

  constructor(
    heirs: Heirs,
    talk: Conversation,
    calls: HoldCalls,
    tenancy: Tenancy,
    turn: Turn,
    releases: ReleaseListener,
  ) {
    this.#heirs = heirs
    this.#talk = talk
    this.#calls = calls
    this.#tenancy = tenancy
    this.#turn = turn
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
    this.#tenancy.end(hold, reason)
    const next = reason === undefined && !hold.fair ? this.#heirs.next() : undefined
    // Whoever is not waiting just now is about to ask by itself. And nobody is given it twice at once.
    if (!next?.bell.isWaitedFor || this.#handingOver) return this.#free(hold)
    if (this.#turn.isUnbroken) return this.#free(hold, undefined, true)
    const following = this.#turn.over ? null : this.#tenancy.passedOn(hold, next)
    if (following === null) return this.#handOver(hold, next)
    this.#turn.released(0)
    this.#tenancy.left(hold, true)
    this.#heirs.begin(next, following)
    return Promise.resolve(true)
  }

  async #handOver(hold: Hold, next: Waiter): Promise<boolean> {
    // Those here who wait in turn listen with the same subscription, but are others.
    const others = this.#heirs.waitInTurn() ? 1 : 0
    const listening = this.#turn.over ? this.#releases.listeners - others : null
    this.#handingOver = true
    const { grant, sentAt, unknown } = await this.#talk
      .handOver(hold, next, listening)
      .finally(() => {
        this.#handingOver = false
      })
    // Nothing is lost by going on one by one: the release and the acquisition are both safe to
    // repeat, and find out how far the hand-over came.
    if (grant === null) {
      if (next.settled) this.#talk.settleUnheard(next)
      next.bell.ring()
      return this.#free(hold, unknown ? sentAt.monotonic : undefined)
    }
    this.#turn.released(grant.kind === 'yielded' ? grant.others : 0)
    if (grant.kind === 'yielded') this.#turn.letGo()
    const wasHeld = this.#tenancy.left(hold, grant.kind !== 'gone')
    if (wasHeld) this.#calls.ended(hold, sentAt.monotonic)
    if (grant.kind === 'granted') {
      const following = this.#tenancy.granted(next, grant, sentAt)
      if (following !== null) this.#heirs.begin(next, following)
    }
    if (next.settled) this.#talk.settleUnheard(next)
    this.#heirs.lookAgain()
    return wasHeld
  }

  /** @param stayAway whether those who wait here are to leave it to others for a while */
  async #free(hold: Hold, mayBeDoneAt?: number, stayAway = false): Promise<boolean> {
    let following: Following | undefined
    try {
      const freed = await this.#calls.free(hold, mayBeDoneAt)
      this.#turn.released((freed?.listeners ?? 0) - this.#releases.listeners)
      if (stayAway) this.#turn.stayAway()
      else this.#turn.letGo()
      following = freed?.following
      return this.#tenancy.left(hold, freed !== null)
    } finally {
      this.#heirs.lookAgain(following)
    }
  }
}
