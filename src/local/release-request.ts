import type { ReleaseFact } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Released } from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { Reply } from '../servers/reply.ts'
import type { RetryBudget } from '../waiting/retry-budget.ts'
import type { LocalLock } from './local-lock.ts'
import { tellRelease } from './lock-facts.ts'

/**
 * Tells the server the hold count, which was lowered, until it has confirmed that. It is told as it is
 * when sent, so that repeats and others who lower it at the same time agree.
 */
abstract class ReleaseRequest implements Reply<Released> {
  /** Whether the lock was still held; rejects when that was not confirmed. */
  readonly result: Promise<boolean>
  protected readonly lock: LocalLock
  protected readonly hold: Hold
  /** Whether a request that was not answered may have been carried out. */
  protected mayBeDone = false
  readonly #what: string
  readonly #retryBudget: RetryBudget
  #sentAt = 0
  #resolve!: (wasHeld: boolean) => void
  #reject!: (error: Error) => void

  /** @param what did not come about, when it was not confirmed */
  constructor(lock: LocalLock, hold: Hold, what: string) {
    this.lock = lock
    this.hold = hold
    this.#what = what
    this.#retryBudget = lock.newBudget(hold.kind)
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    lock.tasks.begin()
  }

  abstract answered(answer: Released): void

  /** It was not confirmed in the time that its budget allows. */
  protected givenUp(_error: Error): void {}

  failed(failure: CallFailure): void {
    const { lock, hold } = this
    this.mayBeDone ||= failure.kind === 'unknown'
    const pauseMs = this.#retryBudget.failed(failure, this.#sentAt)
    if (pauseMs !== null) {
      lock.services.clock.after(pauseMs, () => this.send())
      return
    }
    if (hold.count <= 0) {
      // Nobody knows what it has until that is settled.
      hold.inDoubtUntil(lock.services.clock.monotonic())
      lock.abandonHold(hold)
    }
    const error = this.#retryBudget.error(this.#what)
    this.givenUp(error)
    this.#reject(error)
    lock.tasks.end()
  }

  protected send(): void {
    const { id, lastToken } = this.hold
    // Also where `close()` had ended it before its holder released it.
    const count = Math.max(0, this.hold.count)
    const { callMs } = this.#retryBudget
    this.#sentAt = this.lock.services.clock.monotonic()
    const ending = { owner: id.wireOwner, holds: count, token: lastToken, callMs }
    this.lock.remoteOf(this.hold).release(ending, this)
  }

  protected settle(wasHeld: boolean): void {
    this.#resolve(wasHeld)
    this.lock.tasks.end()
  }
}

/** The last release of a hold: frees the lock. */
export class FreeRequest extends ReleaseRequest {
  readonly #firstSentAt: number
  readonly #staysAway: boolean
  readonly #fact: ReleaseFact | undefined

  /**
   * @param fact to be told what became of it
   * @param options.mayBeDoneAt when an earlier request was sent that may have freed it, so that "gone" is
   * no loss; one that was never sent, or was refused, has freed nothing
   * @param options.staysAway whether those who wait here are to leave it to others for a while
   */
  constructor(
    lock: LocalLock,
    hold: Hold,
    fact: ReleaseFact | undefined,
    {
      mayBeDoneAt,
      staysAway = false,
    }: { mayBeDoneAt?: number | undefined; staysAway?: boolean } = {},
  ) {
    super(lock, hold, 'its release was not confirmed')
    this.mayBeDone = mayBeDoneAt !== undefined
    this.#firstSentAt = mayBeDoneAt ?? lock.services.clock.monotonic()
    this.#staysAway = staysAway
    this.#fact = fact
    this.send()
  }

  answered(answer: Released): void {
    const { lock, hold } = this
    const { holds, handOverBudget, listeners } = lock
    ended(lock, hold, this.#firstSentAt)
    const freed = answer.kind === 'freed' ? answer : null
    // Whose turn it is with permits is known at their place, and nobody has to step back.
    handOverBudget.released(hold.kind.isCounted ? 0 : (freed?.listeners ?? 0) - listeners)
    if (this.#staysAway) handOverBudget.stayAway()
    else handOverBudget.letGo()
    const wasHeld = holds.left(hold, freed !== null || this.mayBeDone)
    tellRelease(this.#fact, wasHeld ? 'freed' : 'gone')
    lock.lookAgain(freed?.following)
    this.settle(wasHeld)
  }

  protected override givenUp(error: Error): void {
    this.hold.trace?.ended('released')
    tellRelease(this.#fact, 'unknown', error)
    this.lock.lookAgain()
  }
}

/** The release of one acquisition of several. */
export class LowerRequest extends ReleaseRequest {
  constructor(lock: LocalLock, hold: Hold) {
    super(lock, hold, 'one of its acquisitions was not released')
    this.send()
  }

  answered(answer: Released): void {
    const { hold } = this
    if (answer.kind === 'kept') {
      this.settle(true)
      return
    }
    // Where the last release came first it tells what there was to end.
    if (hold.live) hold.loseGone()
    this.settle(hold.loss === undefined)
  }

  protected override send(): void {
    const { hold } = this
    if (hold.live && hold.count > 0) super.send()
    else this.settle(hold.loss === undefined)
  }
}

/**
 * The server has nothing of it any more; unless a request on its way takes it again, which may have
 * come after the one that ended it.
 *
 * @param sentAtMs when the first request was sent that may have ended it, on the monotonic clock
 */
export function ended(lock: LocalLock, hold: Hold, sentAtMs: number): void {
  if (hold.doubtUntilMs > sentAtMs) lock.abandonHold(hold)
}
