import type { Moment } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { ReleaseObservation } from '../lock-observer.ts'
import type { Released } from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { Reply } from '../servers/reply.ts'
import type { RetryBudget } from '../waiting/retry-budget.ts'
import type { StaysAway } from './kept.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * Repeats a release until the server confirms it or the retry budget is used up. Each attempt sends
 * the current hold count, because other releases of the hold may be in flight.
 */
abstract class ReleaseRequest implements Reply<Released> {
  protected readonly lock: LocalLock
  protected readonly hold: Hold
  /** True if an earlier request without an answer may have freed the lock. */
  protected mayBeDone = false
  readonly #what: string
  readonly #retryBudget: RetryBudget
  readonly #result: Promise<boolean>
  #sentAt = 0
  #resolve!: (wasHeld: boolean) => void
  #reject!: (error: Error) => void

  /** @param what the step that the server did not confirm, as words for the error */
  constructor(lock: LocalLock, hold: Hold, what: string) {
    this.lock = lock
    this.hold = hold
    this.#what = what
    this.#retryBudget = lock.newBudget(hold.kind)
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /**
   * Sends the first attempt. Resolves with true if the owner still held the lock. Rejects if the
   * server did not confirm the release.
   */
  start(): Promise<boolean> {
    this.lock.tasks.started()
    this.send()
    return this.#result
  }

  abstract answered(answer: Released): void

  /** Called before the release rejects because the retry budget is used up. Does nothing by default. */
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
      // The server may still have the hold. So the client releases the owner id in the background.
      hold.inDoubtUntil(lock.services.clock.monotonic())
      lock.abandonHold(hold)
    }
    const error = this.#retryBudget.error(this.#what)
    this.givenUp(error)
    this.#reject(error)
    lock.tasks.finished()
  }

  protected send(): void {
    const { id, lastToken } = this.hold
    // The count is negative if `close()` has ended the hold and its owner releases an acquisition later.
    const count = Math.max(0, this.hold.count)
    const { callMs } = this.#retryBudget
    const { lock } = this
    this.#sentAt = lock.services.clock.monotonic()
    const { listens } = lock
    const ending = { owner: id.ownerId, holds: count, token: lastToken, listens, callMs }
    lock.remoteOf(this.hold).lower(ending, this)
  }

  protected finish(wasHeld: boolean): void {
    this.#resolve(wasHeld)
    this.lock.tasks.finished()
  }
}

/** The longest pause of waiters with `briefly`, in milliseconds. */
const BRIEFLY_MS = 10

/** The last release of a hold. The server then ends the hold. */
export class FreeRequest extends ReleaseRequest {
  readonly #firstSentAt: number
  /** When the last attempt was sent. Set only if waiters of this client are in a queue on the server. */
  #releasedAt: Moment | undefined
  readonly #staysAway: StaysAway
  readonly #observation: ReleaseObservation

  /**
   * @param options.mayBeDoneAt when an earlier request was sent that may have freed the lock, on the monotonic clock.
   *   The answer `gone` is then not a loss. Undefined if there is no earlier request.
   * @param options.staysAway says if the waiters of this client pause after the release
   */
  constructor(
    lock: LocalLock,
    hold: Hold,
    observation: ReleaseObservation,
    {
      mayBeDoneAt,
      staysAway = 'never',
    }: { mayBeDoneAt?: number | undefined; staysAway?: StaysAway } = {},
  ) {
    super(lock, hold, 'its release was not confirmed')
    this.mayBeDone = mayBeDoneAt !== undefined
    this.#firstSentAt = mayBeDoneAt ?? lock.services.clock.monotonic()
    this.#staysAway = staysAway
    this.#observation = observation
  }

  answered(answer: Released): void {
    const { lock, hold } = this
    const { holds, handOverBudget } = lock
    abandonIfInDoubt(lock, hold, this.#firstSentAt)
    const freed = answer.kind === 'freed' ? answer : null
    // The server grants permits in the order of the waits. So this client does not pause for other clients.
    handOverBudget.released(hold.kind.isCounted || freed === null ? 0 : freed.others)
    const staysAway = this.#staysAway
    const isForOthers = staysAway === 'forOthers' && freed !== null && freed.others !== 0
    if (staysAway === 'briefly') handOverBudget.stayAway(BRIEFLY_MS)
    else if (isForOthers || staysAway === 'always') handOverBudget.stayAway()
    else handOverBudget.letGo()
    const wasHeld = holds.handleRelease(hold, freed !== null || this.mayBeDone)
    this.#observation.ended(wasHeld ? 'freed' : 'gone')
    // A message wakes the next client that waits for permits, even if it is this client.
    if (hold.kind.isCounted && lock.listensForReleases) lock.advance()
    else lock.checkAgain(freed?.following, this.#releasedAt)
    this.finish(wasHeld)
  }

  protected override send(): void {
    const { queuedWaiters, services } = this.lock
    this.#releasedAt = queuedWaiters?.isEmpty === false ? services.clock.now() : undefined
    super.send()
  }

  protected override givenUp(error: Error): void {
    this.hold.observation.ended('released')
    this.#observation.ended('unknown', error)
    this.lock.checkAgain()
  }
}

/** Releases one of several acquisitions of a hold. The owner keeps the lock. */
export class LowerRequest extends ReleaseRequest {
  constructor(lock: LocalLock, hold: Hold) {
    super(lock, hold, 'one of its acquisitions was not released')
  }

  answered(answer: Released): void {
    const { hold } = this
    if (answer.kind === 'kept') {
      this.finish(true)
      return
    }
    // The last release of the hold may have been answered first, and has then reported the loss.
    if (hold.live) hold.loseGone()
    this.finish(hold.loss === undefined)
  }

  protected override send(): void {
    const { hold } = this
    if (hold.live && hold.count > 0) super.send()
    else this.finish(hold.loss === undefined)
  }
}

/**
 * Called when the server no longer has the hold. Releases the owner id in the background if a late request with this id
 * may acquire the lock again.
 *
 * @param sentAtMs when the first request was sent that may have ended the hold, on the monotonic clock
 */
export function abandonIfInDoubt(lock: LocalLock, hold: Hold, sentAtMs: number): void {
  if (hold.doubtUntilMs > sentAtMs) lock.abandonHold(hold)
}
